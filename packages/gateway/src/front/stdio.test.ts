import { afterEach, beforeEach, expect, vi } from 'vitest';
import { verifies } from '../../../../tests/verifies.ts';
import type { Gateway } from '../gateway/gateway.ts';
import type { Message } from '../wire/message.ts';
import { ServerStarter } from './stdio.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** A gateway that only records its start; `isSettled` if the catalogues of all its servers are stored. */
function starting(isSettled: boolean): {
  starter: ServerStarter;
  heard(method: string): void;
  isStarted(): boolean;
} {
  const start = vi.fn(() => Promise.resolve());
  const settled = new Promise<void>(() => {});
  const starter = new ServerStarter({
    isSettled,
    settled,
    start,
    chain: {},
    open() {},
  } as unknown as Gateway);
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
  for (const isSettled of [true, false]) {
    const { heard, isStarted } = starting(isSettled);
    heard('server/discover');
    vi.advanceTimersByTime(999);
    expect(isStarted()).toBe(false);
    vi.advanceTimersByTime(1);
    expect(isStarted()).toBe(true);
  }
});
