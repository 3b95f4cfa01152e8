import type { RpcError } from '../../errors.ts';
import { Method } from '../../protocol/methods.ts';
import { valueText } from '../../wire/json/members.ts';
import { encode } from '../../wire/json/splice.ts';
import type { ClientRequest } from '../client-request.ts';
import { OwnerError, type Target } from '../resolve.ts';
import { clientInfoText } from './client-names.ts';
import type { Invocation } from './invocation-record.ts';

/** Longest name, as JSON, that is recorded of a call which leads nowhere: such names must not fill the history. */
const LONGEST_NAME = 256;

/** Begins the history record of a tool call, once; other requests have none. */
export function recordCall(
  request: ClientRequest,
  { upstream, originalText }: Target,
  maxRetries = 0,
): Invocation | undefined {
  return (request.invocation ??= begin(request, upstream.serverKey, originalText, maxRetries));
}

/** Records a call that the gateway answered itself. */
export function recordRefusal(request: ClientRequest, error: RpcError): void {
  const { target } = request;
  const invocation = target === undefined ? beginUnresolved(request, error) : recordCall(request, target);
  invocation?.ended('error', error);
}

/** Records a call that its client cancelled before it was sent. */
export function recordCancelled(request: ClientRequest): void {
  if (request.target !== undefined) recordCall(request, request.target)?.ended('cancelled');
}

/** Begins the record of a call whose name leads nowhere, to a server that does not run or to a hidden tool. */
function beginUnresolved(request: ClientRequest, error: RpcError): Invocation | undefined {
  const { params } = request.message;
  const name = params && valueText(params, 'name');
  if (!name?.startsWith('"')) return undefined;
  const [serverKey, ownName] =
    error instanceof OwnerError ? [error.serverKey, encode(error.ownName)] : ['', name];
  return begin(request, serverKey, ownName.length <= LONGEST_NAME ? ownName : '"..."', 0);
}

function begin(
  { caller, services: { history }, message }: ClientRequest,
  serverId: string,
  toolText: string,
  maxRetries: number,
): Invocation | undefined {
  if (message.method !== Method.CALL_TOOL) return undefined;
  const { source = 'mcp-client' } = caller.client;
  return history.begin({
    serverId,
    toolText,
    source,
    clientText: source === 'mcp-client' ? clientInfoText(caller, message) : undefined,
    maxRetries,
    argumentsText: history.keepsArguments ? argumentsOf(message) : undefined,
  });
}

function argumentsOf({ params }: ClientRequest['message']): string | undefined {
  return params && valueText(params, 'arguments');
}
