/** Results up to this many bytes are copied, which costs less than to keep the chunk alive that they arrived in. */
const LARGEST_COPY = 16 * 1024;
/** Bytes for all copies: a thousand results of 4 KiB. */
const RING_BYTES = 4 * 1024 * 1024;
/** Bytes of larger results that are kept by reference, all together; the oldest is dropped first. */
const MOST_REFERENCED = 16 * 1024 * 1024;

/** Keeps the bytes of the last results within two budgets. Parses nothing, and allocates nothing for a small result. */
export class KeptResults {
  #ring: Buffer | undefined;
  /** Bytes written to the ring so far; it wraps around. */
  #written = 0;
  readonly #referenced = new Map<number, Buffer>();
  #referencedBytes = 0;
  #references = 0;

  /** Keeps these bytes of a message; returns the position under which they are read, -1 where they are too many. */
  keep(bytes: Buffer, start: number, end: number): number {
    const length = end - start;
    return length <= LARGEST_COPY ? this.#copy(bytes, start, end) : this.#refer(bytes.subarray(start, end));
  }

  /** Returns the bytes, or undefined where others have taken their place. */
  read(position: number, length: number): Buffer | undefined {
    if (position < 0) return undefined;
    if (length > LARGEST_COPY) return this.#referenced.get(position);
    const isOverwritten = this.#written - position > RING_BYTES;
    if (this.#ring === undefined || isOverwritten) return undefined;
    const at = position % RING_BYTES;
    return this.#ring.subarray(at, at + length);
  }

  #copy(bytes: Buffer, start: number, end: number): number {
    this.#ring ??= Buffer.allocUnsafeSlow(RING_BYTES);
    const room = RING_BYTES - (this.#written % RING_BYTES);
    // A result stands in one piece: what is left at the end of the ring is passed over.
    if (room < end - start) this.#written += room;
    const position = this.#written;
    bytes.copy(this.#ring, position % RING_BYTES, start, end);
    this.#written += end - start;
    return position;
  }

  /** A chunk that the bytes are a part of stays in memory with them, and counts. */
  #refer(bytes: Buffer): number {
    const size = bytes.buffer.byteLength;
    if (size > MOST_REFERENCED) return -1;
    this.#referencedBytes += size;
    for (const [position, oldest] of this.#referenced) {
      if (this.#referencedBytes <= MOST_REFERENCED) break;
      this.#referenced.delete(position);
      this.#referencedBytes -= oldest.buffer.byteLength;
    }
    // Positions of copies and references need not differ: the length tells which of the two is meant.
    const position = this.#references++;
    this.#referenced.set(position, bytes);
    return position;
  }
}
