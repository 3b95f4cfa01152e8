/** Elements of one turn of the event loop. The most expensive of them, a relayed call, takes about 20 µs: together 5 ms. */
export const MOST_ELEMENTS = 256;
/** Bytes of one turn. To walk through them takes about 6 ms where they are small values. */
export const MOST_BYTES: number = 512 * 1024;

/** Part of a turn that one peer may have while others wait. */
const SHARE = 1 / 8;

/**
 * Shares the turns of the event loop among all peers. Work beyond the budget of one turn waits for the next ones, in order, so
 * that neither one peer that sends much nor many peers that send something make a long turn.
 */
export class Turns {
  #elements = 0;
  #bytes = 0;
  /** Work for later turns, of which that before `#at` is done. */
  #waiting: (() => void)[] = [];
  #at = 0;
  #isRenewing = false;
  readonly #renew = (): void => this.#begin();

  /**
   * True while work may be done in this turn. A budget is renewed only once it is spent: nothing is scheduled for work that
   * comes bit by bit.
   */
  get hasRoom(): boolean {
    return this.#at === this.#waiting.length && !this.#isSpent;
  }

  /** Returns true where one peer has done so much in this turn that another should have its share. */
  isEnough(elements: number, bytes: number): boolean {
    const share = this.#at < this.#waiting.length ? SHARE : 1;
    return elements >= MOST_ELEMENTS * share || bytes >= MOST_BYTES * share;
  }

  /** Counts work that was done. */
  spend(elements: number, bytes: number): void {
    this.#elements += elements;
    this.#bytes += bytes;
  }

  /** Does work in a later turn, after all that waits already. */
  wait(work: () => void): void {
    this.#waiting.push(work);
    this.#renewLater();
  }

  get #isSpent(): boolean {
    return this.#elements >= MOST_ELEMENTS || this.#bytes >= MOST_BYTES;
  }

  #begin(): void {
    this.#isRenewing = false;
    this.#elements = 0;
    this.#bytes = 0;
    try {
      // What this work adds waits behind the rest.
      while (this.#at < this.#waiting.length && !this.#isSpent) (this.#waiting[this.#at++] as () => void)();
    } finally {
      this.#waiting = this.#waiting.slice(this.#at);
      this.#at = 0;
      if (this.#waiting.length > 0) this.#renewLater();
    }
  }

  #renewLater(): void {
    if (this.#isRenewing) return;
    this.#isRenewing = true;
    setImmediate(this.#renew);
  }
}

/** The turns of this process, which all gateways in it share. */
export const turns: Turns = new Turns();
