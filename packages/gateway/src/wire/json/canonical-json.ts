import { readElements, readMembers, readString } from './members.ts';

const OPEN_BRACE = 0x7b;
const OPEN_BRACKET = 0x5b;
const QUOTE = 0x22;
/** Deeper than any definition; what is deeper keeps its bytes. */
const DEEPEST = 200;

/**
 * The one way to write what a JSON text on one line says: keys sorted, no space, strings as `JSON.stringify` has them.
 * Numbers keep their digits: they may be larger or finer than a parser's.
 */
export function canonicalJson(
  bytes: Buffer,
  at: number = 0,
  end: number = bytes.length,
  depth: number = 0,
): string {
  if (depth < DEEPEST && bytes[at] === OPEN_BRACE) return canonicalObject(bytes, at, depth);
  if (depth < DEEPEST && bytes[at] === OPEN_BRACKET) return canonicalArray(bytes, at, depth);
  if (bytes[at] === QUOTE) return JSON.stringify(readString(bytes, at, end) ?? '');
  return bytes.toString('utf8', at, end);
}

function canonicalObject(bytes: Buffer, at: number, depth: number): string {
  const { flat } = readMembers(bytes, at) ?? { flat: [] };
  const values = new Map<string, string>();
  for (let m = 0; m < flat.length; m += 4) {
    const key = readString(bytes, (flat[m] as number) - 1, (flat[m + 1] as number) + 1) ?? '';
    // Of equal keys the last counts, as in a parser.
    values.set(key, canonicalJson(bytes, flat[m + 2], flat[m + 3], depth + 1));
  }
  const sorted = [...values].sort(([one], [other]) => (one < other ? -1 : 1));
  return `{${sorted.map(([key, value]) => `${JSON.stringify(key)}:${value}`).join(',')}}`;
}

function canonicalArray(bytes: Buffer, at: number, depth: number): string {
  const spans = readElements(bytes, at) ?? [];
  const elements: string[] = [];
  for (let s = 0; s < spans.length; s += 2)
    elements.push(canonicalJson(bytes, spans[s], spans[s + 1], depth + 1));
  return `[${elements.join(',')}]`;
}

/**
 * Returns a parsed value as JSON with sorted keys. Writes at once instead of sorting copies, because every start does so for
 * each server. Throws where the value is nested too deep for the stack.
 */
export function sortedJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(sortedJson).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  const record = value as Readonly<Record<string, unknown>>;
  let text = '';
  for (const key of Object.keys(record).sort()) {
    if (record[key] === undefined) continue;
    text += `${text === '' ? '' : ','}${JSON.stringify(key)}:${sortedJson(record[key])}`;
  }
  return `{${text}}`;
}
