import { describe, expect, test } from 'vitest';
import { verifies } from '../../../../tests/verifies.ts';
import type { ServerHealthStatus } from '../upstream/supervision/health.ts';
import { RestartWaiters } from './restart-waiters.ts';

type Connection = ServerHealthStatus['connectionState'];

function waiting(connectionState: Connection, { currentAttempt = 0, wasSent = true } = {}) {
  const status: ServerHealthStatus = {
    serverId: 'a',
    connectionState,
    consecutiveFailures: 0,
    retryState: { isRetrying: true, currentAttempt, backoffIntervals: [1, 2, 3] },
  };
  let giveUp = (): void => {};
  const later = (_ms: number, action: () => void): (() => void) => {
    giveUp = action;
    return () => {};
  };
  const restartWaiters = new RestartWaiters((key) => (key === 'a' ? status : undefined), {
    now: () => 0,
    later,
  });
  return { restartWaiters, isBack: restartWaiters.wait('a', wasSent), giveUp: () => giveUp() };
}

describe('a call whose server is lost', () => {
  verifies('HEALTH-6', 'a call to a lost server continues when the next start succeeds', async () => {
    const { restartWaiters, isBack } = waiting('connected');
    for (const type of ['server-lost', 'server-connecting', 'server-connected'] as const)
      restartWaiters.serverChanged({ type, serverKey: 'a' });
    restartWaiters.ready('a');
    expect(await isBack).toBe(true);
  });

  test('a call does not wait for a server that is merely not started', async () => {
    expect(await waiting('disconnected').isBack).toBe(true);
  });

  verifies('HEALTH-6', 'a call to a lost server fails with the next start', async () => {
    const { restartWaiters, isBack } = waiting('error');
    restartWaiters.serverChanged({ type: 'server-connecting', serverKey: 'a' });
    restartWaiters.serverChanged({ type: 'server-lost', serverKey: 'a' });
    restartWaiters.ready('a');
    expect(await isBack).toBe(false);
  });

  test('a call to a lost server fails with a start that was already under way', async () => {
    const { restartWaiters, isBack } = waiting('connecting');
    restartWaiters.serverChanged({ type: 'server-lost', serverKey: 'a' });
    expect(await isBack).toBe(false);
  });

  for (const type of ['server-disabled', 'server-auto-disabled'] as const)
    test(`a call to a lost server fails at ${type}`, async () => {
      const { restartWaiters, isBack } = waiting('error');
      restartWaiters.serverChanged({ type: 'server-disabled', serverKey: 'b' });
      restartWaiters.serverChanged({ type, serverKey: 'a' });
      expect(await isBack).toBe(false);
    });

  verifies('HEALTH-6', 'a call that was already sent does not wait for the last start attempt', async () => {
    for (const [wasSent, expected] of [
      [true, false],
      [false, true],
    ] as const) {
      const { restartWaiters, isBack } = waiting('error', { currentAttempt: 2, wasSent });
      restartWaiters.ready('a');
      expect(await isBack).toBe(expected);
    }
  });

  test('a call stops waiting for an unknown server, after a time limit and at the end of the gateway', async () => {
    const { restartWaiters, isBack, giveUp } = waiting('error');
    expect(await restartWaiters.wait('unknown', true)).toBe(false);
    giveUp();
    expect(await isBack).toBe(false);
    const other = waiting('error');
    other.restartWaiters.close();
    expect(await other.isBack).toBe(false);
  });
});
