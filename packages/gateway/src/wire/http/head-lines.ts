import { InvalidHttp } from './invalid-http.ts';

const RETURN = 0x0d;
const NEWLINE = 0x0a;
const TAB = 0x09;
const SPACE = 0x20;
const COLON = 0x3a;
const DELETE = 0x7f;

/** Headers of one message, by names in lower case. */
export type HttpHeaders = ReadonlyMap<string, string>;

/** Returns the value of a header that a message has twice, or throws. */
type Repeat = (name: string, first: string, next: string) => string;

/** Reads the header lines of a head from a position on. The text has no empty line at its end. */
export function readHeaders(text: string, from: number, repeat: Repeat): HttpHeaders {
  const headers = new Map<string, string>();
  for (let at = from; at < text.length;) at = addHeader(headers, text, at, repeat) + 2;
  return headers;
}

/** Adds the header that begins at a position. Returns the end of its line. */
function addHeader(headers: Map<string, string>, text: string, at: number, repeat: Repeat): number {
  let colon = at;
  while (isNameCharacter(text.charCodeAt(colon))) colon++;
  if (colon === at || text.charCodeAt(colon) !== COLON)
    throw new InvalidHttp('one of its headers has no valid name');
  const end = endOfLine(text, colon);
  const name = text.slice(at, colon).toLowerCase();
  const value = valueBetween(text, colon + 1, end);
  const first = headers.get(name);
  headers.set(name, first === undefined ? value : repeat(name, first, value));
  return end;
}

/** Finds the end of a line. Refuses control characters but tabs, because a log would show them as lines of its own. */
export function endOfLine(text: string, from: number): number {
  for (let at = from; at < text.length; at++) {
    const character = text.charCodeAt(at);
    if (isText(character)) continue;
    if (character === RETURN && text.charCodeAt(at + 1) === NEWLINE) return at;
    throw new InvalidHttp('its headers hold control characters');
  }
  return text.length;
}

/** Returns whether a value can be written into a header. */
export function isHeaderValue(value: string): boolean {
  for (let at = 0; at < value.length; at++)
    if (!isText(value.charCodeAt(at)) || value.charCodeAt(at) > 0xff) return false;
  return true;
}

/** Returns whether a character may stand in a header's value. */
export function isText(character: number): boolean {
  return (character >= SPACE && character !== DELETE) || character === TAB;
}

/** Leaves out spaces and tabs at both ends, and no other white space: a proxy may see another value in it. */
function valueBetween(text: string, from: number, to: number): string {
  let start = from;
  let end = to;
  while (start < end && isBlank(text.charCodeAt(start))) start++;
  while (end > start && isBlank(text.charCodeAt(end - 1))) end--;
  return text.slice(start, end);
}

function isBlank(character: number): boolean {
  return character === SPACE || character === TAB;
}

/** Returns whether a character may stand in a header's name. */
export function isNameCharacter(character: number): boolean {
  return IS_NAME[character] === 1;
}

/** 1 for the characters of a header's name: a look-up here takes a tenth of one in a Set. */
const IS_NAME: Uint8Array = new Uint8Array(256);
for (const character of Buffer.from(
  "!#$%&'*+-.^_`|~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz",
))
  IS_NAME[character] = 1;
