import { isUtf8 } from 'node:buffer';
import { lineBytes, splice, type Edit } from './json/splice.ts';
import { skipEscape } from './json/valid-strings.ts';
import { readMessage, type Message } from './message.ts';

const SPACE = 0x20;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/** Places of one answer that are repaired. One with more holds no text. */
const MOST_REPAIRS = 10_000;

/**
 * Reads an answer to the gateway itself although its text is damaged: one description in the wrong encoding must not
 * hide all that its server lists. Returns undefined where the repaired text is not an answer.
 */
export function readDamaged(line: Buffer): Message | undefined {
  const repaired = repairText(line);
  const message = repaired && readMessage(repaired);
  return message?.kind === 'response' ? message : undefined;
}

/** Writes U+FFFD for what is not UTF-8, escapes control characters in strings, and backslashes that begin no escape. */
function repairText(text: Buffer): Buffer | undefined {
  const bytes = isUtf8(text) ? text : Buffer.from(text.toString('utf8'));
  const edits: Edit[] = [];
  for (let i = bytes.indexOf(QUOTE); i >= 0; i = bytes.indexOf(QUOTE, i)) {
    i = repairString(bytes, i + 1, edits);
    if (edits.length > MOST_REPAIRS) return undefined;
  }
  return lineBytes(splice(bytes, edits));
}

/** Returns the index after the closing quote. */
function repairString(bytes: Buffer, at: number, edits: Edit[]): number {
  let i = at;
  while (i < bytes.length && bytes[i] !== QUOTE && edits.length <= MOST_REPAIRS) {
    const byte = bytes[i] as number;
    const end = byte === BACKSLASH ? skipEscape(bytes, i) : i + 1;
    if (byte < SPACE) edits.push({ start: i, end, text: `\\u00${byte.toString(16).padStart(2, '0')}` });
    if (end < 0) edits.push({ start: i, end: i, text: '\\' });
    i = end < 0 ? i + 1 : end;
  }
  return i + 1;
}
