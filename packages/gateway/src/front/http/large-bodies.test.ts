import { expect, test, vi } from 'vitest';
import { Flow, turns } from '../../wire/turns.ts';
import { LargeBodies, type LargeBody } from './large-bodies.ts';

// Time stands still, so that a busy peer stays busy on a slow machine.
vi.mock('../../time/clock.ts', () => ({ now: () => 1000 }));

const CHUNK = 64 * 1024;

/** A peer that has to wait, because another one does. */
function busy(): Flow {
  const flow = new Flow();
  turns.makeBusy(flow);
  turns.wait(flow, () => {});
  return flow;
}

function body(left: number, done: string[]): LargeBody {
  return {
    left,
    resume: () => void done.push(`${left} read`),
    refuse: () => void done.push(`${left} refused`),
  };
}

test('large bodies continue at once while no peer waits, and otherwise in the order of their rest', async () => {
  const bodies = new LargeBodies();
  const done: string[] = [];
  expect(bodies.count(body(1, done), new Flow(), CHUNK)).toBe(true);
  const flow = busy();
  for (const left of [30, 10, 20, 40]) expect(bodies.count(body(left, done), flow, CHUNK)).toBe(false);
  await vi.waitFor(() => expect(done).toEqual(['10 read', '20 read', '30 read', '40 read']));
});

test('a large body that has ended is not resumed', async () => {
  const bodies = new LargeBodies();
  const done: string[] = [];
  const flow = busy();
  const gone = body(1, done);
  for (const one of [gone, body(2, done)]) bodies.count(one, flow, CHUNK);
  bodies.delete(gone);
  await vi.waitFor(() => expect(done).toEqual(['2 read']));
});

test('at most 64 large bodies wait, and the one with the most left is refused', () => {
  const bodies = new LargeBodies();
  const done: string[] = [];
  const flow = busy();
  for (let i = 0; i < 64; i++) bodies.count(body(i === 7 ? 1000 : i, done), flow, CHUNK);
  expect(done).toEqual([]);
  bodies.count(body(5, done), flow, CHUNK);
  expect(done).toEqual(['1000 refused']);
});
