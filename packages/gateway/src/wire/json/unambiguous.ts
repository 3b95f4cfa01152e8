import { readMembers, readString, type Members } from './members.ts';

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
