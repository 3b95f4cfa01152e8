import { findMember, stringValue, type Members } from '../wire/json/members.ts';
import { objectIn, objectOf } from '../wire/json/objects.ts';
import { Method, QUESTION_CAPABILITIES, capabilityFor } from './methods.ts';

/** Everything that a server can ask a client; declared to servers that several clients share. */
export const ALL_CAPABILITIES =
  '{"elicitation":{"form":{},"url":{}},"sampling":{"tools":{}},"roots":{"listChanged":true}}';

/** Returns true where a client with these capabilities, a JSON text, can be asked anything. */
export function canBeAsked(capabilities: string): boolean {
  const declared = objectOf(capabilities);
  return declared !== undefined && QUESTION_CAPABILITIES.some((key) => findMember(declared, key) >= 0);
}

/** The capability for want of which a client cannot be asked; both arguments besides the method are JSON texts. */
export function missingCapability(method: string, params: string, capabilities: string): string | undefined {
  const needed = capabilityFor(method);
  if (needed === undefined) return undefined;
  const declared = objectOf(capabilities);
  const capability = declared && objectIn(declared, needed);
  if (capability === undefined) return needed;
  const part = partFor(method, objectOf(params));
  return part === undefined || hasPart(capability, part) ? undefined : `${needed}.${part}`;
}

/** The part of a capability that a question needs. */
function partFor(method: string, params: Members | undefined): string | undefined {
  if (method === Method.ELICIT)
    return params !== undefined && stringValue(params, 'mode') === 'url' ? 'url' : 'form';
  const usesTools =
    params !== undefined && ['tools', 'toolChoice'].some((key) => findMember(params, key) >= 0);
  return method === Method.SAMPLE && usesTools ? 'tools' : undefined;
}

/** An elicitation capability without parts means forms. */
function hasPart(capability: Members, part: string): boolean {
  if (findMember(capability, part) >= 0) return true;
  return part === 'form' && findMember(capability, 'url') < 0;
}
