import type { Caller } from '../call/client-request.ts';
import type { Message } from '../wire/message.ts';
import type { Peer } from '../wire/peer.ts';

/** Bytes of queued requests from which on the client's input is paused. */
const MOST_BYTES = 16 * 1024 * 1024;

export interface QueuedRequest {
  readonly message: Message;
  readonly caller: Caller;
  ticket: number;
}

/** Queue of requests that arrived before the servers were up. A client may cancel one meanwhile. */
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

  /** Removes and returns the requests one by one, in their order. */
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
