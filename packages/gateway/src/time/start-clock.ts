import { now as systemNow } from './clock.ts';

/**
 * Measures how long starts take. While more servers start than the machine has places for, its time passes slower in
 * proportion: a limit on it does not punish a busy machine.
 */
export class StartClock {
  /** Milliseconds of the wall clock. */
  readonly now: () => number;
  readonly #least: number;
  readonly #places: () => number;
  #starting = 0;
  #time = 0;
  #readAt: number;

  /** `places` is asked only where more than `least` servers start. */
  constructor(least: number, places: () => number, now: () => number = systemNow) {
    this.now = now;
    this.#least = least;
    this.#places = places;
    this.#readAt = now();
  }

  /** Milliseconds of this clock. */
  get time(): number {
    const at = this.now();
    const isCrowded = this.#starting > this.#least;
    this.#time += (at - this.#readAt) * (isCrowded ? Math.min(1, this.#places() / this.#starting) : 1);
    this.#readAt = at;
    return this.#time;
  }

  /** Counts one more start, until the returned function is called. */
  begin(): () => void {
    this.#add(1);
    return () => this.#add(-1);
  }

  /** Time up to now has passed at the pace that was right until now. */
  #add(starts: 1 | -1): void {
    void this.time;
    this.#starting += starts;
  }
}
