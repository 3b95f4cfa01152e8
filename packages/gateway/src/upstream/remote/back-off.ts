const FIRST_MS = 1000;
const GROWTH = 1.5;
const LONGEST_MS = 30_000;
/** A server that wants to be asked again at once gets at least this much rest. */
const SHORTEST_MS = 20;

/** How long to wait before something is tried again: a second, then ever longer. */
export class BackOff {
  readonly #isBackground: boolean;
  #next = FIRST_MS;
  #asked: number | undefined;
  #timer: NodeJS.Timeout | undefined;
  #waits = 0;
  #again: (() => void) | undefined;

  /** Where nobody waits for it, the process need not live on for it. */
  constructor({ isBackground }: { isBackground: boolean }) {
    this.#isBackground = isBackground;
  }

  /** The server has said how long it wants. */
  set retry(milliseconds: number) {
    this.#asked = Math.max(SHORTEST_MS, Math.min(milliseconds, LONGEST_MS));
  }

  reset(): void {
    this.#next = FIRST_MS;
  }

  /** Tries again later, whatever was to be tried before. */
  later(again: () => void): void {
    clearTimeout(this.#timer);
    this.#again = again;
    this.#waits = this.#asked ?? this.#next;
    this.#timer = setTimeout(() => this.hasten(), this.#waits);
    if (this.#isBackground) this.#timer.unref();
    this.#next = Math.min(this.#next * GROWTH, LONGEST_MS);
  }

  /** How long is waited, or was the last time. */
  get waits(): number {
    return this.#waits;
  }

  /** Tries now what was to be tried later, if anything. */
  hasten(): void {
    const again = this.#again;
    this.stop();
    again?.();
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#again = undefined;
  }
}
