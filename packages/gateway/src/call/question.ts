import { metaEdits } from '../bridge/requests.ts';
import { RpcError, RpcErrorCode } from '../errors.ts';
import type { Upstream } from '../upstream/upstream.ts';
import { errorLine } from '../wire/answer.ts';
import type { Message } from '../wire/message.ts';
import type { Caller } from './caller.ts';
import { relay } from './relay.ts';

/** Passes a server's request (sampling, elicitation, roots) on to a client of its era. */
export function ask(upstream: Upstream, client: Caller, message: Message): void {
  if (upstream.era !== client.era) {
    const text = `${message.method} cannot be passed on: the client speaks another revision of the protocol`;
    return upstream.peer.send(errorLine(message.id, new RpcError(RpcErrorCode.METHOD_NOT_FOUND, text)));
  }
  relay(message, {
    from: upstream.peer,
    to: client.peer,
    name: 'The client',
    edits: (asked, token) =>
      metaEdits(asked, { from: { era: upstream.era, envelope: client.envelope }, to: client }, token),
  });
}
