// The parts of a scanned text: objects as lists of positions, and what stands there.
import { isAscii } from 'node:buffer';
import { textAt } from './latin1.ts';
import { keyEnd, knownWalkLimit, skipKey, skipSpace, skipValue, walkValue } from './scan.ts';

const SPACE = 0x20;
const QUOTE = 0x22;
const COMMA = 0x2c;
const OPEN_BRACKET = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

/** Bytes from which on native code searches a text: it takes 0.2 ms for 3 MB, a loop here 4 ms. */
const LONG_TEXT = 256;

/** Bytes of an escape such as \u001b. */
const LONGEST_ESCAPE = 6;

/** Far more than any object has that the relay reads; the positions of millions would take more memory than the text. */
export const MOST_MEMBERS = 10_000;

/** The members of one object, as positions of their keys (without quotes) and values. */
export interface Members {
  readonly bytes: Buffer;
  /** Index of the opening brace. */
  readonly at: number;
  /** The index after the closing brace. */
  readonly end: number;
  /** Four numbers a member: key start, key end, value start, value end. */
  readonly flat: readonly number[];
}

/** Finds the end of a member's value: by skipping it, or by reading it on the way. */
export type ReadValue = (bytes: Buffer, value: number, key: number, keyEnds: number) => number;

/**
 * The members of the object at `at`, or undefined where there is no well-formed object, or one with far too many.
 * `walk` is how far strings are walked byte by byte; the text is known to be JSON where it is left out.
 */
export function readMembers(
  bytes: Buffer,
  at: number,
  readValue?: ReadValue,
  walk: number = knownWalkLimit(bytes),
): Members | undefined {
  if (bytes[at] !== OPEN_BRACE) return undefined;
  const flat: number[] = [];
  let i = skipSpace(bytes, at + 1);
  if (bytes[i] === CLOSE_BRACE) return { bytes, at, end: i + 1, flat };
  for (;;) {
    const key = i + 1;
    const value = skipKey(bytes, i, walk);
    if (value < 0) return undefined;
    const keyEnds = keyEnd(bytes, key, value);
    const end =
      readValue === undefined ? walkValue(bytes, value, walk) : readValue(bytes, value, key, keyEnds);
    if (end < 0) return undefined;
    if (flat.push(key, keyEnds, value, end) > 4 * MOST_MEMBERS) return undefined;
    i = (bytes[end] as number) <= SPACE ? skipSpace(bytes, end) : end;
    if (bytes[i] === CLOSE_BRACE) return { bytes, at, end: i + 1, flat };
    if (bytes[i] !== COMMA) return undefined;
    if ((bytes[++i] as number) <= SPACE) i = skipSpace(bytes, i);
  }
}

/** Returns the index in `flat` of the member called `key`, or -1; of several the last, as a parser does. */
export function findMember({ bytes, flat }: Members, key: string): number {
  for (let m = flat.length - 4; m >= 0; m -= 4) {
    if (keyIs(bytes, flat[m] as number, flat[m + 1] as number, key)) return m;
  }
  return -1;
}

/** The JSON text of a member's value, one character a byte; undefined where there is no such member. */
export function valueText(members: Members, key: string): string | undefined {
  const m = findMember(members, key);
  return m < 0
    ? undefined
    : textAt(members.bytes, members.flat[m + 2] as number, members.flat[m + 3] as number);
}

/** The text of a member that is a string. */
export function stringValue(members: Members, key: string): string | undefined {
  const m = findMember(members, key);
  return m < 0
    ? undefined
    : readString(members.bytes, members.flat[m + 2] as number, members.flat[m + 3] as number);
}

/** Returns the beginning of a member that is a string: at most `most` bytes of it are read, whatever its length. */
export function stringStart(members: Members, key: string, most: number): string | undefined {
  const m = findMember(members, key);
  return m < 0
    ? undefined
    : readStart(members.bytes, members.flat[m + 2] as number, members.flat[m + 3] as number, most);
}

/** The members of a member that is an object. */
export function objectValue(members: Members, key: string): Members | undefined {
  const m = findMember(members, key);
  return m < 0 ? undefined : readMembers(members.bytes, members.flat[m + 2] as number);
}

/** True where a key is escaped or written twice, so that bytes and parser might disagree on what it means. */
export function hasAmbiguousKeys({ bytes, flat }: Members): boolean {
  const seen = flat.length > 4 * 8 ? new Set<string>() : undefined;
  for (let m = 0; m < flat.length; m += 4) {
    const start = flat[m] as number;
    const end = flat[m + 1] as number;
    if (hasEscape(bytes, start, end)) return true;
    if (seen === undefined) {
      for (let n = 0; n < m; n += 4) {
        if (sameBytes(bytes, start, end, flat[n] as number, flat[n + 1] as number)) return true;
      }
    } else {
      const key = bytes.toString('latin1', start, end);
      if (seen.has(key)) return true;
      seen.add(key);
    }
  }
  return false;
}

