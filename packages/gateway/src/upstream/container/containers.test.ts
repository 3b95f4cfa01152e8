import { afterEach, beforeEach, expect, vi } from 'vitest';
import { verifies } from '../../../../../tests/verifies.ts';
import { Containers } from './containers.ts';
import type { Engine } from './engine.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

verifies('MANAGED-3', 'orphaned containers are looked for at the start and every minute', async () => {
  const looks: number[] = [];
  const began = Date.now();
  const engine = {
    find: () => Promise.resolve((looks.push((Date.now() - began) / 1000), [])),
    removeAgain: () => Promise.resolve(),
  } as unknown as Engine;
  const containers = new Containers(engine, { info() {}, warn() {}, error() {} });
  await containers.ready();
  await vi.advanceTimersByTimeAsync(200_000);
  containers.end();
  await vi.advanceTimersByTimeAsync(200_000);
  expect(looks).toEqual([0, 60, 120, 180]);
});
