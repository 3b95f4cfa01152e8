import { describe, expect, test } from 'vitest';
import { verifies } from '../../../../../../tests/verifies.ts';
import { CallQueue, type InLine } from './call-queue.ts';

describe('the calls of a server', () => {
  const [a, b] = [{}, {}];
  const begun: string[] = [];
  const call = (client: object, name: string, then?: () => void): InLine => ({
    client,
    begin: () => {
      begun.push(name);
      then?.();
    },
  });
  /** One place, which is taken. */
  const busy = (): CallQueue => {
    begun.length = 0;
    const queue = new CallQueue(1);
    queue.take();
    return queue;
  };

  verifies('HEALTH-5', 'begin one client after the other, each in its own order', () => {
    const queue = busy();
    for (const name of ['a1', 'a2', 'a3']) queue.wait(call(a, name));
    for (const name of ['b1', 'b2']) queue.wait(call(b, name));
    for (let n = 1; n <= 5; n++) queue.release();
    expect(begun).toEqual(['a1', 'b1', 'a2', 'b2', 'a3']);
    expect(queue.isFree).toBe(false);
    queue.release();
    expect(queue.isFree).toBe(true);
  });

  test('that have left do not begin', () => {
    const queue = busy();
    const leaving = call(a, 'gone');
    queue.wait(leaving);
    queue.wait(call(a, 'stays'));
    queue.leave(leaving);
    queue.leave(leaving);
    expect(queue.size).toBe(1);
    queue.release();
    expect(begun).toEqual(['stays']);
  });

  verifies('HEALTH-5', 'that end as soon as they begin make way for all others', () => {
    const queue = busy();
    for (let n = 0; n < 1000; n++) queue.wait(call(a, `${n}`, () => queue.release()));
    queue.release();
    expect(begun.length).toBe(1000);
    expect([queue.size, queue.isFree]).toEqual([0, true]);
  });

  verifies('HEALTH-5', 'fill the queue when 1000 of them wait', () => {
    const queue = busy();
    for (let n = 0; n < 999; n++) queue.wait(call(a, `${n}`));
    expect(queue.isFull).toBe(false);
    queue.wait(call(b, 'last'));
    expect(queue.isFull).toBe(true);
  });

  test('that go on after a pause count, and new ones wait for them', () => {
    const queue = busy();
    queue.wait(call(a, 'next'));
    queue.release();
    queue.take();
    queue.wait(call(a, 'last'));
    queue.release();
    expect(begun).toEqual(['next']);
    queue.release();
    expect(begun).toEqual(['next', 'last']);
  });

  test('begin when the limit is raised', () => {
    const queue = busy();
    queue.wait(call(a, 'one'));
    queue.wait(call(a, 'two'));
    queue.limit = 2;
    expect(begun).toEqual(['one']);
    queue.limit = Infinity;
    expect(begun).toEqual(['one', 'two']);
  });
});
