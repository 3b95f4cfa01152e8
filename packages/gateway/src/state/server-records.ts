import { StoreError, type Store } from '@weir/server/store';
import { shortHash } from '../hash.ts';
import type { Log } from '../log.ts';
import { isRecord } from '../wire/json/value-checks.ts';
import {
  fileEntry,
  readRecord,
  recallRecord,
  type FileEntry,
  type ServerRecord,
  type StoredRecord,
} from './server-record.ts';

export interface ServerRecordsOptions {
  readonly store: Store;
  /** The config file: two of them may have servers of the same key. */
  readonly configPath: string;
  readonly log: Log;
}

/** A server and its entry in the config file. */
export interface KnownServer {
  readonly serverKey: string;
  readonly entry: unknown;
  /** False where the file leaves the server out. */
  readonly enabled: boolean;
}

interface RecordChange {
  readonly record: ServerRecord;
  /** True where the record says more than that the server has run. */
  readonly isUrgent: boolean;
  /** The server as the file had it then; the file may change before this is written. */
  readonly server: KnownServer;
}

type Records = ReadonlyMap<string, StoredRecord>;

/** Milliseconds before a record is written that only says when a server ran: a start has other things to do. */
const WRITE_AFTER_MS = 5000;
/** A later version may mean something else. */
const VERSION = 1;

/** Keeps from start to start which servers are disabled, and how often others have failed. One value holds a whole config. */
export class ServerRecords {
  readonly #options: ServerRecordsOptions;
  readonly #name: string;
  #servers: ReadonlyMap<string, KnownServer>;
  readonly #pending = new Map<string, RecordChange>();
  /** Reason why the last record of a server was not written, by server. */
  readonly #unkept = new Map<string, string>();
  #lastReason: string | undefined;
  #writing: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: ServerRecordsOptions, servers: Iterable<KnownServer>) {
    this.#options = options;
    this.#name = `${shortHash(options.configPath)}.json`;
    this.#servers = byKey(servers);
  }

  /** Goes over to the servers of another config. */
  setServers(servers: Iterable<KnownServer>): void {
    this.#servers = byKey(servers);
  }

  /** Returns the records of the servers that are disabled or have failed. With a damaged file, all servers are new. */
  async recall(): Promise<Map<string, ServerRecord>> {
    const found = new Map<string, ServerRecord>();
    for (const [serverKey, stored] of await this.#readAll()) {
      const server = this.#servers.get(serverKey);
      if (server === undefined || (stored.enabled && stored.failureCount === 0)) continue;
      const file = entryOf(server);
      const record = recallRecord(stored, file);
      found.set(serverKey, record);
      const isOutdated = stored.file.hash !== file.hash || stored.file.enabled !== file.enabled;
      if (isOutdated) this.remember(serverKey, record, true);
    }
    return found;
  }

  /** Writes a record soon; at once where it says more than that the server has run. */
  remember(serverKey: string, record: ServerRecord, isUrgent: boolean): void {
    const server = this.#servers.get(serverKey);
    if (server === undefined) return;
    const wasUrgent = this.#pending.get(serverKey)?.isUrgent ?? false;
    this.#pending.set(serverKey, { record, isUrgent: isUrgent || wasUrgent, server });
    if (isUrgent) void this.flush();
    else this.#timer ??= setTimeout(() => void this.flush(), WRITE_AFTER_MS).unref();
  }

  /** Resolves when everything is written that can be. */
  flush(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#pending.size > 0) this.#writing ??= this.#writeAll();
    return this.#writing ?? Promise.resolve();
  }

  /** Resolves to the reason why the record of a server could not be written; undefined where all is written. */
  async persistError(serverKey: string): Promise<string | undefined> {
    await this.flush();
    return this.#unkept.get(serverKey);
  }

  async #readAll(): Promise<Records> {
    const { store, configPath, log } = this.#options;
    try {
      return this.#parse(await store.get(this.#name));
    } catch (error) {
      log.warn(
        `Cannot read the stored state of the servers in ${configPath}, so only the config counts: ${(error as Error).message}`,
      );
      return new Map();
    }
  }

  async #writeAll(): Promise<void> {
    // Changes that arrive while others are written are written next.
    while (this.#pending.size > 0) {
      const changes = new Map(this.#pending);
      this.#pending.clear();
      await this.#write(changes);
    }
    this.#writing = undefined;
  }

  async #write(changes: ReadonlyMap<string, RecordChange>): Promise<void> {
    try {
      await this.#options.store.update(this.#name, (before) => this.#merge(before, changes));
      this.#lastReason = undefined;
      for (const serverKey of changes.keys()) this.#unkept.delete(serverKey);
    } catch (error) {
      const reason = (error as Error).message;
      for (const serverKey of changes.keys()) this.#unkept.set(serverKey, reason);
      if (this.#lastReason !== reason)
        this.#options.log.warn(`Cannot store the state of servers (enabled or disabled): ${reason}`);
      this.#lastReason = reason;
    }
  }

  /**
   * Puts changes into the records. Another gateway with the same config may have disabled a server that runs here: only an
   * urgent change enables it. A damaged value may say so, too, so that only an urgent change replaces it.
   */
  #merge(before: Buffer | undefined, changes: ReadonlyMap<string, RecordChange>): Buffer {
    const isUrgent = [...changes.values()].some((change) => change.isUrgent);
    const records = new Map(isUrgent ? this.#tryToParse(before) : this.#parse(before));
    for (const [serverKey, change] of changes)
      records.set(serverKey, mergeRecord(records.get(serverKey), change));
    const servers = Object.fromEntries(records);
    return Buffer.from(
      `${JSON.stringify({ version: VERSION, config: this.#options.configPath, servers }, null, 1)}\n`,
    );
  }

  #tryToParse(text: Buffer | undefined): Records {
    try {
      return this.#parse(text);
    } catch {
      return new Map();
    }
  }

  /** Throws where this is not a file of records; leaves out a server whose record is damaged. */
  #parse(text: Buffer | undefined): Records {
    if (text === undefined) return new Map();
    const { store } = this.#options;
    try {
      const { version, servers } = JSON.parse(text.toString('utf8')) as Record<string, unknown>;
      if (version !== VERSION || !isRecord(servers)) throw new Error('it does not hold the state of servers');
      return new Map(
        Object.entries(servers).flatMap(([serverKey, value]) => {
          const record = readRecord(value);
          return record === undefined ? [] : [[serverKey, record] as const];
        }),
      );
    } catch (error) {
      const place = store.locate(this.#name);
      // No text of the parser, which quotes the file.
      throw new StoreError(`${place} is damaged. Delete it to start over.`, { place, cause: error });
    }
  }
}

function mergeRecord(
  stored: StoredRecord | undefined,
  { record, isUrgent, server }: RecordChange,
): StoredRecord {
  const file = entryOf(server);
  if (isUrgent || stored === undefined) return { ...record, file };
  return { ...recallRecord(stored, file), lastConnectedAt: record.lastConnectedAt, file };
}

function entryOf({ entry, enabled }: KnownServer): FileEntry {
  return fileEntry(entry ?? null, enabled);
}

function byKey(servers: Iterable<KnownServer>): Map<string, KnownServer> {
  return new Map(Array.from(servers, (server) => [server.serverKey, server]));
}
