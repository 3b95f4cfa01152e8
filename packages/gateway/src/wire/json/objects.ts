import { hasAmbiguousKeys, readMembers, readString, valueText, type Members } from './members.ts';

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

/** The objects below the top level whose keys the relay reads; deeper bytes are never touched. */
const ALSO_READ: Readonly<Record<string, readonly string[]>> = { '': ['params'], params: ['_meta', 'ref'] };

/** The same message with every key the relay reads spelled plainly and once; of equal keys the last wins, as in a parser. */
export function unambiguousMessage(top: Members): Buffer {
  return rewrite(top, ALSO_READ['']);
}

/** The same object with each key once; its values keep their bytes. */
export function unambiguousObject(members: Members): Buffer {
  return rewrite(members, undefined);
}

function rewrite(members: Members, alsoRead: readonly string[] | undefined): Buffer {
  const parts: Buffer[] = [];
  for (const [key, value] of lastValues(members)) {
    const inner = alsoRead?.includes(key) ? readMembers(value, 0) : undefined;
    parts.push(Buffer.from(`${parts.length === 0 ? '' : ','}${JSON.stringify(key)}:`));
    parts.push(inner === undefined ? value : rewrite(inner, ALSO_READ[key]));
  }
  return Buffer.concat([Buffer.from('{'), ...parts, Buffer.from('}')]);
}

function lastValues({ bytes, flat }: Members): Map<string, Buffer> {
  const values = new Map<string, Buffer>();
  for (let m = 0; m < flat.length; m += 4) {
    const key = readString(bytes, (flat[m] as number) - 1, (flat[m + 1] as number) + 1);
    if (key !== undefined) values.set(key, bytes.subarray(flat[m + 2], flat[m + 3]));
  }
  return values;
}
