import type { RpcError } from '../errors.ts';
import { valueText } from '../wire/members.ts';
import type { Asked } from './caller.ts';
import { TOOL_FAILURE } from './failure.ts';
import type { Invocation } from './history.ts';
import type { FinalStatus } from './invocation.ts';
import type { Outcome } from './relay.ts';
import { MAX_RETRIES } from './retry.ts';

/** Notes a client's call of a tool; nothing of its other requests. */
export function beginCall(asked: Asked, serverId: string, toolText: string): Invocation | undefined {
  const { directory, message, invocation } = asked;
  if (invocation !== undefined) return invocation;
  if (message.method !== 'tools/call') return undefined;
  const { history } = directory;
  return history.begin(
    history.keepsArguments
      ? { serverId, toolText, source: 'mcp-client', argumentsText: argumentsOf(asked) }
      : { serverId, toolText, source: 'mcp-client', argumentsText: undefined },
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

/** A call that a program makes itself. */
export async function noted(call: Invocation, run: () => Promise<unknown>): Promise<unknown> {
  call.started();
  try {
    const result = await run();
    const hasFailed = (result as { isError?: unknown } | undefined)?.isError === true;
    call.ended('success', hasFailed ? TOOL_FAILURE : undefined);
    return result;
  } catch (error) {
    const { message, code } = error as Error & { code?: unknown };
    call.ended('error', typeof code === 'number' ? { message, code } : { message });
    throw error;
  }
}
