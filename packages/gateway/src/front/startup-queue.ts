import type { Caller } from '../call/client-request.ts';
import type { Message } from '../wire/message.ts';
import type { Peer } from '../wire/peer.ts';

/** What may wait; then the client waits too. */
const MOST_BYTES = 16 * 1024 * 1024;

export interface QueuedRequest {
  readonly message: Message;
  readonly caller: Caller;
  ticket: number;
}

/** Requests that came before the servers were up, in their order. A client may cancel one while it waits. */
export class StartupQueue {
  readonly #peer: Peer;
  readonly #requests = new Set<QueuedRequest>();
  #bytes = 0;

  constructor(peer: Peer) {
    this.#peer = peer;
  }

  add(message: Message, caller: Caller): void {
    const waiting: QueuedRequest = { message, caller, ticket: 0 };
    const remove = (): void => this.#leave(waiting);
    waiting.ticket = caller.origin.track({
      id: message.id,
      bytes: message.bytes.length,
      cancel: remove,
      abandon: remove,
    });
    this.#requests.add(waiting);
    this.#bytes += message.bytes.length;
    if (this.#bytes > MOST_BYTES) this.#peer.pause();
  }

  /** All that wait, one by one; each has left when it is handed out. */
  *takeAll(): Generator<QueuedRequest> {
    for (const waiting of this.#requests) {
      this.#leave(waiting);
      yield waiting;
    }
  }

  #leave(waiting: QueuedRequest): void {
    this.#requests.delete(waiting);
    waiting.caller.origin.untrack(waiting.ticket);
    this.#bytes -= waiting.message.bytes.length;
    if (this.#bytes <= MOST_BYTES) this.#peer.resume();
  }
}
