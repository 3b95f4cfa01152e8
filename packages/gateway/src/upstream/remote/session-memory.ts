import { stringValue } from '../../wire/json/members.ts';
import { lineBytes, splice } from '../../wire/json/splice.ts';
import type { Message } from '../../wire/message.ts';

/** What a server was told that a new session has to hear again: the handshake, the log level, the watched resources. */
export class SessionMemory {
  #opening: Message | undefined;
  #level: Message | undefined;
  readonly #watched = new Map<string, Message>();

  /** The handshake, once there was one. */
  get opening(): Message | undefined {
    return this.#opening;
  }

  note(message: Message): void {
    if (message.kind !== 'request') return;
    if (message.method === 'initialize') this.#opening = message;
    else if (message.method === 'logging/setLevel') this.#level = message;
    else if (message.method === 'resources/subscribe') this.#watched.set(uriOf(message), message);
    else if (message.method === 'resources/unsubscribe') this.#watched.delete(uriOf(message));
  }

  /** All but the handshake, under ids that nobody waits for. */
  replay(): Buffer[] {
    const told = [...(this.#level ? [this.#level] : []), ...this.#watched.values()];
    return told.map((message, index) => withId(message, `"again-${index}"`));
  }
}

function uriOf({ params }: Message): string {
  return (params && stringValue(params, 'uri')) ?? '';
}

function withId({ bytes, id, idAt }: Message, text: string): Buffer {
  return lineBytes(splice(bytes, [{ start: idAt, end: idAt + id.length, text }]));
}
