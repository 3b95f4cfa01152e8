import { availableParallelism } from 'node:os';
import { expect } from 'vitest';
import { verifies } from '../../../../tests/verifies.ts';
import { Means } from './means.ts';

const means = (): Means => new Means({ env: {}, log: { info() {}, warn() {}, error() {} } });

verifies('AGG-CHILD-1', 'as many servers start at a time as there are cores, twice', async () => {
  const { slots } = means();
  let started = 0;
  for (let n = 0; n < 4 * availableParallelism(); n++) void slots.acquire().then(() => started++);
  await new Promise((resolve) => setImmediate(resolve));
  expect(started).toBe(2 * availableParallelism());
});

verifies('AGG-CHILD-2', 'limits grow once more servers start than twice the cores', async () => {
  const { startClock } = means();
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
