import type { ParameterHeader } from '../../protocol/param-headers.ts';
import type { Account } from '../../wire/account.ts';
import { splice, type Line } from '../../wire/json/splice.ts';
import type { Link } from '../../wire/link.ts';
import type { Message } from '../../wire/message.ts';
import type { HttpClient } from './http-client.ts';
import type { RemoteHandlers } from './remote-handlers.ts';
import { SseLink } from './sse-link.ts';
import { StreamableLink } from './streamable-link.ts';

export interface RemoteLinkOptions {
  /** How the server is reached by Streamable HTTP; undefined where only the older kind is configured. */
  readonly streamable: HttpClient | undefined;
  /** How it is reached by HTTP+SSE. */
  readonly sse: HttpClient;
  readonly maxMessageSize: number;
  readonly account: Account;
  readonly handlers: RemoteHandlers;
  readonly markedIn: (tool: string) => readonly ParameterHeader[] | undefined;
}

/** A link to a server at an address: Streamable HTTP, or HTTP+SSE where the server knows only that. */
export class RemoteLink implements Link {
  readonly #options: RemoteLinkOptions;
  #link: StreamableLink | SseLink;

  constructor(options: RemoteLinkOptions) {
    this.#options = options;
    this.#link =
      options.streamable === undefined
        ? this.#olderKind(options.handlers)
        : this.#newerKind(options.streamable);
  }

  /** The older kind is nothing but sessions. */
  get keepsSession(): boolean {
    return this.#link instanceof SseLink || this.#link.keepsSession;
  }

  get wasReached(): boolean {
    const { streamable, sse } = this.#options;
    return sse.wasReached || streamable?.wasReached === true;
  }

  get account(): Account {
    return this.#options.account;
  }

  get backlog(): number {
    return this.#link.backlog;
  }

  send(line: Line): void {
    this.#link.send(line);
  }

  pause(): void {
    this.#link.pause();
  }

  resume(): void {
    this.#link.resume();
  }

  close(): void {
    this.#link.close();
  }

  async end(): Promise<void> {
    await this.#link.end();
    this.#options.streamable?.close();
    this.#options.sse.close();
  }

  #newerKind(client: HttpClient): StreamableLink {
    const { maxMessageSize, account, handlers, markedIn } = this.#options;
    const refusedOpening = (opening: Message, what: string): void => this.#fallBack(opening, what);
    return new StreamableLink({ client, maxMessageSize, account, handlers, markedIn, refusedOpening });
  }

  #olderKind(handlers: RemoteHandlers): SseLink {
    const { sse: client, maxMessageSize, account } = this.#options;
    return new SseLink({ client, url: client.url, maxMessageSize, account, handlers });
  }

  /** If that fails as well, what the server said first is told too. */
  #fallBack(opening: Message, what: string): void {
    const { handlers } = this.#options;
    const lost = (id: number, then: string): void =>
      handlers.lost(id, id === Number(opening.id) ? `${what}; and as an HTTP+SSE server it ${then}` : then);
    this.#link = this.#olderKind({ ...handlers, lost });
    this.#link.send(splice(opening.bytes, []));
  }
}
