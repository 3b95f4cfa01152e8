import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { Deferred } from '../../time/deferred.ts';
import type { Message } from '../../wire/message.ts';
import type { Peer } from '../../wire/peer.ts';
import { ResourceSubscriptions } from './resource-subscriptions.ts';

/** A legacy server that answers when the test says so. */
function serverToTell() {
  const asked: { readonly what: string; readonly answer: Deferred<Message> }[] = [];
  const request = (method: string, params: string): Promise<Message> => {
    const { uri } = JSON.parse(params) as { uri: string };
    const answer = new Deferred<Message>();
    asked.push({ what: `${method.split('/')[1] ?? ''} ${uri}`, answer });
    return answer.promise;
  };
  const peer = { isSlow: false, gone: undefined, request } as unknown as Peer;
  const watching = new ResourceSubscriptions(peer, {
    era: 'legacy',
    meta: '',
    capabilities: {},
    missed() {},
  });
  return { asked, watching, told: () => asked.map(({ what }) => what) };
}

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const moment = (ms = 0): Promise<unknown> => vi.advanceTimersByTimeAsync(ms);

describe('resource subscriptions', () => {
  test('resource subscriptions are sent to a legacy server sixteen at a time', async () => {
    const { asked, watching, told } = serverToTell();
    for (let i = 0; i < 100; i++) watching.watch(`x:${i}`, false);
    await moment();
    expect(told()).toHaveLength(16);
    asked[3]?.answer.resolve({} as Message);
    asked[9]?.answer.reject(new Error('No such resource'));
    await moment();
    expect(told().slice(16)).toEqual(['subscribe x:16', 'subscribe x:17']);
    for (let i = 0; i < 100; i++) {
      asked[i]?.answer.resolve({} as Message);
      await moment();
    }
    expect(new Set(told()).size).toBe(100);
  });

  test('resource subscriptions are sent to a server that never answers, sixteen a second', async () => {
    const { watching, told } = serverToTell();
    for (let i = 0; i < 40; i++) watching.watch(`x:${i}`, false);
    await moment(999);
    expect(told()).toHaveLength(16);
    await moment(2);
    expect(told()).toHaveLength(32);
    await moment(1000);
    expect(told()).toHaveLength(40);
  });

  test('a resource subscription that ends in the queue is not sent', async () => {
    const { asked, watching, told } = serverToTell();
    for (let i = 0; i < 100; i++) watching.watch(`x:${i}`, false);
    await moment();
    for (let i = 0; i < 100; i++) watching.unwatch(`x:${i}`, false);
    for (let i = 0; i < 200; i++) {
      asked[i]?.answer.resolve({} as Message);
      await moment();
    }
    expect(told().filter((what) => what.startsWith('subscribe'))).toHaveLength(16);
    expect(told().filter((what) => what.startsWith('unsubscribe'))).toHaveLength(16);
  });

  test('only the final state of a resource subscription is sent after many changes', async () => {
    const { asked, watching, told } = serverToTell();
    watching.watch('x:1', false);
    await moment();
    watching.unwatch('x:1', false);
    watching.watch('x:1', false);
    asked[0]?.answer.resolve({} as Message);
    await moment();
    watching.unwatch('x:1', false);
    await moment();
    expect(told()).toEqual(['subscribe x:1', 'unsubscribe x:1']);
  });

  test('a resource subscription that a client ended itself is not sent', async () => {
    const { asked, watching, told } = serverToTell();
    for (let i = 0; i < 17; i++) watching.watch(`x:${i}`, false);
    await moment();
    watching.unwatch('x:16', true);
    asked[0]?.answer.resolve({} as Message);
    await moment();
    expect(told()).toHaveLength(16);
  });
});
