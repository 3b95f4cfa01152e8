// A validating scan over the bytes of one JSON text. The scan finds the positions of values and builds nothing.
// A text is valid here where a parser accepts it and its nesting is within a limit. Once all strings are known to be
// valid, a native search jumps to the end of a long one.
import { hasValidStrings, skipEscape } from './valid-strings.ts';

const TAB = 0x09;
const NEWLINE = 0x0a;
const RETURN = 0x0d;
const SPACE = 0x20;
const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_BRACKET = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

/** Bytes of a string that are walked one by one before the native search takes over. */
const NATIVE_SEARCH_AFTER = 48;

/**
 * The same in a longer text (a list, a big result). Reading lists at the start must not trigger the optimising compiler,
 * which takes more memory than the definitions of all servers.
 */
const LONG_TEXT = 4096;
export const NATIVE_SEARCH_SOON = 8;

/** No native search: strings that may be invalid are walked to their end. A small integer, which V8 compares fastest. */
export const WHOLE = 0x3fff_ffff;

/** Texts up to this many bytes are walked, because proving their strings valid first costs more. */
const SHORT_TEXT = 1024;

/** Deeper nesting is refused, because it overflows the stack of recursive parsers. */
export const DEEPEST = 10_000;

/** Closing brackets of the open containers; scratch space, used only within one call of `walkValue`. */
const closers = new Uint8Array(DEEPEST);

/** Returns the index after the value that begins at `at` in a text known to be JSON, -1 where no value begins there. */
export function skipValue(bytes: Buffer, at: number): number {
  return walkValue(bytes, at, knownWalkLimit(bytes));
}

/** Returns the index after the value that begins at `at` in a text of which nothing is known, -1 where there is none. */
export function validateValue(bytes: Buffer, at: number): number {
  return walkValue(bytes, at, walkLimitOf(bytes));
}

/** Returns how far strings of this UTF-8 text are walked byte by byte when its values are judged for the first time. */
export function walkLimitOf(bytes: Buffer): number {
  return bytes.length > SHORT_TEXT && hasValidStrings(bytes) ? knownWalkLimit(bytes) : WHOLE;
}

/** Returns how far strings are walked byte by byte in a text known to be JSON. */
export function knownWalkLimit(bytes: Buffer): number {
  return bytes.length > LONG_TEXT ? NATIVE_SEARCH_SOON : NATIVE_SEARCH_AFTER;
}

/** State of reading a large text in parts: what earlier parts found, and the bytes left for this part. */
export interface ScanBudget {
  /** Ends of the values that were walked and are not short, by their beginning; -1 for invalid ones. */
  readonly ends: Map<number, number>;
  left: number;
  /** The value in which the last part ended. */
  paused:
    | { readonly at: number; readonly i: number; readonly depth: number; readonly closers: Uint8Array }
    | undefined;
}

/** Values up to this size are walked again in each part. */
const SHORT = 256;

/** Thrown where a part ends; `inPart` catches it. */
const PAUSED: Error = new Error('The part has ended');

let budget: ScanBudget | undefined;

/** Reads a text within a budget. Returns undefined where the budget ran out; the next part continues there. */
export function withinBudget<T>(of: ScanBudget, read: () => T): T | undefined {
  budget = of;
  try {
    return read();
  } catch (error) {
    if (error !== PAUSED) throw error;
    return undefined;
  } finally {
    budget = undefined;
  }
}

/** Returns the index after the value that begins at `at`, -1 where the bytes are not JSON. */
export function walkValue(bytes: Buffer, at: number, walk: number): number {
  if (budget !== undefined) return walkPart(bytes, at, walk, budget);
  return walkOn(bytes, at, 0, walk, WHOLE);
}

/** Walks on where the last part has ended, or answers from what earlier parts have found. */
function walkPart(bytes: Buffer, at: number, walk: number, part: ScanBudget): number {
  const known = part.ends.get(at);
  if (known !== undefined) return known;
  const paused = part.paused?.at === at ? part.paused : undefined;
  if (paused !== undefined) closers.set(paused.closers);
  const from = paused?.i ?? at;
  const end = walkOn(bytes, from, paused?.depth ?? 0, walk, from + part.left);
  if (end === STOPPED) {
    part.paused = { at, i: stoppedAt, depth: stoppedDepth, closers: closers.slice(0, stoppedDepth) };
    throw PAUSED;
  }
  note(part, at, end, from);
  return end;
}