/** The text of the JSON string whose quotes stand at `start` and `end - 1`. */
export function readString(bytes: Buffer, start: number, end: number): string | undefined {
  if (bytes[start] !== QUOTE) return undefined;
  return isPlain(bytes, start + 1, end - 1)
    ? textAt(bytes, start + 1, end - 1)
    : parseString(bytes.toString('utf8', start, end));
}

/** Returns true for ASCII without escapes. */
function isPlain(bytes: Buffer, start: number, end: number): boolean {
  if (end - start > LONG_TEXT) {
    const text = bytes.subarray(start, end);
    return isAscii(text) && !text.includes(BACKSLASH);
  }
  for (let i = start; i < end; i++) {
    const byte = bytes[i] as number;
    if (byte === BACKSLASH || byte > 0x7f) return false;
  }
  return true;
}

/** Returns the text of the first `most` bytes of the JSON string at `start`; all of it where it has no more. */
export function readStart(bytes: Buffer, start: number, end: number, most: number): string | undefined {
  if (end - start <= most) return readString(bytes, start, end);
  if (bytes[start] !== QUOTE) return undefined;
  // The cut may divide an escape; half of a character is read as U+FFFD.
  for (let cut = start + most; cut > start + most - LONGEST_ESCAPE; cut--) {
    const text = parseString(`${bytes.toString('utf8', start, cut)}"`);
    if (text !== undefined) return text;
  }
  return undefined;
}

function parseString(text: string): string | undefined {
  try {
    return JSON.parse(text) as string;
  } catch {
    return undefined;
  }
}

export function hasEscape(bytes: Buffer, start: number, end: number): boolean {
  for (let i = start; i < end; i++) if (bytes[i] === BACKSLASH) return true;
  return false;
}

export function keyIs(bytes: Buffer, start: number, end: number, key: string): boolean {
  if (end - start !== key.length) return false;
  for (let k = 0; k < key.length; k++) if (bytes[start + k] !== key.charCodeAt(k)) return false;
  return true;
}

function sameBytes(bytes: Buffer, start: number, end: number, otherStart: number, otherEnd: number): boolean {
  return (
    end - start === otherEnd - otherStart && bytes.compare(bytes, otherStart, otherEnd, start, end) === 0
  );
}

/** Visits the elements of the array at `at`; the index after it, or -1. `readElement` gives the end of each. */
export function walkArray(
  bytes: Buffer,
  at: number,
  readElement: (bytes: Buffer, at: number) => number,
): number {
  const walk = new ArrayWalk(bytes, at);
  while (walk.at >= 0) walk.advance(readElement(bytes, walk.at));
  return walk.end;
}

/** Walks through the elements of an array; the caller may stop between two of them. */
export class ArrayWalk {
  readonly #bytes: Buffer;
  /** Index of the present element; -1 behind the last one, and where there is no array. */
  at = -1;
  /** The index after the array, once its last element was visited; -1 where there is no array. */
  end = -1;

  constructor(bytes: Buffer, at: number) {
    this.#bytes = bytes;
    if (bytes[at] !== OPEN_BRACKET) return;
    const first = skipSpace(bytes, at + 1);
    if (bytes[first] === CLOSE_BRACKET) this.end = first + 1;
    else this.at = first;
  }

  /** Goes on to the next element; `end` is that of the present one, or -1 where it has none. */
  advance(end: number): void {
    const after = end < 0 ? -1 : skipSpace(this.#bytes, end);
    this.at = -1;
    if (after < 0) return;
    if (this.#bytes[after] === CLOSE_BRACKET) this.end = after + 1;
    else if (this.#bytes[after] === COMMA) this.at = skipSpace(this.#bytes, after + 1);
  }
}

/** Returns true where a member is an array with more than `most` elements; those beyond are not read. */
export function hasMoreThan(most: number, members: Members, key: string): boolean {
  const m = findMember(members, key);
  if (m < 0) return false;
  let count = 0;
  walkArray(members.bytes, members.flat[m + 2] as number, (bytes, at) =>
    ++count > most ? -1 : skipValue(bytes, at),
  );
  return count > most;
}

/** The spans `[start, end, start, end, …]` of the array's elements, or undefined where there is no array. */
export function readElements(bytes: Buffer, at: number): number[] | undefined {
  const spans: number[] = [];
  const end = walkArray(bytes, at, (_, start) => {
    const after = skipValue(bytes, start);
    spans.push(start, after);
    return after;
  });
  return end < 0 ? undefined : spans;
}
