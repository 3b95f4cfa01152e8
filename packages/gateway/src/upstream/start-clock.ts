import { now as systemNow } from '../clock.ts';

/**
 * Measures how long starts take. While more servers start than the machine has places for, its time passes slower in
 * proportion: a limit on it does not punish a busy machine.
 */
export class StartClock {
  /** Milliseconds of the wall clock. */
  readonly now: () => number;
  readonly #places: number;
  #starting = 0;
  #time = 0;
  #readAt: number;

  constructor(places: number, now: () => number = systemNow) {
    this.now = now;
    this.#places = places;
    this.#readAt = now();
  }

  /** Milliseconds of this clock. */
  get time(): number {
    const at = this.now();
    this.#time += (at - this.#readAt) * Math.min(1, this.#places / this.#starting);
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
