import { sortedJson } from '../wire/json/canonical-json.ts';
import type { Members } from '../wire/json/members.ts';
import { entriesOf } from '../wire/json/objects.ts';
import type { Message } from '../wire/message.ts';

/** The members that may differ from try to try. */
const OF_ONE_TRY: ReadonlySet<string> = new Set(['"_meta"', '"inputResponses"', '"requestState"']);

/** A string or a number; both patterns step over what they match without trying it another way. */
const SCALAR = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d[\d.eE+-]*/g;

/** Loaded when it is first needed: most gateways never are asked anything. */
const crypto = () => process.getBuiltinModule('node:crypto');

/** Hashes the method and the params of a request, regardless of key order and without the members that differ between attempts. */
export function fingerprint({ method, params }: Message): string {
  const asked = JSON.stringify([method, params === undefined ? '' : askedFor(params)]);
  return crypto().createHash('sha256').update(asked).digest('base64url');
}

function askedFor(params: Members): string {
  const members = entriesOf(params).filter(([key]) => !OF_ONE_TRY.has(key));
  const text = `{${members.map(([key, value]) => `${key}:${value}`).join(',')}}`;
  try {
    return sortedJson(JSON.parse(text.replace(SCALAR, spelledOut)));
  } catch {
    // Nested too deep to be put in order.
    return text;
  }
}

/**
 * Numbers count as they are written: a parser takes 12345678901234567890 and its neighbours for one.
 * Keys, too, become words that no parser takes for others, and no object treats in a way of its own.
 */
function spelledOut(scalar: string): string {
  if (!scalar.startsWith('"')) return `"#${scalar}"`;
  return `"$${Buffer.from(JSON.parse(scalar) as string, 'utf16le').toString('base64')}"`;
}
