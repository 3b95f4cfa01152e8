import type { GatewayReport, ReportedServer } from '@weir/gateway';
import { expect } from 'vitest';
import { verifies } from '../../../../tests/verifies.ts';
import { PROGRAM } from '../program.ts';
import { showGateways } from './gateways.ts';

const retryState = { isRetrying: false, currentAttempt: 3, backoffIntervals: [1000, 5000, 15_000] };
const server: ReportedServer = {
  id: 'a',
  name: 'a',
  transport: 'stdio',
  enabled: false,
  failureCount: 3,
  autoDisabled: true,
  sectionBindings: [],
  tools: 0,
  health: { serverId: 'a', connectionState: 'error', consecutiveFailures: 3, retryState },
};

function shown(more: object, line = 2, now = 0): string | undefined {
  const report: GatewayReport = {
    pid: 1,
    version: '1',
    mode: 'stdio',
    startedAt: 0,
    isStopped: false,
    calls: { active: 0, total: 1 },
    servers: [{ ...server, ...more }],
  };
  return showGateways([report], { isColoured: false, now, program: PROGRAM }).split('\n')[line];
}

verifies(
  'HEALTH-2',
  'showGateways shows how to enable a disabled server, and the reason if it is known',
  () => {
    expect(shown({ lastError: 'it crashed\n  stderr | no' })).toMatch(/ {2}weir enable a; it crashed$/u);
    expect(shown({})).toMatch(/ {2}weir enable a$/u);
  },
);

verifies('HEALTH-2', 'showGateways shows when an unreachable server is tried again', () => {
  const health = {
    ...server.health,
    retryState: { ...retryState, isRetrying: true, nextRetryAt: 240_000 },
  };
  expect(shown({ health, lastError: 'no route' })).toMatch(
    / {2}a {7}unreachable +0 +next try in 4 min; no route$/u,
  );
});

verifies('HEALTH-1', 'showGateways shows a ping with its age', () => {
  const health = { ...server.health, connectionState: 'connected', lastPingAt: 2000, pingLatency: 2.4 };
  expect(shown({ enabled: true, autoDisabled: false, health }, 2, 26_000)).toMatch(/ {2}2 ms, 24 s ago$/u);
});

verifies('HEALTH-3', 'showGateways prints "1 call" in the headline of one call', () => {
  for (const now of [0, -5000])
    expect(shown({}, 0, now)).toBe('Gateway 1, stdio, no config file, up 0 ms, 1 call, 0 running');
});
