import { LOG_LEVELS, type LogLevels } from '../call/log-levels.ts';
import { callsOf } from '../call/questions/ask.ts';
import type { Upstream } from '../upstream/upstream.ts';
import type { Client } from './clients.ts';

export interface LogLevelSyncOptions {
  readonly clients: ReadonlySet<Client>;
  readonly logLevels: LogLevels;
  /** Returns the connections to servers that clients share. */
  servers(): readonly Upstream[];
}

/** Sets the most verbose log level that any client asked for on shared servers. */
export class LogLevelSync {
  readonly #options: LogLevelSyncOptions;

  constructor(options: LogLevelSyncOptions) {
    this.#options = options;
  }

  /** Sets it on all servers, because a client asked for another level. */
  update(): void {
    for (const server of this.#options.servers()) this.include(server);
  }

  /** Sets it on a server that has just connected. */
  include(server: Upstream): void {
    const { clients, logLevels } = this.#options;
    const asked = [...clients, ...callsOf(server)].map(({ logLevel }) => logLevel);
    const most = LOG_LEVELS.find((level) => asked.includes(level));
    if (most !== undefined) logLevels.tell(server, most);
  }
}
