import { describe, expect, test } from 'vitest';
import { Deferred } from '../deferred.ts';
import type { DedicatedServer } from './instances.ts';
import { LegacyConnections } from './legacy-connections.ts';
import type { Upstream } from './upstream.ts';

const server = { serverKey: 'far', peer: {} } as Upstream;

function opening(): { apart: DedicatedServer; end: () => void } {
  const ended = new Deferred<void>();
  const upstream = { serverKey: 'far', peer: {} } as Upstream;
  const apart = { upstream, started: Promise.resolve(), ended: ended.promise, stop: () => Promise.resolve() };
  return { apart, end: () => ended.resolve() };
}

describe('second conversations', () => {
  test('are opened once, by the first who needs them', async () => {
    const opened: Upstream[] = [];
    const { apart } = opening();
    const twins = new LegacyConnections((asked) => {
      opened.push(asked);
      return Promise.resolve(apart);
    });
    const twin = apart.upstream;
    expect(await Promise.all([twins.of(server), twins.of(server)])).toEqual([twin, twin]);
    expect(await twins.of(server)).toBe(twin);
    expect(opened).toEqual([server]);
    expect(twins.running).toEqual([twin]);
    expect(twins.mayHave(server)).toBe(true);
  });

  test.each([
    ['has none to offer', () => Promise.resolve(undefined)],
    ['cannot be reached', () => Promise.reject(new Error('no'))],
  ])('are not asked for again where the server %s', async (_, open) => {
    const twins = new LegacyConnections(open);
    expect(twins.mayHave(server)).toBe(true);
    expect(await twins.of(server)).toBeUndefined();
    expect(twins.mayHave(server)).toBe(false);
    expect(twins.running).toEqual([]);
  });

  test('are opened anew after their end, at most three times in a row where they do not last', async () => {
    let [time, opened] = [0, 0];
    let end = (): void => {};
    const twins = new LegacyConnections(
      () => {
        opened++;
        const one = opening();
        end = one.end;
        return Promise.resolve(one.apart);
      },
      () => time,
    );
    const oneLife = async (length: number): Promise<void> => {
      await twins.of(server);
      time += length;
      end();
      await Promise.resolve();
    };
    for (const length of [1000, 1000, 30_000, 1000, 1000]) await oneLife(length);
    expect([opened, twins.mayHave(server), twins.running]).toEqual([5, true, []]);
    await oneLife(29_999);
    expect([opened, twins.mayHave(server)]).toEqual([6, false]);
    expect(await twins.of(server)).toBeUndefined();
    expect(opened).toBe(6);
  });

  test('of a start that is over say nothing about the next one', async () => {
    const opened = new Deferred<DedicatedServer | undefined>();
    const twins = new LegacyConnections(() => opened.promise);
    const late = twins.of(server);
    twins.forget(server);
    opened.resolve(undefined);
    expect(await late).toBeUndefined();
    expect(twins.mayHave(server)).toBe(true);
  });
});
