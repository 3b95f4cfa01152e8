import type { RpcError } from '../../../errors.ts';
import type { Timers } from '../../../time/schedule.ts';
import type { CallObserver, CallPause, InFlightRequest } from '../../relay.ts';
import { CallClock } from './call-clock.ts';
import type { CallQueue } from './call-queue.ts';

/** Timeout of a call, with its error. */
export interface TimeLimit {
  readonly milliseconds: number;
  /** The error for a call that took longer than this many milliseconds. */
  exceeded(milliseconds: number): RpcError;
}

const AWAY: CallPause = { keepsPlace: false };

/** The place of a call among those of its server, and its time. */
export class Permit implements CallObserver {
  readonly #queue: CallQueue | undefined;
  readonly #limit: TimeLimit | undefined;
  readonly #timers: Timers;
  #clock: CallClock | undefined;
  /** Number of pauses that stop its clock, and of those that leave its place to others. */
  #pauses = 0;
  #absences = 0;
  #isOver = false;

  constructor(queue: CallQueue | undefined, limit: TimeLimit | undefined, timers: Timers) {
    this.#queue = queue;
    this.#limit = limit;
    this.#timers = timers;
  }

  /** Progress extends the time of a call. */
  get wantsProgress(): boolean {
    return this.#limit !== undefined;
  }

  /** Starts the clock of a call that was sent. */
  start(call: InFlightRequest): void {
    const limit = this.#limit;
    if (limit === undefined || this.#isOver) return;
    this.#clock = new CallClock(limit.milliseconds, this.#timers, (milliseconds) =>
      call.revoke(limit.exceeded(milliseconds), 'timeout'),
    );
    if (this.#pauses === 0) this.#clock.run();
  }

  progressed(): void {
    this.#clock?.extend();
  }

  paused({ keepsPlace }: CallPause = AWAY): void {
    if (this.#isOver) return;
    if (this.#pauses++ === 0) this.#clock?.rest();
    if (!keepsPlace && this.#absences++ === 0) this.#queue?.release();
  }

  resumed({ keepsPlace }: CallPause = AWAY): void {
    if (this.#isOver || this.#pauses === 0) return;
    if (!keepsPlace && --this.#absences === 0) this.#queue?.take();
    if (--this.#pauses === 0) this.#clock?.run();
  }

  ended(): void {
    this.over();
  }

  over(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#clock?.rest();
    if (this.#absences === 0) this.#queue?.release();
  }
}
