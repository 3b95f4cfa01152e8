import { afterEach, beforeEach, expect, vi } from 'vitest';
import { verifies } from '../../../../tests/verifies.ts';
import type { FrontServices } from '../gateway/front-services.ts';
import type { Message } from '../wire/message.ts';
import { ServerStarter } from './stdio.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** A gateway that only records its start; `isReady` if the catalogues of all its servers are stored. */
function starting(isReady: boolean): {
  starter: ServerStarter;
  heard(method: string): void;
  isStarted(): boolean;
} {
  const start = vi.fn(() => Promise.resolve());
  const ready = new Promise<void>(() => {});
  const starter = new ServerStarter({
    chain: {},
    lifecycle: { isReady, ready, start, declareCapabilities() {} },
  } as unknown as FrontServices);
  const heard = (method: string): void => starter.received({ method } as Message);
  return { starter, heard, isStarted: () => start.mock.calls.length > 0 };
}

verifies(
  ['AGG-REG-3', 'SCALE-2'],
  'servers with stored catalogues are spawned 200 ms after the handshake',
  () => {
    const { heard, isStarted } = starting(true);
    vi.advanceTimersByTime(150);
    heard('initialize');
    heard('notifications/initialized');
    heard('ping');
    vi.advanceTimersByTime(199);
    expect(isStarted()).toBe(false);
    vi.advanceTimersByTime(1);
    expect(isStarted()).toBe(true);
  },
);

verifies(
  ['AGG-REG-3', 'SCALE-2'],
  'servers with stored catalogues are spawned right after the first list',
  () => {
    const { heard, isStarted } = starting(true);
    heard('initialize');
    heard('tools/list');
    expect(isStarted()).toBe(false);
    vi.advanceTimersByTime(1);
    expect(isStarted()).toBe(true);
  },
);

verifies('AGG-REG-3', 'servers without stored catalogues are spawned with the first message', () => {
  const { heard, isStarted } = starting(false);
  heard('initialize');
  expect(isStarted()).toBe(true);
});

verifies(['AGG-REG-3', 'ERA-4'], 'a probe alone starts no server for a second', () => {
  for (const isReady of [true, false]) {
    const { heard, isStarted } = starting(isReady);
    heard('server/discover');
    vi.advanceTimersByTime(999);
    expect(isStarted()).toBe(false);
    vi.advanceTimersByTime(1);
    expect(isStarted()).toBe(true);
  }
});
