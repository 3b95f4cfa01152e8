/** From this size on a line travels as the buffers it came in instead of being copied into one string. */
export const LARGE: number = 16 * 1024;

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

/** A piece of a line as text, one character a byte. */
export function textAt(bytes: Buffer, start: number, end: number): string {
  return bytes.length < LARGE ? lineText(bytes).slice(start, end) : bytes.toString('latin1', start, end);
}
