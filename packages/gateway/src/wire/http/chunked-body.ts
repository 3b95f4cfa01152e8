import { isNameCharacter, isText } from './head-lines.ts';
import { InvalidHttp } from './invalid-http.ts';

const RETURN = 0x0d;
const NEWLINE = 0x0a;
const COLON = 0x3a;
const SEMICOLON = 0x3b;
const EQUALS = 0x3d;
/** Digits of a chunk's size. A chunk of four gigabytes or more is refused. */
const MOST_DIGITS = 8;
/** Bytes of a chunk's extensions, and of all trailers, which are dropped: as many as a head may have. */
const MOST_DROPPED = 16 * 1024;

/** The part of a body that its next byte belongs to. `line` is the first byte of a trailer, or of the empty line behind the last. */
type ChunkPart =
  | 'size'
  | 'extension'
  | 'extension-text'
  | 'size-end'
  | 'data'
  | 'data-return'
  | 'data-end'
  | 'line'
  | 'trailer'
  | 'trailer-value'
  | 'trailer-end'
  | 'end'
  | 'over';

/** Decodes a body in chunks: each has its size before it, and the last one has none. */
export class ChunkedBody {
  #at: ChunkPart = 'size';
  /** Bytes of the present chunk that have not come. */
  #left = 0;
  #digits = 0;
  #dropped = 0;
  /** True where the present extension has its `=`. */
  #hasValue = false;

  /** True once the last chunk and its trailers have come. */
  get isOver(): boolean {
    return this.#at === 'over';
  }

  /**
   * Decodes bytes from a position on. Returns the body's part of them, and the position behind the last byte of the body.
   * Moves the data of later chunks up to the first one, so that a peer that sends chunks of one byte makes one part, not thousands.
   */
  read(bytes: Buffer, from: number): { data: Buffer; end: number } {
    let start = from;
    let end = from;
    let at = from;
    while (at < bytes.length && this.#at !== 'over') {
      if (this.#at !== 'data') {
        this.#step(bytes[at++] as number);
        continue;
      }
      const size = Math.min(this.#left, bytes.length - at);
      if (start === end) start = end = at;
      else bytes.copyWithin(end, at, at + size);
      end += size;
      at += size;
      this.#left -= size;
      if (this.#left === 0) this.#at = 'data-return';
    }
    return { data: bytes.subarray(start, end), end: at };
  }

  #step(byte: number): void {
    switch (this.#at) {
      case 'size':
        return this.#readSize(byte);
      case 'extension':
        return this.#readExtension(byte, true);
      case 'extension-text':
        return this.#readExtension(byte, false);
      case 'size-end':
        this.#digits = this.#dropped = 0;
        return this.#expect(byte, NEWLINE, this.#left === 0 ? 'line' : 'data');
      case 'data-return':
        return this.#expect(byte, RETURN, 'data-end');
      case 'data-end':
        return this.#expect(byte, NEWLINE, 'size');
      case 'line':
        if (byte === RETURN) return this.#drop('end');
        return this.#readTrailerName(byte);
      case 'trailer':
        if (byte === COLON) return this.#drop('trailer-value');
        return this.#readTrailerName(byte);
      case 'trailer-value':
        if (byte !== RETURN && !isText(byte)) throw new InvalidHttp('its trailers hold control characters');
        return this.#drop(byte === RETURN ? 'trailer-end' : 'trailer-value');
      case 'trailer-end':
        this.#expect(byte, NEWLINE, 'line');
        return this.#drop('line');
      default:
        return this.#expect(byte, NEWLINE, 'over');
    }
  }

  #readSize(byte: number): void {
    const digit = hexDigit(byte);
    const isEnd = byte === RETURN || byte === SEMICOLON;
    if (digit < 0 ? !isEnd || this.#digits === 0 : ++this.#digits > MOST_DIGITS)
      throw new InvalidHttp('a chunk has no valid size');
    if (!isEnd) this.#left = this.#left * 16 + digit;
    else this.#at = byte === RETURN ? 'size-end' : 'extension';
  }

  /** Reads `name` or `name=value` behind a semicolon. */
  #readExtension(byte: number, isFirst: boolean): void {
    if (isNameCharacter(byte)) return this.#drop('extension-text');
    const isEquals = byte === EQUALS && !this.#hasValue;
    if (isFirst || !(isEquals || byte === SEMICOLON || byte === RETURN))
      throw new InvalidHttp('the size of a chunk has no valid end');
    this.#hasValue = isEquals;
    this.#drop(byte === RETURN ? 'size-end' : 'extension');
  }

  #readTrailerName(byte: number): void {
    if (!isNameCharacter(byte)) throw new InvalidHttp('one of its trailers has no valid name');
    this.#drop('trailer');
  }

  #expect(byte: number, expected: number, next: ChunkPart): void {
    if (byte !== expected) throw new InvalidHttp('a chunk is longer than its size');
    this.#at = next;
  }

  #drop(next: ChunkPart): void {
    this.#at = next;
    if (++this.#dropped > MOST_DROPPED)
      throw new InvalidHttp('its chunks have too many extensions or trailers');
  }
}

/** Returns the value of a digit; -1 for any other character. */
function hexDigit(byte: number): number {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30;
  const letter = byte | 0x20;
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : -1;
}
