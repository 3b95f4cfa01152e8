import { describe, expect, test } from 'vitest';
import { verifies } from '../../../../../../tests/verifies.ts';
import { CallQueue, type WaitingCall } from './call-queue.ts';

describe('the call queue', () => {
  const [a, b] = [{}, {}];
  const begun: string[] = [];
  const call = (client: object, name: string, then?: () => void): WaitingCall => ({
    client,
    begin: () => {
      begun.push(name);
      then?.();
    },
  });
  /** Returns a queue with one permit, which is taken. */
  const busy = (): CallQueue => {
    begun.length = 0;
    const queue = new CallQueue(1);
    queue.take();
    return queue;
  };

  verifies('HEALTH-5', "the call queue begins calls of clients in turn, each client's in order", () => {
    const queue = busy();
    for (const name of ['a1', 'a2', 'a3']) queue.wait(call(a, name));
    for (const name of ['b1', 'b2']) queue.wait(call(b, name));
    for (let n = 1; n <= 5; n++) queue.release();
    expect(begun).toEqual(['a1', 'b1', 'a2', 'b2', 'a3']);
    expect(queue.isFree).toBe(false);
    queue.release();
    expect(queue.isFree).toBe(true);
  });

  test('the call queue does not begin calls that have left', () => {
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

  verifies('HEALTH-5', 'the call queue begins 1000 calls that each end at once', () => {
    const queue = busy();
    for (let n = 0; n < 1000; n++) queue.wait(call(a, `${n}`, () => queue.release()));
    queue.release();
    expect(begun.length).toBe(1000);
    expect([queue.size, queue.isFree]).toEqual([0, true]);
  });

  verifies('HEALTH-5', 'the call queue is full when 1000 calls wait', () => {
    const queue = busy();
    for (let n = 0; n < 999; n++) queue.wait(call(a, `${n}`));
    expect(queue.isFull).toBe(false);
    queue.wait(call(b, 'last'));
    expect(queue.isFull).toBe(true);
  });

  test('the call queue counts calls that continue after a pause', () => {
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

  test('the call queue begins calls when its limit is raised', () => {
    const queue = busy();
    queue.wait(call(a, 'one'));
    queue.wait(call(a, 'two'));
    queue.limit = 2;
    expect(begun).toEqual(['one']);
    queue.limit = Infinity;
    expect(begun).toEqual(['one', 'two']);
  });
});
