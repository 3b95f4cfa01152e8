import type { JsonPath } from './json-path.ts';

/** Text and position of a parser. */
export interface JsonCursor {
  readonly text: string;
  /** Comments and trailing commas are allowed. */
  readonly jsonc: boolean;
  at: number;
}

/** Invalid JSON. The message never quotes the document, because it may hold secrets. */
export class JsonSyntaxError extends Error {
  override readonly name = 'JsonSyntaxError';
  readonly line: number;
  readonly column: number;

  constructor(message: string, text: string, offset: number) {
    super(message);
    const { line, column } = positionAt(text, offset);
    this.line = line;
    this.column = column;
  }
}

export interface Position {
  line: number;
  column: number;
}

/** Line and column, both from 1, of an offset in a text with any kind of line ends. */
export function positionAt(text: string, offset: number): Position {
  let line = 1;
  let start = 0;
  for (let at = 0; at < offset; at += 1) {
    if (!endsLine(text, at)) continue;
    line += 1;
    start = at + 1;
  }
  return { line, column: offset - start + 1 };
}

// The \r of \r\n ends no line of its own.
function endsLine(text: string, at: number): boolean {
  return text[at] === '\n' || (text[at] === '\r' && text[at + 1] !== '\n');
}

export function fail(cursor: JsonCursor, message: string, at: number = cursor.at): never {
  throw new JsonSyntaxError(message, cursor.text, at);
}

/** The next character, or '' at the end of the text. */
export function peek(cursor: JsonCursor): string {
  return cursor.text.charAt(cursor.at);
}

/** Passes white space and, where they are allowed, comments. */
export function skipBlank(cursor: JsonCursor): void {
  do {
    while (isBlank(cursor.text.charCodeAt(cursor.at))) cursor.at += 1;
  } while (peek(cursor) === '/' && skipComment(cursor));
}

// By code, because it runs for every token and a pattern costs ten times as much.
function isBlank(code: number): boolean {
  return code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09;
}

function skipComment(cursor: JsonCursor): boolean {
  const opening = cursor.text.slice(cursor.at, cursor.at + 2);
  if (opening !== '//' && opening !== '/*') return false;
  if (!cursor.jsonc) {
    fail(cursor, 'Comments are not allowed in a .json file: remove it, or rename the file to .jsonc');
  }
  cursor.at = opening === '//' ? endOfLine(cursor) : endOfBlockComment(cursor);
  return true;
}

function endOfLine({ text, at }: JsonCursor): number {
  const line = /[^\r\n]*/y;
  line.lastIndex = at;
  line.test(text);
  return line.lastIndex;
}

function endOfBlockComment(cursor: JsonCursor): number {
  const end = cursor.text.indexOf('*/', cursor.at + 2);
  if (end === -1) fail(cursor, 'This comment is never closed: add */');
  return end + 2;
}

/** A key that stands twice in one object, and on which lines. */
export interface DuplicateKey {
  path: JsonPath;
  lines: readonly [number, number];
}
