import { RpcError, RpcErrorCode } from '../errors.ts';
import type { Log } from '../log.ts';
import { errorLine } from '../wire/answer.ts';
import { describeInvalidInput } from '../wire/describe-invalid.ts';
import type { InvalidInput } from '../wire/message.ts';
import type { PartialHead, Oversized } from '../wire/oversized.ts';
import type { Peer } from '../wire/peer.ts';
import { Unavailable } from './unavailable.ts';

/** The server that sent an invalid message. */
interface Sender {
  readonly serverKey: string;
  readonly log: Log;
  readonly maxMessageSize: number;
}

interface RefusedMessage {
  readonly peer: Peer;
  readonly serverKey: string;
  readonly why: string;
  /** The message, where its text is damaged. */
  readonly damaged?: Buffer | undefined;
}

/** Refuses what a server sent; `how` says how it came, before what it is. */
export function refuseInvalid(peer: Peer, sender: Sender, line: InvalidInput, how: string = 'sent'): void {
  const why = `${how} ${describeInvalidInput(line)}`;
  // Other lines are the noise of programs that log to stdout.
  if (line.likelyKind !== undefined) sender.log.warn(line.id === undefined ? `${why}; it was dropped` : why);
  const damaged = line.reason === 'not-json' ? line.bytes : undefined;
  refuse(line, { peer, serverKey: sender.serverKey, why, damaged });
}

/** Refuses a message that was too large to be kept. */
export function refuseOversized(peer: Peer, sender: Sender, line: Oversized): void {
  const why = `sent a message of ${line.size} bytes, over the limit of ${sender.maxMessageSize}; raise --max-message-size to let it pass`;
  sender.log.warn(why);
  refuse(line, { peer, serverKey: sender.serverKey, why });
}

/** Fails the one call that waits for it; a request of the server's is answered with why. */
function refuse({ id, likelyKind }: PartialHead, { peer, serverKey, why, damaged }: RefusedMessage): void {
  if (id === undefined) return;
  if (likelyKind === 'response') peer.failRequest(id, new Unavailable(serverKey, why), damaged);
  else if (likelyKind === 'request')
    peer.reply(errorLine(id, new RpcError(RpcErrorCode.INVALID_REQUEST, `The server ${why}`)));
}
