import { fail, type JsonCursor, peek } from './json-cursor.ts';

/** Reads the string that starts at the cursor with a double quote. */
export function readString(cursor: JsonCursor): string {
  return readPlainString(cursor) ?? readEscapedString(cursor);
}

// Nearly every string: no escape, nothing that would need one.
function readPlainString(cursor: JsonCursor): string | undefined {
  const end = cursor.text.indexOf('"', cursor.at + 1);
  for (let at = cursor.at + 1; at < end; at += 1) {
    const code = cursor.text.charCodeAt(at);
    if (code < 0x20 || code === 0x5c) return undefined;
  }
  if (end === -1) return undefined;
  const content = cursor.text.slice(cursor.at + 1, end);
  cursor.at = end + 1;
  return content;
}

function readEscapedString(cursor: JsonCursor): string {
  const { text } = cursor;
  const start = cursor.at;
  let at = start + 1;
  while (text[at] !== '"') {
    if (at >= text.length) fail(cursor, 'This string is never closed: add the missing "', start);
    at += text[at] === '\\' ? escapeLength(cursor, at) : plainLength(cursor, at);
  }
  cursor.at = at + 1;
  return String(JSON.parse(text.slice(start, at + 1)));
}

function escapeLength(cursor: JsonCursor, at: number): number {
  const escape = /\\(?:["\\/bfnrt]|u[\dA-Fa-f]{4})/y;
  escape.lastIndex = at;
  if (!escape.test(cursor.text)) {
    fail(cursor, 'A backslash in a string is written twice: \\\\, as in "C:\\\\Users"', at);
  }
  return escape.lastIndex - at;
}

function plainLength(cursor: JsonCursor, at: number): number {
  const char = cursor.text.charAt(at);
  if (char >= ' ') return 1;
  if (char === '\n' || char === '\r') {
    return fail(cursor, 'This string is not closed on its line: add the missing "');
  }
  const code = char.charCodeAt(0).toString(16).padStart(4, '0');
  return fail(
    cursor,
    `A control character in a string is written as ${char === '\t' ? '\\t' : `\\u${code}`}`,
    at,
  );
}

/** Reads the number that starts at the cursor with a digit or a minus. */
export function readNumber(cursor: JsonCursor): number {
  const number = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?(?![\w.])/y;
  number.lastIndex = cursor.at;
  const [found] =
    number.exec(cursor.text) ?? fail(cursor, 'Not a number as JSON writes it: 8080, -1, 0.5, 1e3');
  cursor.at += found.length;
  return Number(found);
}

const WORDS = { true: true, false: false, null: null } as const;
const FOREIGN_WORDS: ReadonlyMap<string, string> = new Map([
  ['True', 'true'],
  ['False', 'false'],
  ['None', 'null'],
  ['undefined', 'null'],
]);

/** Reads true, false or null; whatever else starts here is explained. */
export function readWord(cursor: JsonCursor): boolean | null {
  const word = wordAt(cursor);
  if (word === 'true' || word === 'false' || word === 'null') {
    cursor.at += word.length;
    return WORDS[word];
  }
  return fail(cursor, explainNoValue(cursor, word));
}

function wordAt({ text, at }: JsonCursor): string {
  const word = /\w*/y;
  word.lastIndex = at;
  return word.exec(text)?.[0] ?? '';
}

function explainNoValue(cursor: JsonCursor, word: string): string {
  const meant = FOREIGN_WORDS.get(word);
  if (meant !== undefined) return `JSON has no such word: write ${meant}`;
  return explainQuote(peek(cursor)) ?? explainGap(peek(cursor));
}

/** Says so when a character is a quote, but not the one that JSON wants. */
export function explainQuote(char: string): string | undefined {
  if (char === '') return undefined;
  return "'`‘’“”„«»".includes(char) ? 'Strings and keys stand in straight double quotes: "…"' : undefined;
}

function explainGap(char: string): string {
  if (char === '') return 'The file ends where a value should stand';
  if (char === ',' || char === '}' || char === ']') return 'A value is missing here';
  return 'Expected a value: text in double quotes, a number, true, false, null, [ … ] or { … }';
}
