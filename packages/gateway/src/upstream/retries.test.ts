import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { ChildServer } from './child-server.ts';
import { Retries } from './retries.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** Tries a server that fails for these reasons, one after the other, and then comes. */
function retrying(...reasons: string[]): { retries: Retries; logged: string[]; came: () => boolean } {
  const logged: string[] = [];
  let hasCome = false;
  const note = (level: string) => (text: string) => void logged.push(`${level} ${text}`);
  const retries = new Retries({
    log: { info: note('info'), warn: note('warn'), error: note('error') },
    create: () => ({ start: () => outcome(reasons.shift()) }) as ChildServer,
    ready: () => (hasCome = true),
  });
  return { retries, logged, came: () => hasCome };
}

async function outcome(reason: string | undefined): Promise<void> {
  if (reason !== undefined) throw new Error(reason);
}

test('it is said once that a server is tried again, and then every reason that is new', async () => {
  const { retries, logged, came } = retrying('refused', 'refused', 'wrong token', 'wrong token', 'refused');
  retries.keepTrying('far', 'refused');
  expect(logged).toEqual([
    "warn Server 'far' is tried again, at least every 30 s, until it can be reached; you hear of it when that succeeds or fails for another reason",
  ]);
  await vi.advanceTimersByTimeAsync(1000 + 5000);
  expect(logged).toHaveLength(1);
  await vi.advanceTimersByTimeAsync(15_000 + 30_000);
  expect(logged.slice(1)).toEqual(['warn wrong token (it is tried again)']);
  await vi.advanceTimersByTimeAsync(30_000);
  expect(logged.slice(2)).toEqual(['warn refused (it is tried again)']);
  expect(came()).toBe(false);
  await vi.advanceTimersByTimeAsync(30_000);
  expect(came()).toBe(true);
  expect(logged).toHaveLength(3);
});

test('nothing is tried or said any more once it is stopped', async () => {
  const { retries, logged, came } = retrying();
  retries.keepTrying('far', 'refused');
  retries.stop();
  await vi.advanceTimersByTimeAsync(60_000);
  expect([came(), logged.length]).toEqual([false, 1]);
});
