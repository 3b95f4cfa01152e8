import { afterEach, expect, test, vi } from 'vitest';
import { verifies } from '../../../../../tests/verifies.ts';
import { createSlots, startInTurn } from './start-slots.ts';

afterEach(() => void vi.useRealTimers());

const never = new Promise<never>(() => undefined);

test('StartSlots gives out at most its limit of slots, in the order of the requests', async () => {
  const slots = createSlots(2);
  const order: string[] = [];
  const first = await slots.acquire();
  const second = await slots.acquire();
  const third = slots.acquire().then((release) => (order.push('third'), release));
  const fourth = slots.acquire().then((release) => (order.push('fourth'), release));
  await settle();
  expect(order).toEqual([]);
  second();
  await third;
  expect(order).toEqual(['third']);
  first();
  await fourth;
  expect(order).toEqual(['third', 'fourth']);
});

test('a start slot that is released twice counts once', async () => {
  const slots = createSlots(1);
  const release = await slots.acquire();
  release();
  release();
  await slots.acquire();
  let third = false;
  void slots.acquire().then(() => (third = true));
  await settle();
  expect(third).toBe(false);
});

test('StartSlots rejects a limit of zero', () => {
  expect(() => createSlots(0)).toThrow('At least one slot is needed');
  expect(() => createSlots(Number.NaN)).toThrow(RangeError);
});

verifies(
  'AGG-CHILD-1',
  'a start waits for a slot until another process has written its first byte',
  async () => {
    const slots = createSlots(1);
    let speak = (): void => undefined;
    const firstByte = new Promise<void>((resolve) => (speak = resolve));
    await startInTurn(slots, async () => ({ firstByte, exited: never }));
    let started = false;
    const next = startInTurn(slots, async () => ((started = true), { firstByte, exited: never }));
    await settle();
    expect(started).toBe(false);
    speak();
    await next;
    expect(started).toBe(true);
  },
);

verifies('AGG-CHILD-1', 'a silent process gives up its start slot and continues to start', async () => {
  const slots = createSlots(1);
  const silent = await startInTurn(
    slots,
    async () => ({ firstByte: never, exited: never, name: 'silent' }),
    30,
  );
  const began = performance.now();
  await startInTurn(slots, async () => ({ firstByte: never, exited: never }), 30);
  expect(performance.now() - began).toBeGreaterThan(20);
  expect(silent.name).toBe('silent');
});

verifies(
  'AGG-CHILD-1',
  'a silent process gives up its start slot after a second, and not before',
  async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const slots = createSlots(1);
    await startInTurn(slots, async () => ({ firstByte: never, exited: never }));
    let started = false;
    const next = startInTurn(slots, async () => ((started = true), { firstByte: never, exited: never }));
    await vi.advanceTimersByTimeAsync(999);
    await settle();
    expect(started).toBe(false);
    await vi.advanceTimersByTimeAsync(1);
    await next;
    expect(started).toBe(true);
  },
);

verifies(
  'AGG-CHILD-1',
  'a process that ends or cannot be started gives up its start slot at once',
  async () => {
    const slots = createSlots(1);
    const failed = startInTurn(slots, () => Promise.reject(new Error('no such command')));
    await expect(failed).rejects.toThrow('no such command');
    await startInTurn(slots, async () => ({ firstByte: never, exited: Promise.resolve() }), 60_000);
    await startInTurn(slots, async () => ({ firstByte: never, exited: never }), 60_000);
  },
);

function settle(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
