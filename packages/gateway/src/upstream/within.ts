import { setTimeout as delay } from 'node:timers/promises';

/** Waits for something, but no longer than so many milliseconds; tells whether it came in time. */
export async function within(ms: number, something: Promise<unknown>): Promise<boolean> {
  const timer = new AbortController();
  const tooLate = delay(ms, false, { signal: timer.signal }).catch(() => false);
  return Promise.race([something.then(() => true), tooLate]).finally(() => timer.abort());
}