/** Notes what was walked; short things are walked again and not counted, so that each part gets further than the last. */
function note(part: ScanBudget, at: number, end: number, from: number = at): void {
  if (end >= 0 && end - at <= SHORT) return;
  part.ends.set(at, end);
  if (end >= 0) part.left -= end - from;
}

const STOPPED = -2;
let stoppedAt = 0;
let stoppedDepth = 0;

/** Walks from the value at `start`, so deep in the one whose end is wanted. Stops before a value that begins after `stop`. */
function walkOn(bytes: Buffer, start: number, startDepth: number, walk: number, stop: number): number {
  let depth = startDepth;
  let i = start;
  for (;;) {
    if (i > stop) {
      stoppedAt = i;
      stoppedDepth = depth;
      return STOPPED;
    }
    const first = bytes[i];
    if (first === OPEN_BRACE || first === OPEN_BRACKET) {
      const closer = first === OPEN_BRACE ? CLOSE_BRACE : CLOSE_BRACKET;
      if ((bytes[++i] as number) <= SPACE) i = skipSpace(bytes, i);
      if (bytes[i] !== closer) {
        if (depth === DEEPEST) return -1;
        closers[depth++] = closer;
        if (closer === CLOSE_BRACE && (i = walkKey(bytes, i, walk)) < 0) return -1;
        continue;
      }
      i++;
    } else {
      i = first === QUOTE ? skipString(bytes, i, walk) : skipLiteral(bytes, i);
      if (i < 0) return -1;
    }
    // A value has ended: close what ends with it, or go on to its next sibling.
    for (;;) {
      if (depth === 0) return i;
      const closer = closers[depth - 1];
      if ((bytes[i] as number) <= SPACE) i = skipSpace(bytes, i);
      const next = bytes[i];
      if (next === closer) {
        depth--;
        i++;
        continue;
      }
      if (next !== COMMA) return -1;
      if ((bytes[++i] as number) <= SPACE) i = skipSpace(bytes, i);
      if (closer === CLOSE_BRACE && (i = walkKey(bytes, i, walk)) < 0) return -1;
      break;
    }
  }
}

/** Returns the index after the value at `at` by its quotes, brackets and commas alone, -1 where it does not end. */
export function skipUnvalidated(bytes: Buffer, at: number): number {
  let depth = 0;
  for (let i = at; i < bytes.length; i++) {
    const byte = bytes[i];
    if (byte === QUOTE) i = closingQuote(bytes, i + 1);
    else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) depth++;
    else if (depth === 0 && (byte === COMMA || byte === CLOSE_BRACKET)) return i;
    else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) depth--;
  }
  return -1;
}

/** Returns true where a refused text is nested too deeply. */
export function isTooDeep(bytes: Buffer): boolean {
  let depth = 0;
  for (let i = 0; i < bytes.length; i++) {
    const byte = bytes[i];
    if (byte === QUOTE) i = closingQuote(bytes, i + 1);
    else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) depth++;
    else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) depth--;
    if (depth > DEEPEST) return true;
  }
  return false;
}

export function skipSpace(bytes: Buffer, at: number): number {
  let i = at;
  while (bytes[i] === SPACE || bytes[i] === TAB) i++;
  return i;
}

/** The same text with spaces for its line breaks; those inside a string are left to be refused. */
export function onOneLine(bytes: Buffer): Buffer {
  if (!bytes.includes(RETURN) && !bytes.includes(NEWLINE)) return bytes;
  const line = Buffer.from(bytes);
  for (let i = 0; i < line.length; i++) {
    if (line[i] === QUOTE) i = closingQuote(line, i + 1);
    else if (line[i] === RETURN || line[i] === NEWLINE) line[i] = SPACE;
  }
  return line;
}

