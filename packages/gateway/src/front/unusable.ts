import { Messages, RpcError, RpcErrorCode } from '../errors.ts';
import type { Log } from '../log.ts';
import { answerError } from '../wire/answer.ts';
import type { Unusable } from '../wire/message.ts';
import type { Glimpse, Oversized } from '../wire/oversized.ts';
import type { Peer } from '../wire/peer.ts';

/** What a client sent is no message. */
export function refuseUnusable(client: Peer, { id, meant, reason }: Unusable, log: Log): void {
  log.warn(`The client sent a line that is no message (${reason})`);
  const isJson = reason !== 'not-json';
  const code = isJson ? RpcErrorCode.INVALID_REQUEST : RpcErrorCode.PARSE_ERROR;
  refuse(client, { id, meant }, new RpcError(code, isJson ? 'Not a JSON-RPC 2.0 message' : 'Not JSON'));
}

export function refuseOversized(
  client: Peer,
  { id, meant, size }: Oversized,
  { maxMessageSize, log }: { readonly maxMessageSize: number; readonly log: Log },
): void {
  const text = `Message of ${size} bytes is over the limit of ${maxMessageSize}; raise --max-message-size to let it pass`;
  log.warn(`The client's message was refused: ${text}`);
  refuse(client, { id, meant }, new RpcError(RpcErrorCode.INVALID_REQUEST, text));
}

export function batchRefused(): RpcError {
  return new RpcError(RpcErrorCode.INVALID_REQUEST, Messages.batchRefused());
}

/** A request is answered with why; a server that waits for the answer which this should have been hears it too. */
function refuse(client: Peer, { id, meant }: Glimpse, error: RpcError): void {
  if (id === undefined) return;
  if (meant === 'request') answerError(client, id, error);
  else if (meant === 'response') client.lose(id, error);
}
