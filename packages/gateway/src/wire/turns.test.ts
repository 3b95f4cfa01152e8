import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { Turns } from './turns.ts';

const KIB = 1024;

/** Does work of so many bytes now or later. */
function take(turns: Turns, bytes: number, work: () => void): void {
  const spent = (): void => {
    turns.spend(1, bytes);
    work();
  };
  if (turns.hasRoom) spent();
  else turns.wait(spent);
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

test('256 elements are worked off in one turn, the others in the next ones, in order', async () => {
  const turns = new Turns();
  const done: number[] = [];
  for (let i = 0; i < 600; i++) take(turns, 0, () => done.push(i));
  expect(await countPerTurn(done, 600)).toEqual([256, 256, 88]);
  expect(done).toEqual(Array.from({ length: 600 }, (_, i) => i));
});

test('512 KiB are worked off in one turn, and an element that is larger', async () => {
  const turns = new Turns();
  const done: number[] = [];
  const sizes = [200 * KIB, 200 * KIB, 200 * KIB, 4000 * KIB, 1, 1];
  for (const size of sizes) take(turns, size, () => done.push(size));
  expect(await countPerTurn(done, 6)).toEqual([3, 1, 2]);
});

test('work that adds work, as pipelined requests do, waits behind that of others', async () => {
  const turns = new Turns();
  const done: string[] = [];
  const pipeline = (): void => void (done.push('mine') < 10_000 && take(turns, 0, pipeline));
  take(turns, 0, pipeline);
  expect(done).toHaveLength(256);
  take(turns, 0, () => done.push('other'));
  await nextTurn();
  expect(done.indexOf('other')).toBe(257);
});

test('a peer has a whole turn while nobody waits, and an eighth of it otherwise', async () => {
  const turns = new Turns();
  expect([turns.isEnough(255, 511 * KIB), turns.isEnough(256, 0), turns.isEnough(0, 512 * KIB)]).toEqual([
    false,
    true,
    true,
  ]);
  turns.wait(() => {});
  expect([turns.isEnough(31, 63 * KIB), turns.isEnough(32, 0), turns.isEnough(0, 64 * KIB)]).toEqual([
    false,
    true,
    true,
  ]);
  await nextTurn();
  expect(turns.isEnough(32, 0)).toBe(false);
});
