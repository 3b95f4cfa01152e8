import type { RpcError } from '../../errors.ts';
import { valueText } from '../../wire/json/members.ts';
import type { ClientRequest } from '../client-request.ts';
import type { Outcome } from '../relay.ts';
import { clientInfoText } from './client-names.ts';
import type { Invocation } from './history.ts';
import type { FinalStatus } from './invocation.ts';

/** Notes a client's call of a tool; nothing of its other requests. */
export function beginCall(
  asked: ClientRequest,
  serverId: string,
  toolText: string,
  maxRetries = 0,
): Invocation | undefined {
  const { caller, directory, message, invocation } = asked;
  if (invocation !== undefined) return invocation;
  if (message.method !== 'tools/call') return undefined;
  const { history } = directory;
  const { source = 'mcp-client' } = caller.client;
  return history.begin({
    serverId,
    toolText,
    source,
    clientText: source === 'mcp-client' ? clientInfoText(caller, message) : undefined,
    maxRetries,
    argumentsText: history.keepsArguments ? argumentsOf(asked) : undefined,
  });
}

function argumentsOf({ message: { params } }: ClientRequest): string | undefined {
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
  if (outcome === 'retried') call?.retried();
  else call?.ended(STATUS[outcome], error);
}
