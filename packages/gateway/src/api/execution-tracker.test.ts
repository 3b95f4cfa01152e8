import { expect } from 'vitest';
import { verifies } from '../../../../tests/verifies.ts';
import { History } from '../call/history/history.ts';
import type { ExecutionTracker } from '../call/history/invocation.ts';
import { executionTracker, type TrackedScope } from './execution-tracker.ts';

interface Limits {
  mcpConcurrentLimit?: number;
  mcpSessionLimit?: number;
}

/** Tracks a gateway that has refused one call and finished two, with two more in flight. */
function trackerWith(limits: Limits, scope?: TrackedScope): ExecutionTracker {
  let time = 0;
  const history = new History({ now: () => (time += 5), prefix: 'x-', redact: (text) => text });
  history.begin({ serverId: 'a', toolText: '"t"', source: 'program' }).ended('error', { message: 'refused' });
  for (const end of ['success', 'timeout', undefined] as const) {
    const call = history.begin({ serverId: 'a', toolText: '"t"', source: 'program' });
    call.sent();
    if (end !== undefined) call.ended(end);
  }
  history.begin({ serverId: 'b', toolText: '"t"', source: 'mcp-client' }).sent();
  const canExecute = (...asked: unknown[]): boolean => asked.join(' ') === 'a program';
  return executionTracker(
    { config: { mcpServers: {}, ...limits }, history, isStopped: false, canExecute },
    scope,
  );
}

verifies(
  ['HEALTH-5', 'HEALTH-8'],
  'executionTracker lists running calls, counts executed ones and records their ends',
  () => {
    const tracker = trackerWith({ mcpConcurrentLimit: 25 });
    expect(tracker).toMatchObject({
      concurrentLimit: 25,
      sessionLimit: -1,
      activeExecutions: new Set(['x-000000000004', 'x-000000000005']),
      totalExecuted: 4,
      stopped: false,
    });
    expect(tracker.executionHistory.map(({ requestId, ...entry }) => [requestId.slice(-1), entry])).toEqual([
      ['1', { serverId: 'a', toolName: 't', timestamp: 5, duration: 5, status: 'error' }],
      ['2', { serverId: 'a', toolName: 't', timestamp: 15, duration: 5, status: 'success' }],
      ['3', { serverId: 'a', toolName: 't', timestamp: 30, duration: 5, status: 'error' }],
    ]);
  },
);

verifies(['HEALTH-5', 'HEALTH-8'], 'executionTracker may cover one server and one source', () => {
  const tracker = trackerWith({ mcpSessionLimit: 3 }, { serverId: 'a', source: 'program' });
  expect(tracker).toMatchObject({ sessionLimit: 3, totalExecuted: 3 });
  expect(tracker.activeExecutions).toEqual(new Set(['x-000000000004']));
  expect(tracker.canExecute()).toBe(true);
  const other = trackerWith({}, { serverId: 'b', source: 'cli' });
  expect([other.totalExecuted, other.executionHistory, other.canExecute()]).toEqual([0, [], false]);
});
