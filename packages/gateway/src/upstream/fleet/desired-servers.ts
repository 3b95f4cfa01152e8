import type { ServerConfig } from '../../config/config.generated.ts';
import { configChanges, type ConfigChanges } from '../../config/diff.ts';
import { isSwitchedOff } from '../../config/server-kind.ts';
import { withoutLiveKeys } from '../../config/tool-lists.ts';
import { Texts } from '../../errors.ts';
import type { Log } from '../../log.ts';
import { fileEntry } from '../../state/server-record.ts';
import type { KnownServer } from '../../state/server-records.ts';
import { isRecord } from '../../wire/json/is-record.ts';
import { isOwnEntry } from '../gateway-chain.ts';

/** Validated entries of servers. */
export type ServerConfigs = Readonly<Record<string, ServerConfig>>;
/** Entries of servers in the config file, before variables were replaced. */
export type ServerEntries = Readonly<Record<string, unknown>>;

export interface DesiredServersOptions {
  readonly unexpanded?: ServerEntries;
  readonly configPath?: string;
  readonly log: Log;
}

/** Servers of the current config. */
export class DesiredServers {
  readonly #options: DesiredServersOptions;
  #servers: ServerConfigs;
  #entries: ServerEntries;

  constructor(servers: ServerConfigs, options: DesiredServersOptions) {
    this.#options = options;
    this.#servers = servers;
    this.#entries = options.unexpanded ?? {};
  }

  /** Returns the keys of servers that the config does not switch off, in its order. */
  keys(): string[] {
    return Object.keys(this.#servers).filter((key) => !isSwitchedOff(this.configOf(key)));
  }

  /** Leaves out the servers whose entries start this very gateway. */
  withoutOwn(keys: readonly string[]): string[] {
    const { configPath, log } = this.#options;
    return keys.filter((key) => {
      const isOwn = isOwnEntry(this.configOf(key), configPath);
      if (isOwn) log.warn(Texts.skippedLoop(key, true));
      return !isOwn;
    });
  }

  configOf(key: string): ServerConfig {
    return this.#servers[key] ?? {};
  }

  #entryOf(key: string): unknown {
    return this.#entries[key] ?? this.#servers[key];
  }

  /** Returns undefined where the config has no such server. */
  entryHash(key: string): string | undefined {
    return Object.hasOwn(this.#servers, key) ? entryHash(this.#entryOf(key)) : undefined;
  }

  /** All of them, also those that are left out. */
  known(): KnownServer[] {
    return Object.entries(this.#servers).map(([serverKey, server]) => ({
      serverKey,
      entry: this.#entryOf(serverKey),
      enabled: !isSwitchedOff(server),
    }));
  }

  /** Goes over to another config, and tells what that changes. */
  use(servers: ServerConfigs, entries: ServerEntries): ConfigChanges {
    const changes = configChanges(this.#servers, servers);
    this.#servers = servers;
    this.#entries = entries;
    return changes;
  }
}

/** Entries are replaced, never changed. Each is hashed once: a start asks for its hash several times. */
const hashes = new WeakMap<object, string>();

/** Returns a text that changes with whatever an entry says of the server itself; its time limit, name and filters change nothing of what it lists. */
export function entryHash(entry: unknown): string {
  if (!isRecord(entry)) return fileEntry(entry, true).hash;
  const hash = hashes.get(entry) ?? fileEntry(withoutLiveKeys(entry), true).hash;
  hashes.set(entry, hash);
  return hash;
}
