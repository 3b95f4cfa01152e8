import { OversizedLine, type Oversized } from '../../wire/oversized.ts';

/** So many parts are put together at a time: a peer that writes byte by byte must not fill the memory with buffers. */
const PACK_PARTS = 1024;

/** Gathers the parts of one text up to a limit. Beyond it, only the id of the message is searched for. */
export class Bounded {
  readonly #limit: number;
  #parts: Buffer[] = [];
  /** Number of packed parts; they stand first. */
  #packed = 0;
  #length = 0;
  #oversized: OversizedLine | undefined;

  constructor(limit: number) {
    this.#limit = limit;
  }

  get length(): number {
    return this.#length;
  }

  /** Bytes that are kept. */
  get kept(): number {
    return this.#oversized === undefined ? this.#length : 0;
  }

  add(part: Buffer): void {
    this.#length += part.length;
    if (this.#oversized === undefined && this.#length <= this.#limit) return this.#keep(part);
    if (this.#oversized === undefined) {
      this.#oversized = new OversizedLine();
      for (const earlier of this.#parts) this.#oversized.push(earlier);
      this.#parts = [];
    }
    this.#oversized.push(part);
  }

  /** All of it, or what is known of it where it was too much; then begins anew. */
  take(): Buffer | Oversized {
    const [only] = this.#parts;
    const whole = this.#parts.length === 1 && only !== undefined ? only : Buffer.concat(this.#parts);
    const result = this.#oversized?.end() ?? whole;
    this.#parts = [];
    this.#packed = 0;
    this.#length = 0;
    this.#oversized = undefined;
    return result;
  }

  #keep(part: Buffer): void {
    this.#parts.push(part);
    if (this.#parts.length - this.#packed < PACK_PARTS) return;
    this.#parts.push(Buffer.concat(this.#parts.splice(this.#packed)));
    this.#packed = this.#parts.length;
  }
}
