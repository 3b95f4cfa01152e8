import { afterEach, beforeEach, expect, vi } from 'vitest';
import { verifies } from '../../../../tests/verifies.ts';
import { BackOff } from './back-off.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** Lists the pauses before so many attempts of a server that answers each of them. */
function pauses(backOff: BackOff, tries: number): number[] {
  return Array.from({ length: tries }, () => {
    backOff.schedule(() => backOff.reset());
    vi.advanceTimersByTime(backOff.delay);
    return Math.round(backOff.delay);
  });
}

verifies('SAFE-4', 'L5: a server that asks for no pause gets one that grows to a second', () => {
  const backOff = new BackOff({ isBackground: true });
  backOff.requestedDelay = 0;
  expect(pauses(backOff, 5)).toEqual([20, 30, 45, 68, 101]);
  expect(pauses(backOff, 10).at(-1)).toBe(1000);
  vi.advanceTimersByTime(60_000);
  expect(pauses(backOff, 1)).toEqual([20]);
});

verifies('SAFE-4', 'L5: a server that asks for a pause of seconds gets what it asks for', () => {
  const backOff = new BackOff({ isBackground: true });
  backOff.requestedDelay = 3000;
  expect(pauses(backOff, 20)).toEqual(Array.from({ length: 20 }, () => 3000));
});
