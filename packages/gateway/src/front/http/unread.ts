import type { ServerResponse } from 'node:http';

/** What may wait for all clients together. Each of them may leave a stream behind, but not any number of streams. */
const MOST_BYTES = 256 * 1024 * 1024;
/** Less is no sign that a client does not read. */
const FEW_BYTES = 64 * 1024;
/** Which part of it may be written to those that are behind before all is added up again. */
const STEP = 1 / 32;

/** The responses that clients have yet to read. Where all that waits is too much, those are given up that fell behind first. */
export class Unread {
  readonly #most: number;
  readonly #behind = new Set<ServerResponse>();
  #grown = 0;

  constructor(most: number = MOST_BYTES) {
    this.#most = most;
  }

  /** Something was written to a response, where `before` bytes waited already. */
  wrote(res: ServerResponse, before: number): void {
    const waiting = res.writableLength;
    if (waiting < FEW_BYTES) return;
    this.#enter(res, before === 0);
    this.#grown += waiting - before;
    if (this.#grown >= this.#most * STEP) this.#makeRoom();
  }

  /** One that had caught up has fallen behind just now. */
  #enter(res: ServerResponse, isNew: boolean): void {
    if (!this.#behind.has(res)) res.once('close', () => this.#behind.delete(res));
    else if (isNew) this.#behind.delete(res);
    this.#behind.add(res);
  }

  /** The largest is left out, for it alone may be more. */
  #makeRoom(): void {
    this.#grown = 0;
    let [waiting, largest] = [0, 0];
    for (const { writableLength } of this.#behind) {
      waiting += writableLength;
      largest = Math.max(largest, writableLength);
    }
    for (const res of this.#behind) {
      if (waiting - largest <= this.#most) return;
      waiting -= res.writableLength;
      this.#behind.delete(res);
      res.destroy();
    }
  }
}

/** Of all fronts: they share the memory. */
export const unread: Unread = new Unread();
