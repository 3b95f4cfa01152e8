import { expect } from 'vitest';
import { verifies } from '../../../../tests/verifies.ts';
import { History } from '../call/history.ts';
import type { ExecutionTracker } from '../call/invocation.ts';
import { executionTracker } from './execution-tracker.ts';

interface Limits {
  mcpConcurrentLimit?: number;
  mcpSessionLimit?: number;
}

/** Of a gateway that has made two calls and is at a third. */
function trackerWith(limits: Limits, isStopped = false): ExecutionTracker {
  let time = 0;
  const history = new History({ now: () => (time += 5), prefix: 'x', redact: (text) => text });
  for (const end of ['success', 'timeout', undefined] as const) {
    const call = history.begin({ serverId: 'a', toolText: '"t"', source: 'program' });
    call.started();
    if (end !== undefined) call.ended(end);
  }
  return executionTracker({ config: { mcpServers: {}, ...limits }, history, isStopped });
}

verifies('HEALTH-8', 'what is under way, what was done, and how it ended', () => {
  expect(trackerWith({ mcpConcurrentLimit: 25 })).toMatchObject({
    concurrentLimit: 25,
    sessionLimit: -1,
    activeExecutions: new Set(['x-3']),
    totalExecuted: 3,
    stopped: false,
    executionHistory: [
      { requestId: 'x-1', serverId: 'a', toolName: 't', timestamp: 5, duration: 5, status: 'success' },
      { requestId: 'x-2', serverId: 'a', toolName: 't', timestamp: 20, duration: 5, status: 'error' },
    ],
  });
});

verifies('HEALTH-8', 'whether another call may be made', () => {
  const may = (limits: Limits, isStopped = false): boolean => trackerWith(limits, isStopped).canExecute();
  expect(may({})).toBe(true);
  expect(may({}, true)).toBe(false);
  expect([1, 2].map((mcpConcurrentLimit) => may({ mcpConcurrentLimit }))).toEqual([false, true]);
  expect([3, 4, -1].map((mcpSessionLimit) => may({ mcpSessionLimit }))).toEqual([false, true, true]);
});
