import { isUtf8 } from 'node:buffer';
import { closingQuote } from './json/scan.ts';

// Finds the id of a line that is too long to be kept, or not JSON, so that the one call it answers can fail.

const QUOTE = 0x22;

/** Characters of a key or id that are read: no known key is longer, and longer ids are not answered. */
export const LONGEST_TEXT = 4096;

/** Kind of message whose members a line has. */
export type LikelyKind = 'request' | 'response';

/** Id and likely kind of a line that could not be read as a message. */
export interface PartialHead {
  /** The JSON text of the top-level id, where it can be answered. */
  readonly id: string | undefined;
  readonly likelyKind: LikelyKind | undefined;
}

/** A line over the size limit, which was not kept. */
export interface Oversized extends PartialHead {
  readonly size: number;
}

/** Reads the id and likely kind of a line that is not JSON. */
export function readPartialHead(line: Buffer): PartialHead {
  const follower = new OversizedLine();
  follower.push(line);
  const { id, likelyKind } = follower.end();
  return { id, likelyKind };
}

/** Follows JSON through any number of chunks and remembers the top-level id; of several the last, as a parser would. */
export class OversizedLine {
  #size = 0;
  #depth = 0;
  #inString = false;
  #escaped = false;
  /** The text of the top-level key or id being read, one character a byte; undefined while nothing is wanted. */
  #text: string | undefined;
  /** The value being read at the top level is that of the id. */
  #isId = false;
  #id: string | undefined;
  #likelyKind: LikelyKind | undefined;
  #hasVersion = false;

  push(chunk: Buffer): void {
    this.#size += chunk.length;
    let at = this.#inString ? this.#string(chunk, 0) : 0;
    while (at < chunk.length) at = this.#depth > 1 ? this.#nested(chunk, at) : this.#topLevel(chunk, at);
  }

  end(): Oversized {
    const isBare = this.#hasVersion && this.#id !== undefined;
    return {
      id: this.#id,
      likelyKind: this.#likelyKind ?? (isBare ? 'response' : undefined),
      size: this.#size,
    };
  }

  /** Goes on to the end of the string that has begun, or of the chunk. */
  #string(chunk: Buffer, at: number): number {
    const quote = closingQuote(chunk, this.#escaped ? at + 1 : at);
    this.#inString = quote >= chunk.length;
    this.#escaped = quote > chunk.length;
    const end = Math.min(quote + 1, chunk.length);
    if (this.#isWanted) this.#text += chunk.toString('latin1', at, Math.min(end, at + LONGEST_TEXT + 1));
    return end;
  }

  /** Goes on to the top level, or to the end of the chunk. Nothing below the top level is remembered. */
  #nested(chunk: Buffer, at: number): number {
    let i = at;
    while (i < chunk.length && this.#depth > 1) {
      const byte = chunk[i++];
      if (byte === QUOTE) i = this.#string(chunk, i);
      else if (byte === 0x7b || byte === 0x5b) this.#depth++;
      else if (byte === 0x7d || byte === 0x5d) this.#depth--;
    }
    return i;
  }

  #topLevel(chunk: Buffer, at: number): number {
    const byte = chunk[at] as number;
    switch (byte) {
      case 0x7b:
      case 0x5b:
        this.#takeByte(byte);
        if (++this.#depth === 1) this.#text = '';
        break;
      case 0x7d:
      case 0x5d:
        if (this.#depth-- === 1) this.#memberEnds();
        break;
      case 0x2c:
        if (this.#depth === 1) this.#memberEnds();
        break;
      case 0x3a:
        if (this.#depth === 1) this.#keyEnds();
        break;
      default:
        this.#takeByte(byte);
        if (byte === QUOTE) return this.#string(chunk, at + 1);
    }
    return at + 1;
  }

  #keyEnds(): void {
    const key = keyName(this.#text ?? '');
    if (key === 'method') this.#likelyKind = 'request';
    else if (key === 'result' || key === 'error') this.#likelyKind ??= 'response';
    else if (key === 'jsonrpc') this.#hasVersion = true;
    this.#isId = key === 'id';
    this.#text = this.#isId ? '' : undefined;
  }

  #memberEnds(): void {
    if (this.#isId) this.#id = usableId(this.#text ?? '');
    this.#isId = false;
    this.#text = '';
  }

  get #isWanted(): boolean {
    return this.#depth === 1 && this.#text !== undefined && this.#text.length <= LONGEST_TEXT;
  }

  #takeByte(byte: number): void {
    if (this.#isWanted) this.#text += String.fromCharCode(byte);
  }
}

/** The key that the text spells, as far as it can be one of ours: no other escape stands for a letter. */
function keyName(text: string): unknown {
  return text.includes('\\u') ? parse(text) : text.trim().slice(1, -1);
}

/** Returns a whole string or number: what was cut off, is of another kind or is not UTF-8 must not get into an answer. */
function usableId(text: string): string | undefined {
  const isText = text.length <= LONGEST_TEXT && isUtf8(Buffer.from(text, 'latin1'));
  const id = isText ? parse(text) : undefined;
  return typeof id === 'string' || typeof id === 'number' ? text.trim() : undefined;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
