import { Texts, RpcError, RpcErrorCode } from '../errors.ts';
import { answerError } from '../wire/answer.ts';
import { describeFault } from '../wire/fault.ts';
import type { Unusable } from '../wire/message.ts';
import type { PartialHead, Oversized } from '../wire/oversized.ts';
import type { Peer } from '../wire/peer.ts';

type Warn = (text: string) => void;

/** What a client sent is no message. */
export function refuseUnusable(client: Peer, { id, meant, reason, bytes }: Unusable, warn: Warn): void {
  warn(`The client sent a line that is no message (${reason})`);
  refuse(client, { id, meant }, reason === 'not-json' ? notJson(bytes) : notAMessage());
}

export function refuseOversized(
  client: Peer,
  { id, meant, size }: Oversized,
  { maxMessageSize, warn }: { readonly maxMessageSize: number; readonly warn: Warn },
): void {
  const text = `Message of ${size} bytes is over the limit of ${maxMessageSize}; raise --max-message-size to let it pass`;
  warn(`The client's message was refused: ${text}`);
  refuse(client, { id, meant }, new RpcError(RpcErrorCode.INVALID_REQUEST, text));
}

function notJson(bytes: Buffer): RpcError {
  const fault = describeFault(bytes);
  const text = fault === undefined ? 'Not JSON' : `Not JSON: the message holds ${fault}`;
  return new RpcError(RpcErrorCode.PARSE_ERROR, text);
}

/** The error of the call in which a server has asked the client. */
function badAnswer({ message }: RpcError): RpcError {
  return new RpcError(RpcErrorCode.UNAVAILABLE, `The client's answer cannot be used. ${message}`);
}

function notAMessage(): RpcError {
  return new RpcError(RpcErrorCode.INVALID_REQUEST, 'Not a JSON-RPC 2.0 message');
}

export function batchRefused(): RpcError {
  return new RpcError(RpcErrorCode.INVALID_REQUEST, Texts.batchRefused());
}

/** A request is answered with why; a server that waits for the answer which this should have been hears it too. */
function refuse(client: Peer, { id, meant }: PartialHead, error: RpcError): void {
  if (id === undefined) return;
  if (meant === 'request') answerError(client, id, error);
  else if (meant === 'response') client.failRequest(id, badAnswer(error));
}
