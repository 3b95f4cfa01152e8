/** Steps of requests in one turn of the event loop: reading a head, working on a body. Together they take about 5 ms. */
const MOST_STEPS = 128;
/** Bytes of bodies in one turn; to read them takes about 5 ms. */
const MOST_BYTES = 1024 * 1024;

interface Waiting {
  readonly bytes: number;
  readonly work: () => void;
}

/**
 * Shares the turns of the event loop among all connections. Work beyond the budget of one turn waits for the next, in order.
 * One request of a connection is in here at a time, so a client that sends thousands at once holds up nobody else.
 */
export class Turns {
  #steps = 0;
  #bytes = 0;
  /** Work for later turns, of which that before `#at` is done. */
  #waiting: Waiting[] = [];
  #at = 0;
  #isRenewing = false;
  readonly #renew = (): void => this.#begin();

  /**
   * Takes part of the budget for work that is done now; `bytes` is the length of its body. Returns false where the work has to
   * wait. A budget is renewed only once it is spent: nothing is scheduled for requests that come one by one.
   */
  take(bytes: number): boolean {
    if (this.#waiting.length > 0 || this.#isSpent()) return false;
    this.#spend(bytes);
    return true;
  }

  /** Does work in a later turn, after all that waits already. */
  wait(bytes: number, work: () => void): void {
    this.#waiting.push({ bytes, work });
    this.#renewLater();
  }

  #isSpent(): boolean {
    return this.#steps >= MOST_STEPS || this.#bytes >= MOST_BYTES;
  }

  #spend(bytes: number): void {
    this.#steps++;
    this.#bytes += bytes;
  }

  #begin(): void {
    this.#isRenewing = false;
    this.#steps = 0;
    this.#bytes = 0;
    // What this work adds waits behind the rest.
    while (this.#at < this.#waiting.length && !this.#isSpent()) {
      const { bytes, work } = this.#waiting[this.#at++] as Waiting;
      this.#spend(bytes);
      work();
    }
    this.#waiting = this.#waiting.slice(this.#at);
    this.#at = 0;
    if (this.#waiting.length > 0) this.#renewLater();
  }

  #renewLater(): void {
    if (this.#isRenewing) return;
    this.#isRenewing = true;
    setImmediate(this.#renew);
  }
}
