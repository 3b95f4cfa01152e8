import { Holding, type Account } from '../../wire/account.ts';
import type { Message } from '../../wire/message.ts';

/** Memory that a message takes beside its bytes. */
const MESSAGE_BYTES = 512;

/** Messages that are held back while a server cannot be spoken to, charged to its account. */
export class HeldMessages {
  readonly #holding: Holding;
  #messages: Message[] | undefined;

  constructor(account: Account) {
    this.#holding = new Holding(account);
  }

  /** The messages; undefined while none are held back. */
  get current(): readonly Message[] | undefined {
    return this.#messages;
  }

  get bytes(): number {
    return this.#holding.bytes;
  }

  /** Begins to hold back messages. */
  begin(): void {
    this.#messages = [];
    this.#holding.bytes = 0;
  }

  /** Holds back a message. False: it can be sent at once. */
  add(message: Message): boolean {
    if (this.#messages === undefined) return false;
    this.#messages.push(message);
    this.#holding.bytes += MESSAGE_BYTES + message.bytes.length;
    return true;
  }

  /** Drops the request with this id. */
  drop(id: number): void {
    if (this.#messages === undefined || this.#messages.length === 0) return;
    const kept = this.#messages.filter((message) => Number(message.id) !== id);
    this.begin();
    for (const message of kept) this.add(message);
  }

  /** Ends the holding back; returns what was held. */
  end(): readonly Message[] {
    const messages = this.#messages ?? [];
    this.#messages = undefined;
    this.#holding.bytes = 0;
    return messages;
  }
}
