import { hasAmbiguousKeys, readMembers, valueText, type Members } from './members.ts';
import { unambiguousObject } from './unambiguous.ts';

/** The members of an object, each once and plainly spelled: what a parser would take them for. */
export function readObject(bytes: Buffer, at: number): Members | undefined {
  const members = readMembers(bytes, at);
  return members !== undefined && hasAmbiguousKeys(members)
    ? readMembers(unambiguousObject(members), 0)
    : members;
}

/** The same for a text, one character a byte. */
export function objectOf(text: string | undefined): Members | undefined {
  return text === undefined ? undefined : readObject(Buffer.from(text, 'latin1'), 0);
}

/** The same for a member that is an object. */
export function objectIn(members: Members, key: string): Members | undefined {
  return objectOf(valueText(members, key));
}

/** The texts of the members of a plain object, by the text of their keys (quotes included). */
export function entriesOf({ bytes, flat }: Members): [key: string, value: string][] {
  const entries: [string, string][] = [];
  for (let m = 0; m < flat.length; m += 4) {
    const key = bytes.toString('latin1', (flat[m] as number) - 1, (flat[m + 1] as number) + 1);
    entries.push([key, bytes.toString('latin1', flat[m + 2], flat[m + 3])]);
  }
  return entries;
}
