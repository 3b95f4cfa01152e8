import type { Message } from '../wire/message.ts';
import type { Peer } from '../wire/peer.ts';

/** What may wait; then the client waits too. */
const MOST_BYTES = 16 * 1024 * 1024;

interface Waiting {
  readonly message: Message;
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

  enter(message: Message): void {
    const waiting: Waiting = { message, ticket: 0 };
    const leave = (): void => this.#leave(waiting);
    waiting.ticket = this.#peer.serve({ id: message.id, cancel: leave, abandon: leave });
    this.#waiting.add(waiting);
    this.#bytes += message.bytes.length;
    if (this.#bytes > MOST_BYTES) this.#peer.pause();
  }

  /** All that wait, one by one; each has left when it is handed out. */
  *callIn(): Generator<Message> {
    for (const waiting of this.#waiting) {
      this.#leave(waiting);
      yield waiting.message;
    }
  }

  #leave(waiting: Waiting): void {
    this.#waiting.delete(waiting);
    this.#peer.served(waiting.ticket);
    this.#bytes -= waiting.message.bytes.length;
    if (this.#bytes <= MOST_BYTES) this.#peer.resume();
  }
}
