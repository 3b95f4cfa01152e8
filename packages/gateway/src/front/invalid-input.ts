import { Texts, RpcError, RpcErrorCode } from '../errors.ts';
import { answerError } from '../wire/answer.ts';
import { describeInvalidText } from '../wire/describe-invalid.ts';
import type { InvalidInput } from '../wire/message.ts';
import type { PartialHead, Oversized } from '../wire/oversized.ts';
import type { Peer } from '../wire/peer.ts';

type Warn = (text: string) => void;

/** What a client sent is no message. */
export function refuseInvalid(
  client: Peer,
  { id, likelyKind, reason, bytes }: InvalidInput,
  warn: Warn,
): void {
  warn(`The client sent a line that is no message (${reason})`);
  refuse(client, { id, likelyKind }, reason === 'not-json' ? notJson(bytes) : notAMessage());
}

export function refuseOversized(
  client: Peer,
  { id, likelyKind, size }: Oversized,
  { maxMessageSize, warn }: { readonly maxMessageSize: number; readonly warn: Warn },
): void {
  const text = `Message of ${size} bytes is over the limit of ${maxMessageSize}; raise --max-message-size to let it pass`;
  warn(`The client's message was refused: ${text}`);
  refuse(client, { id, likelyKind }, new RpcError(RpcErrorCode.INVALID_REQUEST, text));
}

function notJson(bytes: Buffer): RpcError {
  const fault = describeInvalidText(bytes);
  const text = fault === undefined ? 'Not JSON' : `Not JSON: the message holds ${fault}`;
  return new RpcError(RpcErrorCode.PARSE_ERROR, text);
}

/** The error of the call in which a server has asked the client. */
function invalidAnswer({ message }: RpcError): RpcError {
  return new RpcError(RpcErrorCode.UNAVAILABLE, `The client's answer cannot be used. ${message}`);
}

function notAMessage(): RpcError {
  return new RpcError(RpcErrorCode.INVALID_REQUEST, 'Not a JSON-RPC 2.0 message');
}

export function batchRefused(): RpcError {
  return new RpcError(RpcErrorCode.INVALID_REQUEST, Texts.batchRefused());
}

/** A request is answered with why; a server that waits for the answer which this should have been hears it too. */
function refuse(client: Peer, { id, likelyKind }: PartialHead, error: RpcError): void {
  if (id === undefined) return;
  if (likelyKind === 'request') answerError(client, id, error);
  else if (likelyKind === 'response') client.failRequest(id, invalidAnswer(error));
}
