import { LOG_LEVELS, type LogLevels } from '../call/log-levels.ts';
import { callsOf } from '../call/questions/ask.ts';
import type { Upstream } from '../upstream/upstream.ts';
import type { Clients } from './clients.ts';

export interface WishesOptions {
  readonly clients: Clients;
  readonly logLevels: LogLevels;
  /** All servers that can be heard, in every conversation that clients share. */
  talking(): readonly Upstream[];
  /** These, and those that clients have for themselves. */
  speaking(): readonly Upstream[];
}

/** Applies back-pressure and the log level of clients to all servers. */
export class Wishes {
  readonly #options: WishesOptions;
  #isHolding = false;

  constructor(options: WishesOptions) {
    this.#options = options;
  }

  /** Pauses all servers while a client does not read, and resumes them. */
  hold(hold: boolean): void {
    this.#isHolding = hold;
    for (const server of this.#options.speaking()) server.hold(hold);
  }

  /** A client wants to hear more or less. */
  logLevelChanged(): void {
    for (const server of this.#options.talking()) this.#tellLogLevel(server);
  }

  /** A server that has just come hears what the others know already. */
  tell(server: Upstream): void {
    this.join(server);
    this.#tellLogLevel(server);
  }

  /** One that has just come waits, where the others do. */
  join(server: Upstream): void {
    if (this.#isHolding) server.hold(true);
  }

  /** Sets the most verbose level that any client asked for. */
  #tellLogLevel(server: Upstream): void {
    const { clients, logLevels } = this.#options;
    const asked = [...clients.clients, ...callsOf(server)].map(({ logLevel }) => logLevel);
    const most = LOG_LEVELS.find((level) => asked.includes(level));
    if (most !== undefined) logLevels.tell(server, most);
  }
}
