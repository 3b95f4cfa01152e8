import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { Upstream } from '../upstream.ts';
import { Instances } from './instances.ts';

interface Client {
  readonly isSharedToken: boolean;
  isAttended(): boolean | undefined;
}

let started: number;
/** Seconds, which pass only where a test says so. */
let uptime: number;
beforeEach(() => {
  started = 0;
  uptime = 1000;
  vi.useFakeTimers();
  vi.spyOn(process, 'uptime').mockImplementation(() => uptime);
});
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

function newInstances(): Instances<Client> {
  return new Instances<Client>(() => {
    started++;
    const upstream = { peer: {} } as Upstream;
    return { upstream, started: Promise.resolve(), ended: new Promise(() => {}), stop: async () => {} };
  });
}

function client(isAttended: boolean | undefined): Client {
  return { isSharedToken: false, isAttended: () => isAttended };
}

/** Begins a call of a client to its own server. */
function call(
  instances: Instances<Client>,
  caller: Client,
  isRemote = false,
): ReturnType<typeof instances.forSession> {
  const key = { serverKey: 's', place: '', isRemote };
  return instances.forSession(key, caller, () => Promise.resolve({ capabilities: '{}' }));
}

/** Makes one call of each of so many clients, who then leave their servers behind. */
async function leave(instances: Instances<Client>, count: number, isAttended?: boolean): Promise<void> {
  for (let i = 0; i < count; i++) {
    const calling = call(instances, client(isAttended), true);
    (await calling).release();
  }
  started = 0;
}

test.each([
  [15, 0],
  [16, 0],
  [17, 250],
  [20, 1000],
  [56, 10_000],
  [100, 10_000],
])('after %i processes of sessions that have left, the next process starts after %i ms', async (left, ms) => {
  const instances = newInstances();
  await leave(instances, left);
  const calling = call(instances, client(true));
  await vi.advanceTimersByTimeAsync(Math.max(0, ms - 1));
  expect(started).toBe(ms === 0 ? 1 : 0);
  await vi.advanceTimersByTimeAsync(1);
  expect(started).toBe(1);
  await calling;
});

test('processes of attended sessions do not delay the next process', async () => {
  const instances = newInstances();
  await leave(instances, 100, true);
  await call(instances, client(true));
  expect(started).toBe(1);
});

test('processes that were left more than a minute ago do not delay the next process', async () => {
  const instances = newInstances();
  await leave(instances, 100);
  uptime += 59;
  const calling = call(instances, client(true));
  expect(started).toBe(0);
  uptime += 1;
  await call(instances, client(true));
  expect(started).toBe(1);
  await vi.advanceTimersByTimeAsync(10_000);
  await calling;
});

test('a remote instance starts at once, because it needs no process', async () => {
  const instances = newInstances();
  await leave(instances, 100);
  await call(instances, client(true), true);
  expect(started).toBe(1);
});

test('a client that left the queue gets no process, and one of unknown state does', async () => {
  const instances = newInstances();
  await leave(instances, 20);
  const settled = Promise.allSettled([call(instances, client(false)), call(instances, client(undefined))]);
  await vi.advanceTimersByTimeAsync(1000);
  const [left, unknown] = await settled;
  expect(left).toMatchObject({ reason: new Error('The client disconnected while it waited') });
  expect(unknown.status).toBe('fulfilled');
  expect(started).toBe(1);
});
