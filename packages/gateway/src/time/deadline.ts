import type { StartClock } from './start-clock.ts';

/** Milliseconds that a start may take. */
export interface StartLimit {
  /** By the clock of starts. */
  readonly startup: number;
  /** By the wall clock, however busy the machine is. */
  readonly longest: number;
}

/** The moment until which a server must have started. */
export class Deadline {
  readonly #limit: StartLimit;
  readonly #clock: StartClock;
  readonly #over: (limitMs: number) => void;
  readonly #beganAt: number;
  readonly #beganTime: number;
  #timer: NodeJS.Timeout | undefined;
  #isOver = false;

  /** `over` gets the limit that held in the end, in milliseconds of the wall clock. */
  constructor(limit: StartLimit, clock: StartClock, over: (limitMs: number) => void) {
    this.#limit = limit;
    this.#clock = clock;
    this.#over = over;
    this.#beganAt = clock.now();
    this.#beganTime = clock.time;
    this.#wait();
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /** Milliseconds that are left if the machine is not busy; it may turn out to be more. */
  remaining(): number {
    return this.#grown() - this.#elapsed();
  }

  cancel(): void {
    clearTimeout(this.#timer);
  }

  /** The limit, grown by the time that the clock of starts has lost against the wall clock. */
  #grown(): number {
    const { startup, longest } = this.#limit;
    const lost = this.#elapsed() - (this.#clock.time - this.#beganTime);
    return Math.min(longest, startup + lost);
  }

  #elapsed(): number {
    return this.#clock.now() - this.#beganAt;
  }

  #wait(): void {
    this.#timer = setTimeout(() => this.#check(), Math.ceil(this.remaining()));
  }

  #check(): void {
    if (this.remaining() > 0) return this.#wait();
    this.#isOver = true;
    this.#over(this.#grown());
  }
}
