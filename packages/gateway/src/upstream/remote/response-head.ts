import { InvalidResponse } from './http-errors.ts';

/** The status line and the headers of a response. */
export interface ResponseHead {
  readonly status: number;
  /** By names in lower case. */
  readonly headers: ReadonlyMap<string, string>;
  /** True where the server speaks HTTP/1.0, in which a connection ends with its response. */
  readonly isOld: boolean;
}

const RETURN = 0x0d;
const NEWLINE = 0x0a;
const TAB = 0x09;
const SPACE = 0x20;
/** Headers of which only the first counts; others of one name are a list. */
const SINGLE: ReadonlySet<string> = new Set(['content-type', 'content-length', 'location']);

/** The first bytes of every response. */
export const PROTOCOL = 'HTTP/1.';
export const NO_STATUS = 'it does not begin with a status line';

/** Reads the head of a response, without the empty line behind it. */
export function readHead(text: string): ResponseHead {
  const statusEnd = endOfLine(text, 0);
  const status = Number(text.slice(9, 12));
  const isOld = text.startsWith('0 ', PROTOCOL.length);
  const isStatusLine =
    text.startsWith(PROTOCOL) &&
    (isOld || text.startsWith('1 ', PROTOCOL.length)) &&
    status >= 100 &&
    (statusEnd === 12 || text.charCodeAt(12) === SPACE);
  if (!isStatusLine) throw new InvalidResponse(NO_STATUS);
  if (!isText(text)) throw new InvalidResponse('its headers hold control characters');
  const headers = new Map<string, string>();
  for (let at = statusEnd + 2; at < text.length; at = endOfLine(text, at) + 2) addHeader(headers, text, at);
  return { status, headers, isOld };
}

function addHeader(headers: Map<string, string>, text: string, at: number): void {
  const end = endOfLine(text, at);
  const colon = text.indexOf(':', at);
  if (colon <= at || colon > end || !isToken(text, at, colon))
    throw new InvalidResponse('one of its headers has no valid name');
  const name = text.slice(at, colon).toLowerCase();
  const value = text.slice(colon + 1, end).trim();
  const before = headers.get(name);
  if (before === undefined) headers.set(name, value);
  else if (!SINGLE.has(name)) headers.set(name, `${before}, ${value}`);
  else if (name === 'content-length') throw new InvalidResponse('it has two lengths');
}

function endOfLine(text: string, from: number): number {
  const end = text.indexOf('\r\n', from);
  return end < 0 ? text.length : end;
}

/** The characters of a name. */
const TOKEN_CHARACTERS: ReadonlySet<number> = new Set(
  Buffer.from("!#$%&'*+-.^_`|~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"),
);

function isToken(text: string, from: number, to: number): boolean {
  for (let at = from; at < to; at++) if (!TOKEN_CHARACTERS.has(text.charCodeAt(at))) return false;
  return true;
}

/** Returns true where the only control characters are tabs and ends of lines: what is told on must not forge a line. */
function isText(text: string): boolean {
  for (let at = 0; at < text.length; at++) {
    const character = text.charCodeAt(at);
    if (character >= SPACE || character === TAB) continue;
    if (character !== RETURN || text.charCodeAt(++at) !== NEWLINE) return false;
  }
  return true;
}
