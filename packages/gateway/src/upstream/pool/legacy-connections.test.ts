import { describe, expect, test } from 'vitest';
import { Deferred } from '../../time/deferred.ts';
import type { Upstream } from '../upstream.ts';
import type { DedicatedServer } from './instances.ts';
import { LegacyConnections } from './legacy-connections.ts';

const server = { serverKey: 'far', peer: {} } as Upstream;

function opening(): { dedicated: DedicatedServer; end: () => void } {
  const ended = new Deferred<void>();
  const upstream = { serverKey: 'far', peer: {} } as Upstream;
  const dedicated = {
    upstream,
    started: Promise.resolve(),
    ended: ended.promise,
    stop: () => Promise.resolve(),
  };
  return { dedicated, end: () => ended.resolve() };
}

describe('legacy connections', () => {
  test('a legacy connection is opened once, for the first client that needs it', async () => {
    const opened: Upstream[] = [];
    const { dedicated } = opening();
    const legacyConnections = new LegacyConnections((asked) => {
      opened.push(asked);
      return Promise.resolve(dedicated);
    });
    const legacyConnection = dedicated.upstream;
    expect(await Promise.all([legacyConnections.of(server), legacyConnections.of(server)])).toEqual([
      legacyConnection,
      legacyConnection,
    ]);
    expect(await legacyConnections.of(server)).toBe(legacyConnection);
    expect(opened).toEqual([server]);
    expect(legacyConnections.running).toEqual([legacyConnection]);
    expect(legacyConnections.mayHave(server)).toBe(true);
  });

  test.each([
    ['does not offer one', () => Promise.resolve(undefined)],
    ['cannot be reached', () => Promise.reject(new Error('no'))],
  ])('a legacy connection is not requested again where the server %s', async (_, open) => {
    const legacyConnections = new LegacyConnections(open);
    expect(legacyConnections.mayHave(server)).toBe(true);
    expect(await legacyConnections.of(server)).toBeUndefined();
    expect(legacyConnections.mayHave(server)).toBe(false);
    expect(legacyConnections.running).toEqual([]);
  });

  test('a legacy connection is opened anew after its end, at most three times in a row', async () => {
    let [time, opened] = [0, 0];
    let end = (): void => {};
    const legacyConnections = new LegacyConnections(
      () => {
        opened++;
        const one = opening();
        end = one.end;
        return Promise.resolve(one.dedicated);
      },
      () => time,
    );
    const oneLife = async (length: number): Promise<void> => {
      await legacyConnections.of(server);
      time += length;
      end();
      await Promise.resolve();
    };
    for (const length of [1000, 1000, 30_000, 1000, 1000]) await oneLife(length);
    expect([opened, legacyConnections.mayHave(server), legacyConnections.running]).toEqual([5, true, []]);
    await oneLife(29_999);
    expect([opened, legacyConnections.mayHave(server)]).toEqual([6, false]);
    expect(await legacyConnections.of(server)).toBeUndefined();
    expect(opened).toBe(6);
  });

  test('the failed legacy connection of an earlier start does not affect the next start', async () => {
    const opened = new Deferred<DedicatedServer | undefined>();
    const legacyConnections = new LegacyConnections(() => opened.promise);
    const late = legacyConnections.of(server);
    legacyConnections.forget(server);
    opened.resolve(undefined);
    expect(await late).toBeUndefined();
    expect(legacyConnections.mayHave(server)).toBe(true);
  });
});
