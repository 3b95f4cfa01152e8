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

/** What clients want of all servers: that they wait, and how much they log. */
export class Wishes {
  readonly #options: WishesOptions;
  #isHolding = false;

  constructor(options: WishesOptions) {
    this.#options = options;
  }

  /** A client has stopped (or begun again) to read: the servers wait for it. */
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

  /** It is to log as much as the one wants that wants the most. */
  #tellLogLevel(server: Upstream): void {
    const { clients, logLevels } = this.#options;
    const asked = [...clients.clients, ...callsOf(server)].map(({ logLevel }) => logLevel);
    const most = LOG_LEVELS.find((level) => asked.includes(level));
    if (most !== undefined) logLevels.tell(server, most);
  }
}
