import { spawnSync } from 'node:child_process';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { withLock } from './lock.ts';
import { createMemoryStore } from './memory-store.ts';
import type { Store } from './store-contract.ts';

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Takes the lock and returns how long that took. */
async function waitFor(store: Store): Promise<number> {
  const began = performance.now();
  await withLock(store, 'a', async () => {});
  return performance.now() - began;
}

/** Returns the record of a lock that this process holds, with changes. */
async function recordWith(changes: object): Promise<Buffer> {
  const store = createMemoryStore();
  const record = await withLock(store, 'a', () => store.get('a'));
  return Buffer.from(JSON.stringify({ ...(JSON.parse(String(record)) as object), ...changes }));
}

afterEach(() => vi.useRealTimers());

describe('a lock', () => {
  test('a lock returns the result of its action and is free after it', async () => {
    const store = createMemoryStore();
    expect(await withLock(store, 'a', async () => 42)).toBe(42);
    expect(await store.get('a')).toHaveLength(0);
    expect(await waitFor(store)).toBeLessThan(300);
  });

  test('a lock passes the error of its action on and is free after it', async () => {
    const store = createMemoryStore();
    const failing = withLock(store, 'a', () => Promise.reject(new TypeError('called off')));
    await expect(failing).rejects.toThrow(new TypeError('called off'));
    expect(await waitFor(store)).toBeLessThan(300);
  });

  test('a lock runs one of many actions at a time', async () => {
    const store = createMemoryStore();
    let running = 0;
    let most = 0;
    const action = async (): Promise<void> => {
      most = Math.max(most, ++running);
      await pause(3);
      running--;
    };
    await Promise.all(Array.from({ length: 10 }, () => withLock(store, 'a', action)));
    expect(most).toBe(1);
  });

  test('the lock of a process that has ended is taken over at once', async () => {
    const store = createMemoryStore();
    const { pid } = spawnSync(process.execPath, ['-e', '']);
    await store.set('a', await recordWith({ owner: 'other', pid }));
    expect(await waitFor(store)).toBeLessThan(300);
  });

  test.each([
    ['whose process lives in another place', { place: 'another machine', pid: 1 }],
    ['whose process is stopped', {}],
    ['of another program', { pid: 'x' }],
  ])('a lock %s is taken over after 10 s without a sign of life', async (_, changes) => {
    const store = createMemoryStore();
    await store.set('a', await recordWith({ owner: 'other', ...changes }));
    vi.useFakeTimers();
    let isTaken = false;
    const taking = withLock(store, 'a', async () => void (isTaken = true));
    await vi.advanceTimersByTimeAsync(9900);
    expect(isTaken).toBe(false);
    await vi.advanceTimersByTimeAsync(200);
    expect(isTaken).toBe(true);
    await taking;
  });

  test('a holder that was replaced does not free the lock of its successor', async () => {
    const store = createMemoryStore();
    const successor = await recordWith({ owner: 'successor' });
    await withLock(store, 'a', () => store.set('a', successor));
    expect(await store.get('a')).toEqual(successor);
  });

  test('an action of two minutes is not replaced', async () => {
    vi.useFakeTimers();
    const store = createMemoryStore();
    const slow = withLock(store, 'a', () => pause(120_000));
    await vi.advanceTimersByTimeAsync(1);
    let isTaken = false;
    const taking = withLock(store, 'a', async () => void (isTaken = true));
    await vi.advanceTimersByTimeAsync(119_900);
    expect(isTaken).toBe(false);
    await vi.advanceTimersByTimeAsync(200);
    expect(isTaken).toBe(true);
    await Promise.all([slow, taking]);
  });

  test('a signal ends the wait for a lock, and the lock stays', async () => {
    const store = createMemoryStore();
    const held = await recordWith({ owner: 'other' });
    await store.set('a', held);
    const signal = AbortSignal.timeout(50);
    await expect(withLock(store, 'a', () => expect.fail('ran'), { signal })).rejects.toThrow('timeout');
    expect(await store.get('a')).toEqual(held);
  });
});
