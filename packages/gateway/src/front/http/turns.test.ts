import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { Turns } from './turns.ts';

/** Does work now or later. */
function take(turns: Turns, bytes: number, work: () => void): void {
  if (turns.take(bytes)) work();
  else turns.wait(bytes, work);
}

/** Counts what is done in each turn until nothing is left. */
async function countPerTurn(done: readonly unknown[], all: number): Promise<number[]> {
  const counts = [];
  for (let before = 0; before < all; before = done.length) {
    if (counts.length > 0) await nextTurn();
    counts.push(done.length - before);
  }
  return counts;
}

test('128 steps are done in one turn, the others in the next ones, in order', async () => {
  const turns = new Turns();
  const done: number[] = [];
  for (let i = 0; i < 300; i++) take(turns, 0, () => done.push(i));
  expect(await countPerTurn(done, 300)).toEqual([128, 128, 44]);
  expect(done).toEqual(Array.from({ length: 300 }, (_, i) => i));
});

test('bodies of 1 MiB are read in one turn, and one that is larger', async () => {
  const turns = new Turns();
  const done: number[] = [];
  for (const size of [500_000, 500_000, 500_000, 4_000_000, 1, 1]) take(turns, size, () => done.push(size));
  expect(await countPerTurn(done, 6)).toEqual([3, 1, 2]);
});

test('work that adds work, as pipelined requests do, waits behind that of others', async () => {
  const turns = new Turns();
  const done: string[] = [];
  const pipeline = (): void => void (done.push('mine') < 10_000 && take(turns, 0, pipeline));
  take(turns, 0, pipeline);
  expect(done).toHaveLength(128);
  take(turns, 0, () => done.push('other'));
  await nextTurn();
  expect(done.indexOf('other')).toBe(129);
});
