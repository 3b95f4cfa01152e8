import { availableParallelism } from 'node:os';
import { expect, vi } from 'vitest';
import { verifies } from '../../../../tests/verifies.ts';
import { createMemoryStores } from '../state/stores.ts';
import { Accounts } from '../wire/account.ts';
import { Chain } from './gateway-chain.ts';
import { stopTiming } from './process/process-group.ts';
import { ServerContext } from './server-context.ts';

const serverContext = (): ServerContext =>
  new ServerContext({
    stores: createMemoryStores(),
    env: {},
    chain: new Chain(() => '0123456789abcdef'),
    log: { info() {}, warn() {}, error() {} },
    clientInfo: { name: 'test', version: '0' },
    maxMessageSize: 1024,
    accounts: new Accounts(1024),
  });

verifies(
  'AGG-CHILD-1',
  'ServerContext starts twice as many servers at a time as there are cores',
  async () => {
    const { slots } = serverContext();
    let started = 0;
    for (let n = 0; n < 4 * availableParallelism(); n++) void slots.acquire().then(() => started++);
    await new Promise((resolve) => setImmediate(resolve));
    expect(started).toBe(2 * availableParallelism());
  },
);

verifies('AGG-CHILD-2', 'startup limits grow once more servers start than twice the cores', async () => {
  const { startClock } = serverContext();
  const begin = (count: number): void => void Array.from({ length: count }, () => startClock.begin());
  const pace = async (): Promise<number> => {
    const [time, at] = [startClock.time, startClock.now()];
    await new Promise((resolve) => setTimeout(resolve, 20));
    return (startClock.time - time) / (startClock.now() - at);
  };
  begin(2 * availableParallelism());
  expect(await pace()).toBeCloseTo(1, 1);
  begin(2 * availableParallelism());
  expect(await pace()).toBeCloseTo(0.5, 1);
});

verifies(
  'AGG-CHILD-5',
  'ServerContext abandons an unkillable server one second after the kill timeout',
  async () => {
    vi.useFakeTimers();
    const began = Date.now();
    const unkillable = { stop: () => new Promise<void>(() => undefined) };
    const ended = serverContext()
      .end([unkillable], stopTiming(4000))
      .then(() => Date.now() - began);
    await vi.advanceTimersByTimeAsync(10_000);
    vi.useRealTimers();
    expect(await ended).toBe(5000);
  },
);
