import { dirname, join } from 'node:path';
import { readWhole } from '@weir/server/internal';
import type { Store } from '@weir/server/store';
import { shortHash } from '../../hash.ts';
import type { Log } from '../../log.ts';
import { canonicalJson } from '../../wire/json/canonical-json.ts';
import { isSameSnapshot, type CatalogueSnapshot } from './catalogue-snapshot.ts';
import { readLock, type LockedSnapshot, type LockedSnapshots } from './read-lock.ts';
import {
  decodeSnapshots,
  encodeSnapshots,
  type StoredSnapshot,
  type StoredSnapshots,
} from './stored-snapshot.ts';

/** Stands beside the config. */
export const LOCK_FILE = 'weir.lock.json';
/** Options to read the lock file, which another user may have checked out. */
const LOCK_FILE_READ = { most: 256 * 1024 * 1024 };

export interface CataloguesOptions {
  readonly store: Store;
  /** The config file; without one, servers have no names that last, and nothing is kept. */
  readonly configPath: string | undefined;
  readonly log: Log;
  /** The command that hints tell users to run. */
  readonly commandName: string;
  /** Returns the hash of a server's entry; undefined where the config has no such server. A changed entry may list other things. */
  entryHash(serverKey: string): string | undefined;
}

/** A snapshot from an earlier start. */
export interface Recalled {
  readonly snapshot: CatalogueSnapshot;
  /** False where the server offered this to a client with other capabilities. */
  readonly isForClient: boolean;
}

/** Milliseconds before new snapshots are written: a start is over by then. The end of the gateway writes them at once. */
const WRITE_AFTER_MS = 2000;
/** Sets of client capabilities for which snapshots are kept: clients choose what they send. */
const MOST_CLIENTS = 8;
/** Milliseconds that stored snapshots stay in memory: they stand in for servers that start. */
const START_LASTS_MS = 60_000;

/**
 * Remembers the lists of servers, by the capabilities of the client that they were listed for. The lock file counts, until a
 * server is seen to list other things.
 */
export class Catalogues {
  readonly #options: CataloguesOptions;
  /** Begins the names of all values of this config. */
  readonly #prefix: string;
  /** Stored snapshots by the names of their values, the latest first. Each is decoded when it is used. */
  readonly #stored = new Map<string, () => StoredSnapshots>();
  /** Snapshots of servers that have run, for the present client. */
  readonly #learnt = new Map<string, StoredSnapshot>();
  /** Servers of the lock file that have been read; undefined for those that were edited. */
  readonly #read = new Map<string, CatalogueSnapshot | undefined>();
  #lock: LockedSnapshots = new Map();
  #name: string;
  #isUnsaved = false;
  #written: Promise<void> = Promise.resolve();
  #timer: NodeJS.Timeout | undefined;
  #release: NodeJS.Timeout | undefined;

  constructor(options: CataloguesOptions) {
    this.#options = options;
    this.#prefix = `${shortHash(options.configPath ?? '')}-`;
    this.#name = this.#nameFor('{}');
  }

