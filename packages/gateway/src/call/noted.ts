import type { RpcError } from '../errors.ts';
import { valueText } from '../wire/members.ts';
import type { Asked } from './caller.ts';
import type { Invocation } from './history.ts';
import type { FinalStatus } from './invocation.ts';
import type { Outcome } from './relay.ts';
import { MAX_RETRIES } from './retry.ts';

/** Notes a client's call of a tool; nothing of its other requests. */
export function beginCall(asked: Asked, serverId: string, toolText: string): Invocation | undefined {
  const { directory, message, invocation } = asked;
  const { source = 'mcp-client' } = asked.caller.client;
  if (invocation !== undefined) return invocation;
  if (message.method !== 'tools/call') return undefined;
  const { history } = directory;
  return history.begin(
    history.keepsArguments
      ? { serverId, toolText, source, argumentsText: argumentsOf(asked) }
      : { serverId, toolText, source, argumentsText: undefined },
  );
}

function argumentsOf({ message: { params } }: Asked): string | undefined {
  return params && valueText(params, 'arguments');
}

const STATUS: Readonly<Record<Exclude<Outcome, 'retried'>, FinalStatus>> = {
  result: 'success',
  error: 'error',
  timeout: 'timeout',
  cancelled: 'cancelled',
};

/** Notes how a call ended, or that it is to be made once more. */
export function endCall(call: Invocation | undefined, outcome: Outcome, error?: RpcError): void {
  if (outcome === 'retried') call?.retried(MAX_RETRIES);
  else call?.ended(STATUS[outcome], error);
}
