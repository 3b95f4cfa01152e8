import type { McpConfig, ServerConfig } from '../../config/config.generated.ts';
import { configChanges, withoutLiveKeys, type ConfigChanges, type ServerConfigs } from '../../config/diff.ts';
import { serversOfGroup } from '../../config/groups.ts';
import { isSwitchedOff } from '../../config/server-kind.ts';
import { Texts } from '../../errors.ts';
import type { Log } from '../../log.ts';
import { fileEntry } from '../../state/server-record.ts';
import type { KnownServer } from '../../state/server-records.ts';
import { isRecord } from '../../wire/json/value-checks.ts';
import { isOwnEntry } from '../gateway-chain.ts';

/** Entries of servers in the config file, before variables were replaced. */
export type ServerEntries = Readonly<Record<string, unknown>>;

export interface DesiredServersOptions {
  readonly unexpanded?: ServerEntries;
  readonly configPath?: string;
  /** The group of which servers run; all unless set. */
  readonly group?: string;
  readonly log: Log;
}

/** Servers of the current config: all of them, and those that are meant to run. */
export class DesiredServers {
  readonly #options: DesiredServersOptions;
  #all: ServerConfigs;
  /** The servers of which the group has anything; all without a group. */
  #ofGroup: ServerConfigs;
  #entries: ServerEntries;

  constructor(config: McpConfig, options: DesiredServersOptions) {
    this.#options = options;
    this.#all = config.mcpServers;
    this.#ofGroup = this.#narrow(config);
    this.#entries = options.unexpanded ?? {};
  }

  /** Returns the keys of servers that neither the config nor the group leaves out, in the order of the config. */
  keys(): string[] {
    return Object.keys(this.#ofGroup).filter((key) => !isSwitchedOff(this.configOf(key)));
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

  /** The config has such a server, and the group has nothing of it. */
  isOutside(key: string): boolean {
    return Object.hasOwn(this.#all, key) && !Object.hasOwn(this.#ofGroup, key);
  }

  configOf(key: string): ServerConfig {
    return this.#all[key] ?? {};
  }

  #entryOf(key: string): unknown {
    return this.#entries[key] ?? this.#all[key];
  }

  /** Returns undefined where the config has no such server. */
  entryHash(key: string): string | undefined {
    return Object.hasOwn(this.#all, key) ? entryHash(this.#entryOf(key)) : undefined;
  }

  /** All of them, also those that are left out. */
  known(): KnownServer[] {
    return Object.entries(this.#all).map(([serverKey, server]) => ({
      serverKey,
      entry: this.#entryOf(serverKey),
      enabled: !isSwitchedOff(server),
    }));
  }

  /** Replaces the config; returns what that changes for the servers that are meant to run. */
  takeConfig(config: McpConfig, entries: ServerEntries): ConfigChanges {
    const before = this.#ofGroup;
    this.#all = config.mcpServers;
    this.#ofGroup = this.#narrow(config);
    this.#entries = entries;
    return configChanges(before, this.#ofGroup);
  }

  #narrow(config: McpConfig): ServerConfigs {
    const { group } = this.#options;
    return group === undefined ? config.mcpServers : serversOfGroup(config, group);
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
