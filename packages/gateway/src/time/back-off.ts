const FIRST_MS = 1000;
const GROWTH = 1.5;
const LONGEST_MS = 30_000;
/** A server that wants to be asked again at once gets at least this much rest, and ever more up to the first pause. */
const SHORTEST_MS = 20;
/** After this time without a try the shortest rest is enough again. */
const CALM_MS = 60_000;

/** Delays between attempts: a second, then ever longer. */
export class BackOff {
  readonly #isBackground: boolean;
  #next = FIRST_MS;
  #requested: number | undefined;
  /** Least rest of a server that has said how long it wants; what it sends does not shorten it. */
  #rest = SHORTEST_MS;
  #triedAt = 0;
  #timer: NodeJS.Timeout | undefined;
  #delay = 0;
  #again: (() => void) | undefined;

  /** `isBackground`: the timer does not keep the process alive. */
  constructor({ isBackground }: { isBackground: boolean }) {
    this.#isBackground = isBackground;
  }

  /** The server has said how long it wants. */
  set requestedDelay(milliseconds: number) {
    this.#requested = Math.min(milliseconds, LONGEST_MS);
  }

  reset(): void {
    this.#next = FIRST_MS;
  }

  /** Tries again later, whatever was to be tried before. */
  schedule(again: () => void): void {
    clearTimeout(this.#timer);
    this.#again = again;
    this.#delay = this.#requested === undefined ? this.#next : Math.max(this.#requested, this.#restNow());
    this.#timer = setTimeout(() => this.runNow(), this.#delay);
    if (this.#isBackground) this.#timer.unref();
    this.#next = Math.min(this.#next * GROWTH, LONGEST_MS);
  }

  #restNow(): number {
    const isCalm = Date.now() - this.#triedAt >= CALM_MS;
    const rest = isCalm ? SHORTEST_MS : this.#rest;
    this.#triedAt = Date.now();
    this.#rest = Math.min(rest * GROWTH, FIRST_MS);
    return rest;
  }

  /** Milliseconds of the present or last delay. */
  get delay(): number {
    return this.#delay;
  }

  /** Tries now what was to be tried later, if anything. */
  runNow(): void {
    const again = this.#again;
    this.stop();
    again?.();
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#again = undefined;
  }
}