/** Returns the index of a string's closing quote, or the end of the bytes; one more where that cuts an escape in two. */
export function closingQuote(bytes: Buffer, from: number): number {
  const { length } = bytes;
  let i = from;
  for (let byte = bytes[i]; i < length && byte !== QUOTE; byte = bytes[i]) i += byte === BACKSLASH ? 2 : 1;
  return i;
}

/** Returns the index of the value whose key begins at `at`, or -1. */
export function skipKey(bytes: Buffer, at: number, walk: number): number {
  if (budget === undefined) return walkKey(bytes, at, walk);
  const known = budget.ends.get(at);
  if (known !== undefined) return known;
  const value = walkKey(bytes, at, walk);
  note(budget, at, value);
  return value;
}

function walkKey(bytes: Buffer, at: number, walk: number): number {
  if (bytes[at] !== QUOTE) return -1;
  let i = skipString(bytes, at, walk);
  if ((bytes[i] as number) <= SPACE) i = skipSpace(bytes, i);
  // A string without an end gives -1, and no colon stands at that index.
  if (bytes[i] !== COLON) return -1;
  return (bytes[++i] as number) <= SPACE ? skipSpace(bytes, i) : i;
}

/** Returns the index of a key's closing quote: only white space and a colon are between it and the value. */
export function keyEnd(bytes: Buffer, key: number, value: number): number {
  let i = value - 1;
  while (i > key && bytes[i] !== QUOTE) i--;
  return i;
}

function skipString(bytes: Buffer, at: number, walk: number): number {
  let i = at + 1;
  for (;;) {
    const stop = Math.min(i + walk, bytes.length);
    while (i < stop) {
      const byte = bytes[i] as number;
      if (byte === QUOTE) return i + 1;
      if (byte < SPACE) return -1;
      if (byte !== BACKSLASH) i++;
      else if ((i = skipEscape(bytes, i)) < 0) return -1;
    }
    if (i >= bytes.length) return -1;
    if (walk === WHOLE) continue;
    const quote = bytes.indexOf(QUOTE, i);
    if (quote < 0) return -1;
    if (!isEscaped(bytes, i, quote)) return quote + 1;
    // One escaped quote is seldom alone, and a search for each costs more than walking.
    i = quote + 1;
  }
}

/** True where an odd number of backslashes stands before the quote. */
function isEscaped(bytes: Buffer, from: number, quote: number): boolean {
  let i = quote;
  while (i > from && bytes[i - 1] === BACKSLASH) i--;
  return (quote - i) % 2 === 1;
}

function skipLiteral(bytes: Buffer, at: number): number {
  switch (bytes[at]) {
    case 0x74:
      return skipWord(bytes, at, 'true');
    case 0x66:
      return skipWord(bytes, at, 'false');
    case 0x6e:
      return skipWord(bytes, at, 'null');
    default:
      return skipNumber(bytes, at);
  }
}

function skipWord(bytes: Buffer, at: number, word: string): number {
  for (let k = 0; k < word.length; k++) if (bytes[at + k] !== word.charCodeAt(k)) return -1;
  return at + word.length;
}

function skipNumber(bytes: Buffer, at: number): number {
  let i = bytes[at] === 0x2d ? at + 1 : at;
  const whole = i;
  i = skipDigits(bytes, i);
  // No digit at all, or a leading zero that more digits follow.
  if (i === whole || (bytes[whole] === 0x30 && i > whole + 1)) return -1;
  if (bytes[i] === 0x2e) {
    const fraction = i + 1;
    i = skipDigits(bytes, fraction);
    if (i === fraction) return -1;
  }
  if (bytes[i] === 0x65 || bytes[i] === 0x45) {
    const exponent = bytes[i + 1] === 0x2b || bytes[i + 1] === 0x2d ? i + 2 : i + 1;
    i = skipDigits(bytes, exponent);
    if (i === exponent) return -1;
  }
  return i;
}

function skipDigits(bytes: Buffer, at: number): number {
  let i = at;
  while (isDigit(bytes[i])) i++;
  return i;
}

function isDigit(byte: number | undefined): boolean {
  return byte !== undefined && byte >= 0x30 && byte <= 0x39;
}
