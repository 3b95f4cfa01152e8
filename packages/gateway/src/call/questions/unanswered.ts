import { now as uptime } from '../../time/clock.ts';
import type { InFlightRequest } from '../relay.ts';

/** Milliseconds after which a client that does not answer no longer keeps others from being asked. */
const SILENT_AFTER_MS = 60 * 1000;

/** Calls whose clients have been asked something and have not answered yet. */
export class Unanswered {
  readonly #now: () => number;
  readonly #since = new WeakMap<InFlightRequest, number>();

  constructor(now: () => number = uptime) {
    this.#now = now;
  }

  began(call: InFlightRequest): void {
    if (!this.#since.has(call)) this.#since.set(call, this.#now());
  }

  over(call: InFlightRequest): void {
    this.#since.delete(call);
  }

  /**
   * Leaves out the calls that have waited too long, unless there are no others. Their server waits for the answer, so that
   * the next question belongs to another call. They can still be answered.
   */
  withoutSilent(calls: readonly InFlightRequest[]): readonly InFlightRequest[] {
    const latest = this.#now() - SILENT_AFTER_MS;
    const others = calls.filter((call) => (this.#since.get(call) ?? Infinity) > latest);
    return others.length === 0 ? calls : others;
  }
}
