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
  #isRenewed = false;
  readonly #renew = (): void => this.#begin();

  /** Works on a request now or in a later turn; `bytes` is the length of its body. */
  take(bytes: number, work: () => void): void {
    if (this.#waiting.length > 0 || this.#isSpent()) this.#waiting.push({ bytes, work });
    else this.#run(bytes, work);
    this.#goOn();
  }

  #isSpent(): boolean {
    return this.#steps >= MOST_STEPS || this.#bytes >= MOST_BYTES;
  }

  #run(bytes: number, work: () => void): void {
    this.#steps++;
    this.#bytes += bytes;
    work();
  }

  #begin(): void {
    this.#isRenewed = false;
    this.#steps = 0;
    this.#bytes = 0;
    if (this.#waiting.length === 0) return;
    // What this work adds waits behind the rest.
    while (this.#at < this.#waiting.length && !this.#isSpent()) {
      const { bytes, work } = this.#waiting[this.#at++] as Waiting;
      this.#run(bytes, work);
    }
    this.#waiting = this.#waiting.slice(this.#at);
    this.#at = 0;
    if (this.#waiting.length > 0) this.#goOn();
  }

  /** Has the next turn begin with a new budget. */
  #goOn(): void {
    if (this.#isRenewed) return;
    this.#isRenewed = true;
    setImmediate(this.#renew);
  }
}
