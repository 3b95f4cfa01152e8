// A line over the size limit is not kept; its bytes pass through here so that the one call it answers can fail.

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const LONGEST_CAPTURE = 256;

/** What is known of a line that was too long to keep. */
export interface Oversized {
  /** The JSON text of the top-level id, if there was one. */
  readonly id: string | undefined;
  readonly hasMethod: boolean;
  readonly size: number;
}

/** Follows JSON through any number of chunks and remembers the top-level id. */
export class OversizedLine {
  #size = 0;
  #depth = 0;
  #inString = false;
  #escaped = false;
  #expectKey = false;
  /** The text of the key or value being read at the top level; undefined while nothing is captured. */
  #capture: string | undefined;
  #key = '';
  #id: string | undefined;
  #hasMethod = false;

  push(chunk: Buffer): void {
    this.#size += chunk.length;
    let i = 0;
    while (i < chunk.length) i = this.#inString ? this.#string(chunk, i) : this.#structure(chunk, i);
  }

  end(): Oversized {
    return { id: this.#id, hasMethod: this.#hasMethod, size: this.#size };
  }

  #string(chunk: Buffer, at: number): number {
    if (this.#escaped) {
      this.#escaped = false;
      this.#take(chunk, at, at + 1);
      return at + 1;
    }
    const end = endOfRun(chunk, at);
    this.#take(chunk, at, end);
    if (chunk[end] === BACKSLASH) this.#escaped = true;
    else if (chunk[end] === QUOTE) this.#inString = false;
    else return end;
    this.#take(chunk, end, end + 1);
    return end + 1;
  }

  #structure(chunk: Buffer, at: number): number {
    const byte = chunk[at] as number;
    switch (byte) {
      case 0x7b:
      case 0x5b:
        this.#depth++;
        this.#expectKey = this.#depth === 1;
        break;
      case 0x7d:
      case 0x5d:
        if (this.#depth === 1) this.#valueEnds();
        this.#depth--;
        break;
      case 0x2c:
        if (this.#depth === 1) {
          this.#valueEnds();
          this.#expectKey = true;
        }
        break;
      case 0x3a:
        if (this.#depth === 1) this.#keyEnds();
        break;
      default:
        if (byte === QUOTE) this.#inString = true;
        if (byte === QUOTE && this.#depth === 1 && this.#expectKey) this.#capture = '';
        if (byte > 0x20) this.#take(chunk, at, at + 1);
    }
    return at + 1;
  }

  #keyEnds(): void {
    this.#key = this.#capture ?? '';
    this.#expectKey = false;
    this.#hasMethod ||= this.#key === '"method"';
    this.#capture = this.#key === '"id"' ? '' : undefined;
  }

  #valueEnds(): void {
    if (this.#key === '"id"' && this.#capture) this.#id = this.#capture;
    this.#capture = undefined;
    this.#key = '';
  }

  #take(chunk: Buffer, start: number, end: number): void {
    if (this.#capture === undefined || this.#depth !== 1 || this.#capture.length > LONGEST_CAPTURE) return;
    this.#capture += chunk.toString('latin1', start, Math.min(end, start + LONGEST_CAPTURE));
  }
}

/** The next quote or backslash; the native search makes long strings cheap. */
function endOfRun(chunk: Buffer, at: number): number {
  const quote = chunk.indexOf(QUOTE, at);
  const end = quote < 0 ? chunk.length : quote;
  const slash = chunk.subarray(at, end).indexOf(BACKSLASH);
  return slash < 0 ? end : at + slash;
}
