import { readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { shortHash } from '../hash.ts';
import type { Log } from '../log.ts';
import type { KeyValueStore } from './key-value-store.ts';
import { makeFolder } from './make-folder.ts';
import { fileEntry, readRecord, recallRecord, type FileEntry, type ServerRecord } from './server-record.ts';

export interface ServerMemoryOptions {
  readonly folder: string;
  /** The config file: two of them may have servers of the same key. */
  readonly configPath: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly log: Log;
}

/** A server and what the file says of it. */
export interface KnownServer {
  readonly serverKey: string;
  readonly entry: unknown;
  /** Not left out by the file. */
  readonly enabled: boolean;
}

interface Change {
  readonly record: ServerRecord;
  /** It says more than that the server has run. */
  readonly isUrgent: boolean;
  /** What the file said then: it may have gone over to something else before this is written. */
  readonly server: KnownServer;
}

/** What is only good to know is written after this long; loading what it is encrypted with would slow down a start. */
const WRITE_AFTER_MS = 5000;

/** Remembers from start to start which servers are disabled, and how often others have failed. */
export class ServerMemory {
  readonly #options: ServerMemoryOptions;
  #servers: ReadonlyMap<string, KnownServer>;
  readonly #pending = new Map<string, Change>();
  /** Why what was to be kept the last time is not, by server. */
  readonly #unkept = new Map<string, string>();
  #store: Promise<KeyValueStore> | undefined;
  #writing: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: ServerMemoryOptions, servers: Iterable<KnownServer>) {
    this.#options = options;
    this.#servers = byKey(servers);
  }

  /** The servers of another config. */
  setServers(servers: Iterable<KnownServer>): void {
    this.#servers = byKey(servers);
  }

  /** The servers of which more is known than that they have run; a folder is all that has to be read for it. */
  noted(): string[] {
    const marks = new Set(readFolder(this.#marks()));
    if (marks.size === 0) return [];
    return [...this.#servers.keys()].filter((serverKey) => marks.has(this.#markOf(serverKey)));
  }

  /** What counts for these servers now. One whose record cannot be read is as if it were new. */
  async recall(serverKeys: readonly string[]): Promise<Map<string, ServerRecord>> {
    const found = await Promise.all(
      serverKeys.map(async (serverKey) => [serverKey, await this.#recall(serverKey)] as const),
    );
    return new Map(found.filter((pair): pair is readonly [string, ServerRecord] => pair[1] !== undefined));
  }

  /** Writes it soon; at once where it says more than that the server has run. */
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

  /** Undefined where all is written that there is to know of a server. */
  async persistError(serverKey: string): Promise<string | undefined> {
    await this.flush();
    return this.#unkept.get(serverKey);
  }

  async #recall(serverKey: string): Promise<ServerRecord | undefined> {
    try {
      const file = entryOf(this.#servers.get(serverKey));
      const store = await this.#opened();
      const stored = readRecord(await store.get(this.#keyOf(serverKey)));
      const record = recallRecord(stored, file);
      const isOld = stored?.file.hash !== file.hash || stored.file.enabled !== file.enabled;
      if (isOld) this.remember(serverKey, record, true);
      return record;
    } catch (error) {
      this.#options.log.warn(`What was known of server '${serverKey}' is lost: ${(error as Error).message}`);
      return undefined;
    }
  }

  async #writeAll(): Promise<void> {
    for (const [serverKey, change] of this.#pending) {
      this.#pending.delete(serverKey);
      // One after the other: nobody waits for them, and a disk has other things to do.
      await this.#write(serverKey, change);
    }
    this.#writing = undefined;
  }

  /** The mark comes first and goes last: without it nobody would look at the record before a start. */
  async #write(serverKey: string, change: Change): Promise<void> {
    const mark = join(this.#marks(), this.#markOf(serverKey));
    try {
      const record = await this.#merged(serverKey, change);
      const isNotable = !record.enabled || record.failureCount > 0;
      if (isNotable) makeMark(this.#marks(), mark);
      const store = await this.#opened();
      await store.set(this.#keyOf(serverKey), { ...record, file: entryOf(change.server) });
      if (!isNotable) rmSync(mark, { force: true });
      this.#unkept.delete(serverKey);
    } catch (error) {
      const reason = (error as Error).message;
      const isRepeated = this.#unkept.get(serverKey) === reason;
      this.#unkept.set(serverKey, reason);
      if (!isRepeated) this.#options.log.warn(`The state of server '${serverKey}' is not kept: ${reason}`);
    }
  }

  /**
   * Another gateway with the same config may have disabled it: that it runs here is no objection. What cannot be read may
   * say so, too, and is left alone.
   */
  async #merged(serverKey: string, { record, isUrgent, server }: Change): Promise<ServerRecord> {
    if (isUrgent) return record;
    const store = await this.#opened();
    const stored = readRecord(await store.get(this.#keyOf(serverKey)));
    if (stored === undefined) return record;
    const { lastConnectedAt } = record;
    return { ...recallRecord(stored, entryOf(server)), lastConnectedAt };
  }

  /** Loaded with the first thing that is worth keeping. */
  #opened(): Promise<KeyValueStore> {
    const { folder, env, log } = this.#options;
    this.#store ??= import('./store.ts').then(({ openStore }) => openStore({ folder, env, log }));
    // A disk that was full or a keychain that was locked may not be so the next time.
    this.#store.catch(() => (this.#store = undefined));
    return this.#store;
  }

  #keyOf(serverKey: string): string {
    return JSON.stringify(['server', this.#options.configPath, serverKey]);
  }

  #marks(): string {
    return join(this.#options.folder, 'servers');
  }

  #markOf(serverKey: string): string {
    return shortHash(this.#keyOf(serverKey));
  }
}

function entryOf({ entry = null, enabled = true }: Partial<KnownServer> = {}): FileEntry {
  return fileEntry(entry, enabled);
}

function byKey(servers: Iterable<KnownServer>): Map<string, KnownServer> {
  return new Map(Array.from(servers, (server) => [server.serverKey, server]));
}

function makeMark(folder: string, mark: string): void {
  makeFolder(folder);
  writeFileSync(mark, '', { mode: 0o600 });
}

function readFolder(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
