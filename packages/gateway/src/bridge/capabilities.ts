import { objectValue, readMembers, stringValue, type Members } from '../wire/members.ts';

/** What a client must be able to do to be asked something. */
const NEEDED: Readonly<Record<string, string>> = {
  'elicitation/create': 'elicitation',
  'sampling/createMessage': 'sampling',
  'roots/list': 'roots',
};

/** All that a server can ask of a client; what a server is told that several clients share. */
export const EVERYTHING = '{"elicitation":{"form":{},"url":{}},"sampling":{},"roots":{"listChanged":true}}';

/** The capability for want of which a client cannot be asked; both arguments besides the method are JSON texts. */
export function lackingFor(method: string, params: string, capabilities: string): string | undefined {
  const needed = NEEDED[method];
  if (needed === undefined) return undefined;
  const declared = membersOf(capabilities);
  const capability = declared && objectValue(declared, needed);
  if (capability === undefined) return needed;
  const asked = membersOf(params);
  const isUrl = asked !== undefined && stringValue(asked, 'mode') === 'url';
  return isUrl && objectValue(capability, 'url') === undefined ? `${needed}.url` : undefined;
}

function membersOf(text: string): Members | undefined {
  return readMembers(Buffer.from(text, 'latin1'), 0);
}
