import { expect, test } from 'vitest';
import { verifies } from '../../../../../../tests/verifies.ts';
import { Accounts, type Account } from '../../../wire/account.ts';
import { EventStore, EventBudget } from './event-store.ts';

const MINUTE = 60_000;
const MIB = 1024 * 1024;

function numbers(store: EventStore, stream: number, after = 0): number[] {
  return store.after(stream, after).map(({ number }) => number);
}

test('the event store returns the events of one stream after a given one, in order', () => {
  const store = new EventStore(() => 0);
  for (const [stream, number] of [
    [1, 1],
    [2, 1],
    [1, 2],
    [1, 3],
  ] as const)
    store.add(stream, number, '{}');
  expect(numbers(store, 1, 1)).toEqual([2, 3]);
  expect(numbers(store, 2)).toEqual([1]);
  expect(numbers(store, 3)).toEqual([]);
});

verifies('ERA-1', 'the event store keeps the last 1,000 events of a session', () => {
  const store = new EventStore(() => 0);
  for (let number = 1; number <= 5500; number++) store.add(1, number, '{}');
  expect([store.size, numbers(store, 1)[0], numbers(store, 1).at(-1)]).toEqual([1000, 4501, 5500]);
});

verifies('ERA-1', 'the event store keeps 16 MiB, and always the last event', () => {
  const store = new EventStore(() => 0);
  for (let number = 1; number <= 20; number++) store.add(1, number, ['"', Buffer.alloc(MIB), '"']);
  expect(numbers(store, 1)[0]).toBe(6);
  store.add(1, 21, [Buffer.alloc(32 * MIB)]);
  expect(numbers(store, 1)).toEqual([21]);
  store.add(1, 22, '{}');
  expect(numbers(store, 1)).toEqual([22]);
});

verifies('ERA-1', 'the event store keeps events for five minutes', () => {
  let now = 0;
  const store = new EventStore(() => now);
  store.add(1, 1, '{}');
  now = 4 * MINUTE;
  store.add(1, 2, '{}');
  now = 5 * MINUTE + 1;
  store.expire();
  expect(numbers(store, 1)).toEqual([2]);
  now = 10 * MINUTE;
  store.expire();
  expect(store.size).toBe(0);
});

verifies(
  ['ERA-1', 'SAFE-1'],
  'the event stores of all sessions share one budget, and the latest events stay',
  () => {
    const accounts = new Accounts(MIB, { peerBytes: MIB, totalBytes: 16 * MIB });
    const budget = new EventBudget(accounts);
    const open = (): Account => accounts.open(() => expect.unreachable());
    const stores = Array.from({ length: 20 }, () => new EventStore(() => 0, budget, open()));
    const tell = (...indexes: number[]): void => {
      for (const index of indexes) stores[index]?.add(1, 1, [Buffer.alloc(MIB)]);
    };
    const kept = (): number[] => stores.flatMap((store, index) => (store.size > 0 ? [index] : []));
    tell(0, 1, 2, 3, 4, 0, 5, 6, 7, 8);
    expect(kept()).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8]);
    tell(9, 10);
    expect(kept()).toEqual([0, 3, 4, 5, 6, 7, 8, 9, 10]);
    for (const store of stores) store.clear();
    tell(11, 12, 13, 14, 15, 16, 17, 18, 19, 0);
    expect(kept()).toHaveLength(10);
  },
);
