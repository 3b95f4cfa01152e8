import { EventEmitter } from 'node:events';
import type { ServerResponse } from 'node:http';
import { describe, expect, test } from 'vitest';
import { verifies } from '../../../../../tests/verifies.ts';
import { Unread } from './unread.ts';

const MIB = 1024 * 1024;

/** As much of a response as is looked at; nobody reads it unless a test says so. */
class Response extends EventEmitter {
  writableLength = 0;
  destroyed = false;

  destroy(): void {
    this.destroyed = true;
    this.emit('close');
  }
}

function response(): Response {
  return new Response();
}

function write(unread: Unread, res: Response, bytes: number): void {
  const before = res.writableLength;
  res.writableLength += bytes;
  unread.wrote(res as unknown as ServerResponse, before);
}

describe('of what clients do not read', () => {
  verifies(['ERA-1', 'SAFE-1'], 'no more waits than all of them may leave, in however many streams', () => {
    const unread = new Unread(10 * MIB);
    const streams = Array.from({ length: 200 }, response);
    for (const stream of streams) for (let part = 0; part < 4; part++) write(unread, stream, MIB / 4);
    const waiting = streams.filter(({ destroyed }) => !destroyed);
    expect(waiting.reduce((sum, { writableLength }) => sum + writableLength, 0)).toBeLessThanOrEqual(
      20 * MIB,
    );
    // Those that fell behind first.
    expect(waiting).toEqual(streams.slice(-waiting.length));
  });

  test('one that has caught up meanwhile is not the first to go', () => {
    const unread = new Unread(MIB);
    const [diligent, lazy, last] = [response(), response(), response()];
    write(unread, diligent, MIB);
    write(unread, lazy, MIB);
    diligent.writableLength = 0;
    write(unread, diligent, MIB / 2);
    write(unread, last, MIB);
    expect([diligent, lazy, last].map(({ destroyed }) => destroyed)).toEqual([false, true, false]);
  });

  test('one large answer alone is no reason', () => {
    const unread = new Unread(MIB);
    const responses = Array.from({ length: 4 }, response);
    const [large = response(), ...others] = responses;
    write(unread, large, 64 * MIB);
    for (const res of others.slice(0, 2)) write(unread, res, MIB / 2);
    expect(responses.some(({ destroyed }) => destroyed)).toBe(false);
    for (const res of others.slice(2)) write(unread, res, MIB / 2);
    expect(responses.map(({ destroyed }) => destroyed)).toEqual([true, false, false, false]);
  });
});
