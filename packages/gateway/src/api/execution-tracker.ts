import type {
  ExecutionTracker,
  InvocationSource,
  ToolInvocationRequest,
} from '../call/history/invocation.ts';
import type { Gateway } from '../gateway/gateway.ts';

const UNLIMITED = -1;

/** Narrows a tracker to one server and to the session of one source; without either it counts all. */
export interface TrackedScope {
  readonly serverId?: string;
  readonly source?: InvocationSource;
}

/** Returns what a gateway is at and has done, as far as its memory goes. `canExecute` asks the counters of the gate. */
export function executionTracker(
  gateway: Pick<Gateway, 'config' | 'history' | 'isStopped' | 'canExecute'>,
  { serverId, source }: TrackedScope = {},
): ExecutionTracker {
  const { config, history, isStopped } = gateway;
  const isMeant = (call: ToolInvocationRequest): boolean =>
    (serverId ?? call.serverId) === call.serverId && (source ?? call.source) === call.source;
  const calls = history.recent({ withContent: false });
  const ofServer = calls.filter((call) => (serverId ?? call.serverId) === call.serverId);
  return {
    concurrentLimit: config.mcpConcurrentLimit ?? UNLIMITED,
    sessionLimit: config.mcpSessionLimit ?? UNLIMITED,
    activeExecutions: new Set(ofServer.filter(({ status }) => status === 'executing').map(({ id }) => id)),
    totalExecuted: history.executed(source),
    stopped: isStopped,
    executionHistory: calls.filter(isMeant).flatMap(entryOf),
    canExecute: () => gateway.canExecute(serverId, source),
  };
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
