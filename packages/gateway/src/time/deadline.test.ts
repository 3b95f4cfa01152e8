import { afterEach, beforeEach, expect, vi } from 'vitest';
import { verifies } from '../../../../tests/verifies.ts';
import type { ServerConfig } from '../config/config.generated.ts';
import { startupTimeouts } from '../upstream/transports.ts';
import { Deadline } from './deadline.ts';
import { StartClock } from './start-clock.ts';

/** Start slots of a machine with two cores. */
const PLACES = 4;

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const clock = (): StartClock => new StartClock(PLACES, () => PLACES, Date.now);

const startMany = (on: StartClock, count: number): (() => void)[] =>
  Array.from({ length: count }, () => on.begin());

/** Records the final limit and the time until it passed, in seconds. */
function watch(on: StartClock, entry: ServerConfig, option?: number): { limit?: number; after?: number } {
  const began = Date.now();
  const seen: { limit?: number; after?: number } = {};
  new Deadline(startupTimeouts(entry, option), on, (limitMs) => {
    seen.limit = limitMs / 1000;
    seen.after = (Date.now() - began) / 1000;
  });
  return seen;
}

const LOCAL = { command: 'node' };

for (const [starting, limit] of [
  [1, 5],
  [PLACES, 5],
  [PLACES + 1, 6.25],
  [20, 25],
  [24, 30],
  [100, 30],
] as const)
  verifies('AGG-CHILD-2', `the startup deadline is ${limit} s while ${starting} start on two cores`, () => {
    const on = clock();
    startMany(on, starting);
    const seen = watch(on, LOCAL);
    vi.advanceTimersByTime(limit * 1000 - 1);
    expect(seen).toEqual({});
    vi.advanceTimersByTime(2);
    expect(seen).toEqual({ limit: expect.closeTo(limit) as number, after: expect.closeTo(limit) as number });
  });

verifies(
  'AGG-CHILD-2',
  'the startup deadline is extended only for the time in which many servers start',
  () => {
    const on = clock();
    const others = startMany(on, 2 * PLACES);
    const seen = watch(on, LOCAL);
    // Four seconds count half, then the others are up: three seconds are left.
    vi.advanceTimersByTime(4000);
    for (const isUp of others) isUp();
    vi.advanceTimersByTime(2999);
    expect(seen).toEqual({});
    vi.advanceTimersByTime(2);
    expect(seen.limit).toBeCloseTo(7);
  },
);

verifies('AGG-CHILD-2', 'the startup deadline grows for a server that started before the others', () => {
  const on = clock();
  on.begin();
  const seen = watch(on, LOCAL);
  vi.advanceTimersByTime(4000);
  startMany(on, 4 * PLACES - 1);
  vi.advanceTimersByTime(3999);
  expect(seen).toEqual({});
  vi.advanceTimersByTime(2);
  expect(seen.limit).toBeCloseTo(8);
});

const KEPT: readonly (readonly [string, ServerConfig, number | undefined, number])[] = [
  ['"startupTimeout"', { ...LOCAL, startupTimeout: 3000 }, 9000, 3],
  ['--startup-timeout', LOCAL, 9000, 9],
  ['a launcher', { command: 'npx', args: ['x'] }, undefined, 60],
  ['a remote server', { url: 'http://localhost' }, undefined, 30],
];
for (const [what, entry, option, limit] of KEPT)
  verifies('AGG-CHILD-2', `the startup deadline keeps the limit of ${what} while 100 servers start`, () => {
    const on = clock();
    startMany(on, 100);
    const seen = watch(on, entry, option);
    vi.advanceTimersByTime(limit * 1000 - 1);
    expect(seen).toEqual({});
    vi.advanceTimersByTime(2);
    expect(seen.limit).toBe(limit);
  });
