/** From this size on a line travels as the buffers it came in instead of being copied into one string. */
export const LARGE: number = 16 * 1024;

/** Shorter pieces of a text are copies; from here on V8 makes them part of the text, which then lives as long as they do. */
const LONG_PIECE = 13;

let lastBytes: Buffer | undefined;
let lastText = '';

/**
 * A small line as text, one character a byte. Whoever handles a line wants several pieces of it one after the other,
 * and cutting them out of its text costs a fraction of what each would cost as bytes.
 */
export function lineText(bytes: Buffer): string {
  if (bytes !== lastBytes) {
    lastBytes = bytes;
    lastText = bytes.toString('latin1');
  }
  return lastText;
}

/** A piece of a line as text, one character a byte; it may be kept. */
export function textAt(bytes: Buffer, start: number, end: number): string {
  const isShort = end - start < LONG_PIECE && bytes.length < LARGE;
  return isShort ? lineText(bytes).slice(start, end) : bytes.toString('latin1', start, end);
}

/** Whether a text is the same as bytes and as characters. */
export function isAscii(text: string): boolean {
  return Buffer.byteLength(text) === text.length;
}
