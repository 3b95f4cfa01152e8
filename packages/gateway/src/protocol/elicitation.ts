import { findMember, stringValue, type Members } from '../wire/json/members.ts';
import { objectOf } from '../wire/json/objects.ts';
import { changeMembers, lineBytes, splice } from '../wire/json/splice.ts';
import { Method } from './methods.ts';

/** The legacy era gives every visit to a URL an id; the modern era has none. */
const ELICITATION_ID = 'elicitationId';

/** The params of a server's question, as a modern client understands them. */
export function modernQuestion(method: string, params: string): string {
  const visit = urlModeParams(method, params);
  return visit === undefined || findMember(visit, ELICITATION_ID) < 0
    ? params
    : changed(visit, [ELICITATION_ID], '');
}

/** The other direction: as a legacy client does. */
export function legacyQuestion(method: string, params: string): string {
  const visit = urlModeParams(method, params);
  if (visit === undefined || findMember(visit, ELICITATION_ID) >= 0) return params;
  // Not imported: most gateways start and end without it.
  const { randomUUID } = process.getBuiltinModule('node:crypto');
  return changed(visit, [], `"${ELICITATION_ID}":"${randomUUID()}"`);
}

function urlModeParams(method: string, params: string): Members | undefined {
  if (method !== Method.ELICIT) return undefined;
  const members = objectOf(params);
  return members !== undefined && stringValue(members, 'mode') === 'url' ? members : undefined;
}

function changed(members: Members, remove: readonly string[], add: string): string {
  return lineBytes(splice(members.bytes, changeMembers(members, remove, add)))
    .toString('latin1')
    .trimEnd();
}
