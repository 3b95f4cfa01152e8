import type { ExecutionTracker, ToolInvocationRequest } from '../call/invocation.ts';
import type { Gateway } from '../gateway.ts';

const UNLIMITED = -1;

/** What a gateway is at and has done, as far as its memory goes; all its clients count as one session. */
export function executionTracker(
  gateway: Pick<Gateway, 'config' | 'history' | 'isStopped'>,
): ExecutionTracker {
  const { mcpConcurrentLimit = UNLIMITED, mcpSessionLimit = UNLIMITED } = gateway.config;
  const calls = gateway.history.recent();
  const active = calls.filter(({ status }) => status === 'executing').map(({ id }) => id);
  return {
    concurrentLimit: mcpConcurrentLimit,
    sessionLimit: mcpSessionLimit,
    activeExecutions: new Set(active),
    totalExecuted: gateway.history.count,
    stopped: gateway.isStopped,
    executionHistory: calls.flatMap(entryOf),
    canExecute() {
      if (this.stopped || isReached(this.totalExecuted, this.sessionLimit)) return false;
      return !isReached(this.activeExecutions.size, this.concurrentLimit);
    },
  };
}

function isReached(count: number, limit: number): boolean {
  return limit !== UNLIMITED && count >= limit;
}

/** Only what has ended is history, and only what ended well is a success. */
function entryOf(call: ToolInvocationRequest): ExecutionTracker['executionHistory'] {
  const {
    id: requestId,
    serverId,
    toolName,
    submittedAt,
    startedAt = submittedAt,
    completedAt,
    status,
  } = call;
  if (completedAt === undefined) return [];
  return [
    {
      requestId,
      serverId,
      toolName,
      timestamp: submittedAt,
      duration: completedAt - startedAt,
      status: status === 'success' ? 'success' : 'error',
    },
  ];
}
