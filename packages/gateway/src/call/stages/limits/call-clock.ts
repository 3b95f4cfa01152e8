import type { Timers } from '../../../time/schedule.ts';

/** Progress extends the time of a call, but not for ever. */
export const MOST_EXTENSION = 10;

/** The time that a call may take. Runs only while the server works on the call. */
export class CallClock {
  readonly #limit: number;
  readonly #timers: Timers;
  /** Told how many milliseconds were too many. */
  readonly #onOver: (exceeded: number) => void;
  /** Until the next sign of life is due. */
  #left: number;
  /** Until it is over, whatever it shows of itself. */
  #leftAtMost: number;
  #since = 0;
  #callOff: (() => void) | undefined;

  constructor(limit: number, timers: Timers, onOver: (exceeded: number) => void) {
    this.#limit = limit;
    this.#timers = timers;
    this.#onOver = onOver;
    this.#left = limit;
    this.#leftAtMost = limit * MOST_EXTENSION;
  }

  run(): void {
    this.#callOff?.();
    this.#since = this.#timers.now();
    const isLast = this.#leftAtMost <= this.#left;
    this.#callOff = this.#timers.later(Math.max(0, Math.min(this.#left, this.#leftAtMost)), () => {
      this.#callOff = undefined;
      this.#onOver(isLast ? this.#limit * MOST_EXTENSION : this.#limit);
    });
  }

  rest(): void {
    if (this.#callOff === undefined) return;
    this.#callOff();
    this.#callOff = undefined;
    const elapsed = this.#timers.now() - this.#since;
    this.#left -= elapsed;
    this.#leftAtMost -= elapsed;
  }

  /** The call has made progress: its time begins anew. */
  extend(): void {
    if (this.#callOff === undefined) return;
    this.rest();
    this.#left = this.#limit;
    this.run();
  }
}