  /** Reads the lock file and the store. Nothing can be recalled before. */
  async load(): Promise<void> {
    const { store, configPath } = this.#options;
    if (configPath === undefined) return;
    this.#lock = this.#readLock(join(dirname(configPath), LOCK_FILE));
    this.#read.clear();
    await this.#written;
    const entries = (await store.list(this.#prefix)).slice(0, MOST_CLIENTS);
    this.#stored.clear();
    for (const { name } of entries) {
      const value = await store.get(name).catch(() => undefined);
      let decoded: StoredSnapshots | undefined;
      this.#stored.set(name, () => (decoded ??= decodeSnapshots(value)));
    }
    clearTimeout(this.#release);
    this.#release = setTimeout(() => this.#stored.clear(), START_LASTS_MS).unref();
  }

  /** Recalls and keeps snapshots for a client with these capabilities, from now on. */
  serve(capabilities: string): void {
    const name = this.#nameFor(capabilities);
    if (name === this.#name) return;
    void this.flush();
    this.#learnt.clear();
    this.#name = name;
  }

  recall(serverKey: string): Recalled | undefined {
    const found = this.#valid(
      serverKey,
      this.#learnt.get(serverKey) ?? this.#storedFor(this.#name, serverKey),
    );
    if (found !== undefined) return { snapshot: found, isForClient: true };
    const other = [...this.#stored.keys()].find((name) => name !== this.#name);
    const stored = other === undefined ? undefined : this.#storedFor(other, serverKey);
    return this.#isOfEntry(serverKey, stored) ? { snapshot: stored.snapshot, isForClient: false } : undefined;
  }

  /** Keeps the snapshot of a server that runs. */
  learn(serverKey: string, snapshot: CatalogueSnapshot): void {
    const entry = this.#options.entryHash(serverKey);
    if (entry === undefined || this.#options.configPath === undefined) return;
    this.#learnt.set(serverKey, { entry, lock: this.#lock.get(serverKey)?.hash, snapshot });
    this.#isUnsaved = true;
    this.#timer ??= setTimeout(() => void this.flush(), WRITE_AFTER_MS).unref();
  }

  /** Resolves when all that has been learnt is written, or cannot be. */
  flush(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#isUnsaved) {
      const [name, learnt] = [this.#name, new Map(this.#learnt)];
      this.#written = this.#written.then(() => this.#write(name, learnt));
    }
    this.#isUnsaved = false;
    return this.#written;
  }

  /** Writes snapshots that differ from the stored ones. Another gateway of the same config may have stored some meanwhile. */
  async #write(name: string, learnt: ReadonlyMap<string, StoredSnapshot>): Promise<void> {
    const { store, log } = this.#options;
    try {
      if (this.#changesIn(learnt, await store.get(name).catch(() => undefined)).length === 0) return;
      await store.update(name, (before) => {
        const changes = this.#changesIn(learnt, before);
        return changes.length === 0
          ? undefined
          : encodeSnapshots(new Map([...this.#ofConfig(before), ...changes]));
      });
      for (const old of (await store.list(this.#prefix)).slice(MOST_CLIENTS)) await store.delete(old.name);
    } catch (error) {
      log.debug?.(`Weir cannot cache the lists of servers: ${(error as Error).message}`);
    }
  }

  #changesIn(
    learnt: ReadonlyMap<string, StoredSnapshot>,
    before: Buffer | undefined,
  ): [string, StoredSnapshot][] {
    const stored = decodeSnapshots(before);
    return [...learnt].filter(([serverKey, found]) => {
      // The config may have another entry for the server by now.
      if (!this.#isOfEntry(serverKey, found)) return false;
      const known = this.#valid(serverKey, stored.get(serverKey));
      return known === undefined || !isSameSnapshot(known, found.snapshot);
    });
  }

  /** Returns the stored snapshots of the servers that the config has. */
  #ofConfig(before: Buffer | undefined): [string, StoredSnapshot][] {
    const stored = decodeSnapshots(before);
    return stored.keys().flatMap((key): [string, StoredSnapshot][] => {
      const found = this.#options.entryHash(key) === undefined ? undefined : stored.get(key);
      return found === undefined ? [] : [[key, found]];
    });
  }

  /** Returns the snapshot that counts: the stored one where it was made in view of the same lock file, else the locked one. */
  #valid(serverKey: string, found: StoredSnapshot | undefined): CatalogueSnapshot | undefined {
    const stored = this.#isOfEntry(serverKey, found) ? found : undefined;
    const locked = this.#lock.get(serverKey);
    const isLocked = locked !== undefined && locked.entry === this.#options.entryHash(serverKey);
    if (!isLocked || (stored !== undefined && stored.lock === locked.hash)) return stored?.snapshot;
    return this.#readLocked(serverKey, locked) ?? stored?.snapshot;
  }

  /** Returns undefined, and warns once, where the definitions differ from those that the lock file was written with. */
  #readLocked(serverKey: string, locked: LockedSnapshot): CatalogueSnapshot | undefined {
    if (this.#read.has(serverKey)) return this.#read.get(serverKey);
    const snapshot = locked.read();
    this.#read.set(serverKey, snapshot);
    if (snapshot === undefined)
      this.#warn(
        `${LOCK_FILE} was edited: the definitions of server '${serverKey}' do not match their hash. Weir does not list them until the server runs.`,
      );
    return snapshot;
  }

  #storedFor(name: string, serverKey: string): StoredSnapshot | undefined {
    return this.#stored.get(name)?.().get(serverKey);
  }

  #isOfEntry(serverKey: string, stored: StoredSnapshot | undefined): stored is StoredSnapshot {
    return stored !== undefined && stored.entry === this.#options.entryHash(serverKey);
  }

  /** Returns the same name for the same capabilities, in whichever order they are written. */
  #nameFor(capabilities: string): string {
    return `${this.#prefix}${shortHash(canonicalJson(Buffer.from(capabilities)))}`;
  }

  #readLock(file: string): LockedSnapshots {
    const bytes = readBytes(file);
    const servers = bytes === undefined ? new Map() : readLock(bytes);
    if (servers === undefined) this.#warn(`${file} cannot be read and is ignored.`);
    return servers ?? new Map();
  }

  #warn(problem: string): void {
    const { log, commandName } = this.#options;
    log.warn(`${problem} Write it again with "${commandName} lock".`);
  }
}

/** Returns undefined where there is no such file; one that cannot be read counts as an empty one. */
function readBytes(file: string): Buffer | undefined {
  try {
    return readWhole(file, LOCK_FILE_READ);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT' ? undefined : Buffer.alloc(0);
  }
}
