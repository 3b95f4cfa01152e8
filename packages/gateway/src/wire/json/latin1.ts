/** From this size on a line travels as the buffers it came in instead of being copied into one string. */
export const LARGE: number = 16 * 1024;

/** Shorter pieces of a text are copies; from here on V8 makes them part of the text, which then lives as long as they do. */
const LONG_PIECE = 13;

let lastBytes: Buffer | undefined;
let lastText = '';

/**
 * Returns a small line as text, one character a byte. A line is asked for several pieces in a row, and slicing its text
 * costs a fraction of decoding each piece from the bytes.
 */
export function lineText(bytes: Buffer): string {
  if (bytes !== lastBytes) {
    lastBytes = bytes;
    lastText = bytes.toString('latin1');
  }
  return lastText;
}

/** Returns a piece of a line as text, one character a byte. A kept piece does not keep the line alive. */
export function textAt(bytes: Buffer, start: number, end: number): string {
  const isShort = end - start < LONG_PIECE && bytes.length < LARGE;
  return isShort ? lineText(bytes).slice(start, end) : bytes.toString('latin1', start, end);
}

/** Returns true for a text with one byte a character. */
export function isAscii(text: string): boolean {
  return Buffer.byteLength(text) === text.length;
}
