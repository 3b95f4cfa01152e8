import {
  type DuplicateKey,
  fail,
  type JsonCursor,
  JsonSyntaxError,
  peek,
  positionAt,
  skipBlank,
} from './json-cursor.ts';
import { formatPath, type JsonPath } from './json-path.ts';
import { explainQuote, readNumber, readString, readWord } from './json-scalar.ts';

export { type DuplicateKey, JsonSyntaxError } from './json-cursor.ts';

export interface JsonOptions {
  /** Allow comments and trailing commas. */
  jsonc?: boolean;
}

export interface ParsedJson {
  value: unknown;
  duplicates: DuplicateKey[];
  /** The line on which the key or element of a path is written, or the nearest one above it. */
  lineOf: (path: JsonPath) => number | undefined;
}

/** Reads JSON as `JSON.parse` does, but says where and why it fails and which keys stand twice. */
export function parseJson(text: string, options: JsonOptions = {}): ParsedJson {
  const source = text.startsWith('\uFEFF') ? text.slice(1) : text;
  const reader = createReader(source, options.jsonc ?? false);
  const value = readDocument(reader);
  return { value, duplicates: reader.duplicates, lineOf: createLineFinder(reader) };
}

function readDocument(reader: JsonReader): unknown {
  refuseUnreadable(reader);
  const value = readValue(reader);
  skipBlank(reader);
  if (peek(reader) !== '') fail(reader, 'The JSON value ends before this: remove what follows it');
  return value;
}

export const NOT_UTF8 = 'The file is not UTF-8 text: save it as UTF-8';

// Deeper than any config, shallower than the stack.
const MAX_DEPTH = 200;
// A user needs no more, and the line of each has to be counted.
const MAX_DUPLICATES = 100;

interface JsonReader extends JsonCursor {
  readonly path: (string | number)[];
  readonly duplicates: DuplicateKey[];
  /** Offset of every key and element by its path; undefined where the caller needs none. */
  readonly places?: Map<string, number>;
}

function createReader(text: string, jsonc: boolean): JsonReader {
  return { text, jsonc, at: 0, path: [], duplicates: [] };
}

function refuseUnreadable(reader: JsonReader): void {
  if (reader.text.slice(0, 4).includes('\0')) fail(reader, NOT_UTF8);
  skipBlank(reader);
  if (peek(reader) === '') {
    throw new JsonSyntaxError('The file is empty: write at least { "mcpServers": {} }', '', 0);
  }
}

function readValue(reader: JsonReader): unknown {
  skipBlank(reader);
  const char = peek(reader);
  if (char === '{') return readObject(reader);
  if (char === '[') return readArray(reader);
  if (char === '"') return readString(reader);
  return char === '-' || (char >= '0' && char <= '9') ? readNumber(reader) : readWord(reader);
}

function readObject(reader: JsonReader): object {
  const object: Record<string, unknown> = {};
  const starts = new Map<string, number>();
  readMembers(reader, '}', () => {
    const key = readKey(reader, starts);
    enter(reader, key, starts.get(key));
    setOwn(object, key, readValue(reader));
  });
  return object;
}

// Assignment would make the prototype of an object out of the key __proto__.
function setOwn(object: Record<string, unknown>, key: string, value: unknown): void {
  if (key !== '__proto__') object[key] = value;
  else Object.defineProperty(object, key, { value, writable: true, enumerable: true, configurable: true });
}

function readArray(reader: JsonReader): unknown[] {
  const array: unknown[] = [];
  readMembers(reader, ']', () => {
    enter(reader, array.length, reader.at);
    array.push(readValue(reader));
  });
  return array;
}

function enter(reader: JsonReader, step: string | number, start = 0): void {
  reader.path.push(step);
  reader.places?.set(formatPath(reader.path), start);
}

function readMembers(reader: JsonReader, closer: '}' | ']', readMember: () => void): void {
  const opened = reader.at;
  if (reader.path.length >= MAX_DEPTH) fail(reader, `Nested more than ${MAX_DEPTH} levels deep`);
  reader.at += 1;
  skipBlank(reader);
  while (peek(reader) !== closer) {
    if (peek(reader) === '') failUnclosed(reader, closer, opened);
    readMember();
    reader.path.pop();
    passComma(reader, closer, opened);
  }
  reader.at += 1;
}

function readKey(reader: JsonReader, starts: Map<string, number>): string {
  const start = reader.at;
  if (peek(reader) !== '"') fail(reader, explainNoKey(peek(reader)));
  const key = readString(reader);
  noteKey(reader, { key, start, starts });
  skipBlank(reader);
  if (peek(reader) !== ':') fail(reader, 'A colon is missing between the key and its value');
  reader.at += 1;
  return key;
}

function explainNoKey(char: string): string {
  const gap = char === ',' ? 'One comma too many: remove it' : 'Expected a key in double quotes';
  return explainQuote(char) ?? gap;
}

function noteKey(
  reader: JsonReader,
  { key, start, starts }: { key: string; start: number; starts: Map<string, number> },
): void {
  const first = starts.get(key);
  if (first === undefined) {
    starts.set(key, start);
    return;
  }
  if (reader.duplicates.length >= MAX_DUPLICATES) return;
  const lines = [lineAt(reader, first), lineAt(reader, start)] as const;
  reader.duplicates.push({ path: [...reader.path, key], lines });
}

function passComma(reader: JsonReader, closer: '}' | ']', opened: number): void {
  const end = reader.at;
  skipBlank(reader);
  const comma = reader.at;
  if (peek(reader) === closer) return;
  if (peek(reader) !== ',') failBetween(reader, { closer, opened, end });
  reader.at += 1;
  skipBlank(reader);
  if (peek(reader) === closer && !reader.jsonc) {
    fail(reader, `Trailing comma before ${closer}: remove it (only a .jsonc file may have one)`, comma);
  }
}

function failBetween(
  reader: JsonReader,
  { closer, opened, end }: { closer: '}' | ']'; opened: number; end: number },
): never {
  const char = peek(reader);
  if (char === '' || char === '}' || char === ']') failUnclosed(reader, closer, opened);
  return fail(reader, `A comma is missing here, or a closing ${closer}`, end);
}

function failUnclosed(reader: JsonReader, closer: '}' | ']', opened: number): never {
  const opener = closer === '}' ? '{' : '[';
  return fail(reader, `A ${closer} is missing: it closes the ${opener} of line ${lineAt(reader, opened)}`);
}

// Lines are asked for only when something is wrong: then the text is read once more, noting every place.
function createLineFinder({ text, jsonc }: JsonReader): ParsedJson['lineOf'] {
  let places: Map<string, number> | undefined;
  const reader = createReader(text, jsonc);
  return (path) => {
    places ??= findPlaces(reader);
    for (let length = path.length; length > 0; length -= 1) {
      const start = places.get(formatPath(path.slice(0, length)));
      if (start !== undefined) return lineAt(reader, start);
    }
    return undefined;
  };
}

function findPlaces(reader: JsonReader): Map<string, number> {
  const places = new Map<string, number>();
  readDocument({ ...reader, places });
  return places;
}

function lineAt(reader: JsonReader, offset: number): number {
  return positionAt(reader.text, offset).line;
}
