import { setImmediate as nextTurn } from 'node:timers/promises';
import { beforeEach, expect, test, vi } from 'vitest';
import { Flow, Turns, workOf } from './turns.ts';

const KIB = 1024;

/** Milliseconds, which pass only where a test says so. */
let time: number;
beforeEach(() => void (time = 1000));

function newTurns(): Turns {
  return new Turns(() => time);
}

/** Does work of so many bytes now or later. */
function take(turns: Turns, flow: Flow, bytes: number, work: () => void): void {
  const spent = (): void => {
    turns.spend(flow, 1, bytes);
    work();
  };
  if (turns.hasRoom(flow)) spent();
  else turns.wait(flow, spent);
}

/** Counts the pieces of work done in each turn until none is left. */
async function countPerTurn(done: readonly unknown[], all: number): Promise<number[]> {
  const counts = [];
  for (let before = 0; before < all; before = done.length) {
    if (counts.length > 0) await nextTurn();
    counts.push(done.length - before);
  }
  return counts;
}

/** A peer that has had its share of a turn. */
function busy(turns: Turns): Flow {
  const flow = new Flow();
  turns.makeBusy(flow);
  return flow;
}

test('a turn handles 256 elements, and half as many of those that waited, in order', async () => {
  const turns = newTurns();
  const flow = new Flow();
  const done: number[] = [];
  for (let i = 0; i < 600; i++) take(turns, flow, 0, () => done.push(i));
  expect(await countPerTurn(done, 600)).toEqual([256, 128, 128, 88]);
  expect(done).toEqual(Array.from({ length: 600 }, (_, i) => i));
});

test('a turn handles 512 KiB, or one element that is larger', async () => {
  const turns = newTurns();
  const flow = new Flow();
  const done: number[] = [];
  const sizes = [200 * KIB, 200 * KIB, 200 * KIB, 4000 * KIB, 1, 1];
  for (const size of sizes) take(turns, flow, size, () => done.push(size));
  expect(await countPerTurn(done, 6)).toEqual([3, 1, 2]);
});

test('many peers that send a little share one turn', async () => {
  const turns = newTurns();
  const done: number[] = [];
  for (let i = 0; i < 600; i++) take(turns, new Flow(), 0, () => done.push(i));
  const counts = await countPerTurn(done, 600);
  expect(counts[0]).toBe(256);
  expect(Math.max(...counts)).toBe(256);
});

test('a peer whose work adds work, as pipelined requests do, lets other peers go first', async () => {
  const turns = newTurns();
  const [mine, other] = [new Flow(), new Flow()];
  const done: string[] = [];
  const pipeline = (): void => void (done.push('mine') < 10_000 && take(turns, mine, 0, pipeline));
  take(turns, mine, 0, pipeline);
  expect(done).toHaveLength(256);
  take(turns, other, 0, () => done.push('other'));
  expect(done.at(-1)).toBe('other');
});

test('a light peer works at once even where busy peers have spent the turn', () => {
  const turns = newTurns();
  const flow = busy(turns);
  turns.spend(flow, 10_000, 0);
  turns.wait(flow, () => {});
  expect(turns.hasRoom(flow)).toBe(false);
  expect(turns.hasRoom(new Flow())).toBe(true);
});

test('a peer has a whole turn while no other waits, and an eighth of it otherwise', async () => {
  const turns = newTurns();
  const flow = new Flow();
  expect(turns.shareOf(flow)).toBe(1);
  turns.wait(busy(turns), () => {});
  expect(turns.shareOf(flow)).toBe(1 / 8);
  await nextTurn();
  expect(turns.shareOf(flow)).toBe(1);
});

test('a peer is busy after an eighth of a turn, until a round has passed in which it had less', async () => {
  const turns = newTurns();
  turns.wait(busy(turns), () => {});
  const flow = new Flow();
  turns.spend(flow, 31, 0);
  expect(turns.hasRoom(flow)).toBe(true);
  turns.spend(flow, 1, 0);
  turns.wait(busy(turns), () => {});
  expect(turns.hasRoom(flow)).toBe(false);
  time += 100;
  turns.wait(busy(turns), () => {});
  expect(turns.hasRoom(flow)).toBe(true);
});

test('a peer that took longer than a round for its share is not busy', async () => {
  const turns = begun();
  const flow = new Flow();
  turns.spend(flow, 20, 0);
  time += 75;
  turns.spend(flow, 20, 0);
  turns.wait(busy(turns), () => {});
  expect(turns.hasRoom(flow)).toBe(true);
});

/** Turns in which a round has begun. */
function begun(): Turns {
  const turns = newTurns();
  turns.makeBusy(new Flow());
  return turns;
}

/** Lets a peer wait for `count` pieces of work, each of one element. */
function waitFor(turns: Turns, flow: Flow, count: number): number[] {
  const done: number[] = [];
  for (let i = 0; i < count; i++)
    turns.wait(flow, () => {
      turns.spend(flow, 1, 0);
      done.push(i);
    });
  return done;
}

test('a peer floods after an eighth of a turn of unsolicited input, and then rests while clients work', async () => {
  const turns = begun();
  const [client, server] = [new Flow(true), new Flow()];
  turns.spend(client, 1, 0);
  turns.spend(server, 32, 0, workOf(31, 0));
  expect([turns.hasRoom(server), turns.shareOf(server)]).toEqual([true, 1]);
  turns.spend(server, 1, 0, workOf(1, 0));
  expect(turns.shareOf(server)).toBe(1 / 8);
  const done = waitFor(turns, server, 100);
  await nextTurn();
  expect(done).toHaveLength(32);
  await nextTurn();
  expect(done).toHaveLength(32);
  expect([turns.hasRoom(server), turns.hasRoom(client)]).toEqual([false, true]);
  await vi.waitFor(() => expect(done).toHaveLength(100));
});

test('floods do not rest where every client floods', async () => {
  const turns = newTurns();
  const client = new Flow(true);
  turns.makeFlood(client);
  turns.spend(client, 1, 0);
  const done = waitFor(turns, client, 100);
  await nextTurn();
  expect(done).toHaveLength(100);
});

test('floods have an eighth of a turn until 2 s after the last work of a client', () => {
  const turns = begun();
  const [client, flood] = [new Flow(true), new Flow()];
  turns.spend(client, 1, 0);
  const shares: number[] = [];
  for (let ms = 50; ms <= 2100; ms += 50) {
    time += 50;
    turns.makeFlood(flood);
    shares.push(turns.shareOf(flood));
  }
  expect(shares.indexOf(1) * 50).toBe(2000);
});

test('busy peers do not rest, and go before floods', async () => {
  const turns = begun();
  const [client, flood] = [new Flow(true), new Flow()];
  turns.spend(client, 1, 0);
  turns.makeFlood(flood);
  const flooded = waitFor(turns, flood, 100);
  const done = waitFor(turns, busy(turns), 100);
  await nextTurn();
  expect([done.length, flooded.length]).toEqual([100, 32]);
});

test('a peer that flooded counts as a flood for one more round', async () => {
  const turns = newTurns();
  const flood = new Flow();
  turns.makeFlood(flood);
  turns.wait(flood, () => {});
  expect(turns.hasRoom(flood)).toBe(false);
  time += 100;
  turns.makeFlood(new Flow());
  expect(turns.hasRoom(flood)).toBe(true);
});
