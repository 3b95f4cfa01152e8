import { describe, expect } from 'vitest';
import { verifies } from '../../../../../../tests/verifies.ts';
import type { Timers } from '../../../time/schedule.ts';
import { CallClock } from './call-clock.ts';

/** Time that the test moves; only one timer is set at a time. */
class Time implements Timers {
  #now = 0;
  #due: { at: number; action: () => void } | undefined;

  now(): number {
    return this.#now;
  }

  later(ms: number, action: () => void): () => void {
    expect(this.#due).toBeUndefined();
    this.#due = { at: this.#now + ms, action };
    return () => (this.#due = undefined);
  }

  pass(ms: number): void {
    this.#now += ms;
    const due = this.#due;
    if (due === undefined || due.at > this.#now) return;
    this.#due = undefined;
    due.action();
  }
}

function clockOf(limit: number): { time: Time; clock: CallClock; exceeded: number[] } {
  const [time, exceeded] = [new Time(), [] as number[]];
  return { time, clock: new CallClock(limit, time, (ms) => exceeded.push(ms)), exceeded };
}

describe('the clock of a call', () => {
  verifies('HEALTH-4', 'the clock of a call ends it after the limit', () => {
    const { time, clock, exceeded } = clockOf(100);
    clock.run();
    time.pass(99);
    expect(exceeded).toEqual([]);
    time.pass(1);
    expect(exceeded).toEqual([100]);
  });

  verifies('HEALTH-4', 'the clock of a call restarts with progress, up to ten times the limit', () => {
    const { time, clock, exceeded } = clockOf(100);
    clock.run();
    for (let n = 1; n <= 10; n++) {
      time.pass(99);
      clock.extend();
    }
    time.pass(9);
    expect(exceeded).toEqual([]);
    time.pass(1);
    expect(exceeded).toEqual([1000]);
  });

  verifies('HEALTH-4', 'the clock of a call stands still while the call rests', () => {
    const { time, clock, exceeded } = clockOf(100);
    clock.run();
    time.pass(60);
    clock.rest();
    time.pass(10_000);
    clock.extend();
    clock.run();
    time.pass(39);
    expect(exceeded).toEqual([]);
    time.pass(1);
    expect(exceeded).toEqual([100]);
  });
});
