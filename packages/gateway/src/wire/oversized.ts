// A line over the size limit is not kept; its bytes pass through here so that the one call it answers can fail.

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/** Longer keys are none of ours, and nobody is answered under a longer id. */
const LONGEST_TEXT = 1024;

/** What is known of a line that was too long to keep. */
export interface Oversized {
  /** The JSON text of the top-level id, if there was one that can be answered under. */
  readonly id: string | undefined;
  readonly hasMethod: boolean;
  readonly size: number;
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
  #hasMethod = false;

  push(chunk: Buffer): void {
    this.#size += chunk.length;
    let at = 0;
    while (at < chunk.length) at = this.#inString ? this.#string(chunk, at) : this.#structure(chunk, at);
  }

  end(): Oversized {
    return { id: this.#id, hasMethod: this.#hasMethod, size: this.#size };
  }

  /** Goes on to the end of the string, or of the chunk. */
  #string(chunk: Buffer, at: number): number {
    let i = at;
    let escaped = this.#escaped;
    while (i < chunk.length && this.#inString) {
      const byte = chunk[i++];
      if (byte === QUOTE && !escaped) this.#inString = false;
      escaped = byte === BACKSLASH && !escaped;
    }
    this.#escaped = escaped;
    this.#take(chunk, at, i);
    return i;
  }

  #structure(chunk: Buffer, at: number): number {
    switch (chunk[at]) {
      case 0x7b:
      case 0x5b:
        this.#take(chunk, at, at + 1);
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
        this.#inString = chunk[at] === QUOTE;
        this.#take(chunk, at, at + 1);
    }
    return at + 1;
  }

  #keyEnds(): void {
    const key = keyName(this.#text ?? '');
    this.#hasMethod ||= key === 'method';
    this.#isId = key === 'id';
    this.#text = this.#isId ? '' : undefined;
  }

  #memberEnds(): void {
    if (this.#isId) this.#id = usableId(this.#text ?? '');
    this.#isId = false;
    this.#text = '';
  }

  #take(chunk: Buffer, start: number, end: number): void {
    if (this.#text === undefined || this.#depth !== 1 || this.#text.length > LONGEST_TEXT) return;
    this.#text += chunk.toString('latin1', start, Math.min(end, start + LONGEST_TEXT + 1));
  }
}

/** The key that the text spells; most keys spell themselves. */
function keyName(text: string): unknown {
  return text.includes('\\') ? parse(text) : text.trim().slice(1, -1);
}

/** A whole string or number: what was cut off, or is of another kind, must not get into an answer. */
function usableId(text: string): string | undefined {
  const id = text.length > LONGEST_TEXT ? undefined : parse(text);
  return typeof id === 'string' || typeof id === 'number' ? text.trim() : undefined;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(Buffer.from(text, 'latin1').toString('utf8')) as unknown;
  } catch {
    return undefined;
  }
}
