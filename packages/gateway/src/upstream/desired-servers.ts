import type { ServerConfig } from '../config/config.generated.ts';
import { configChanges, type ConfigChanges } from '../config/diff.ts';
import { isSwitchedOff } from '../config/server-kind.ts';
import type { KnownServer } from '../state/server-records.ts';

export type Servers = Readonly<Record<string, ServerConfig>>;
/** Entries of servers in the config file, before variables were replaced. */
export type Entries = Readonly<Record<string, unknown>>;

/** Servers of the current config. */
export class DesiredServers {
  #servers: Servers;
  #entries: Entries;

  constructor(servers: Servers, entries: Entries) {
    this.#servers = servers;
    this.#entries = entries;
  }

  /** Returns the keys of servers that the config does not switch off, in its order. */
  keys(): string[] {
    return Object.keys(this.#servers).filter((key) => !isSwitchedOff(this.configOf(key)));
  }

  /** The config has such a server, left out or not. */
  has(key: string): boolean {
    return Object.hasOwn(this.#servers, key);
  }

  configOf(key: string): ServerConfig {
    return this.#servers[key] ?? {};
  }

  entryOf(key: string): unknown {
    return this.#entries[key] ?? this.#servers[key];
  }

  /** All of them, also those that are left out. */
  known(): KnownServer[] {
    return Object.entries(this.#servers).map(([serverKey, server]) => ({
      serverKey,
      entry: this.entryOf(serverKey),
      enabled: !isSwitchedOff(server),
    }));
  }

  /** Goes over to another config, and tells what that changes. */
  use(servers: Servers, entries: Entries): ConfigChanges {
    const changes = configChanges(this.#servers, servers);
    this.#servers = servers;
    this.#entries = entries;
    return changes;
  }
}
