import type { Caller } from '../call/client-request.ts';
import type { Message } from '../wire/message.ts';
import type { Peer } from '../wire/peer.ts';

/** What may wait; then the client waits too. */
const MOST_BYTES = 16 * 1024 * 1024;

export interface Waiting {
  readonly message: Message;
  readonly caller: Caller;
  ticket: number;
}

/** Requests that came before the servers were up, in their order. A client may cancel one while it waits. */
export class WaitingRoom {
  readonly #peer: Peer;
  readonly #waiting = new Set<Waiting>();
  #bytes = 0;

  constructor(peer: Peer) {
    this.#peer = peer;
  }

  enter(message: Message, caller: Caller): void {
    const waiting: Waiting = { message, caller, ticket: 0 };
    const leave = (): void => this.#leave(waiting);
    waiting.ticket = caller.origin.track({
      id: message.id,
      bytes: message.bytes.length,
      cancel: leave,
      abandon: leave,
    });
    this.#waiting.add(waiting);
    this.#bytes += message.bytes.length;
    if (this.#bytes > MOST_BYTES) this.#peer.pause();
  }

  /** All that wait, one by one; each has left when it is handed out. */
  *callIn(): Generator<Waiting> {
    for (const waiting of this.#waiting) {
      this.#leave(waiting);
      yield waiting;
    }
  }

  #leave(waiting: Waiting): void {
    this.#waiting.delete(waiting);
    waiting.caller.origin.untrack(waiting.ticket);
    this.#bytes -= waiting.message.bytes.length;
    if (this.#bytes <= MOST_BYTES) this.#peer.resume();
  }
}
