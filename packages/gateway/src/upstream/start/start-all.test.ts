import { afterEach, beforeEach, expect, vi } from 'vitest';
import { verifies } from '../../../../../tests/verifies.ts';
import type { UpstreamServer } from '../server.ts';
import { startAll } from './start-all.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** Servers that are ready after so many milliseconds. */
function servers(...delays: number[]): UpstreamServer[] {
  return delays.map((delay) => {
    const start = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, delay));
    return { start } as UpstreamServer;
  });
}

/** Milliseconds until startAll resolves. */
async function waited(keepGoing: boolean, ...delays: number[]): Promise<number> {
  const began = Date.now();
  const ignore = (): void => {};
  const all = startAll(servers(...delays), {
    keepGoing,
    ready: ignore,
    failed: ignore,
    isAwaited: () => true,
    starting: () => {},
    skipped: ignore,
    tried: ignore,
  });
  let after = NaN;
  void all.then(() => (after = Date.now() - began));
  await vi.advanceTimersByTimeAsync(60_000);
  return after;
}

verifies(
  'AGG-REG-3',
  'startAll waits for slow servers until a second after the last one became ready',
  async () => {
    expect(await waited(true, 100, 30_000)).toBe(1100);
    expect(await waited(true, 100, 1050, 30_000)).toBe(2050);
    expect(await waited(true, 100, 1150, 30_000)).toBe(1100);
    expect(await waited(true, 100, 200)).toBe(200);
  },
);

verifies('AGG-REG-3', 'startAll waits for every server where all of them have to start', async () => {
  expect(await waited(false, 100, 30_000)).toBe(30_000);
});
