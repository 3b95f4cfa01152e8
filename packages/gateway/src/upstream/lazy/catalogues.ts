import { dirname, join } from 'node:path';
import { shortHash } from '../../hash.ts';
import type { Log } from '../../log.ts';
import { OWN_FILE, readWhole } from '../../read-file.ts';
import { canonicalJson } from '../../wire/json/canonical-json.ts';
import { CatalogueFiles } from './catalogue-files.ts';
import { isSameSnapshot, type CatalogueSnapshot } from './catalogue-snapshot.ts';
import { readLock, type LockedSnapshot } from './read-lock.ts';
import { matchesHash } from './snapshot-hash.ts';
import type { StoredSnapshot, StoredSnapshots } from './stored-snapshot.ts';

/** Stands beside the config. */
export const LOCK_FILE = 'weir.lock.json';

export interface CataloguesOptions {
  /** The state folder; without one only the lock file is there. */
  readonly state: string | undefined;
  readonly configPath: string | undefined;
  /** What the client can do, as JSON: servers may offer more to one that can do more. */
  readonly capabilities: string;
  readonly log: Log;
  /** The command that hints tell users to run. */
  readonly commandName: string;
  /** Hash of a server's entry: what another entry offered says nothing. Undefined where the config has no such server. */
  entryHash(serverKey: string): string | undefined;
}

/** What is remembered of a server. */
export interface Recalled {
  readonly snapshot: CatalogueSnapshot;
  /** False where the server offered it to a client that can do other things. */
  readonly isForClient: boolean;
}

interface Lock {
  readonly hash: string;
  /** Read when first needed: copies of it are read faster. */
  servers(): ReadonlyMap<string, LockedSnapshot>;
}

/** What has been learnt is written when a start is over, at the latest when the gateway ends. */
const WRITE_AFTER_MS = 2000;

/** What servers have offered: as the lock file has it, unless they have been seen to differ since it was written. */
export class Catalogues {
  readonly #options: CataloguesOptions;
  readonly #files: CatalogueFiles | undefined;
  readonly #lock: Lock | undefined;
  readonly #unwritten = new Map<string, StoredSnapshot>();
  /** Servers of the lock file whose hash has been checked. */
  readonly #edited = new Map<string, boolean>();
  #stored: StoredSnapshots | undefined;
  #other: StoredSnapshots | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: CataloguesOptions) {
    const { state, configPath, capabilities, log } = options;
    this.#options = options;
    if (configPath === undefined) return;
    this.#lock = this.#readLock(configPath);
    if (state === undefined) return;
    const client = canonicalJson(Buffer.from(capabilities));
    this.#files = new CatalogueFiles({ state, configPath, client }, log);
  }

  recall(serverKey: string): Recalled | undefined {
    const found = this.#recallForClient(serverKey);
    if (found !== undefined) return { snapshot: found, isForClient: true };
    this.#other ??= this.#files?.readOther();
    const other = this.#other?.get(serverKey);
    return this.#isOfEntry(serverKey, other) ? { snapshot: other.snapshot, isForClient: false } : undefined;
  }

  /** Keeps what a server offers now, where that is news. */
  learn(serverKey: string, snapshot: CatalogueSnapshot): void {
    const before = this.#recallForClient(serverKey);
    if (before === undefined || !isSameSnapshot(before, snapshot)) this.#keep(serverKey, snapshot);
  }

  /** Writes what has been learnt. Other gateways may have learnt something of the same config meanwhile. */
  flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    // The config may have gone over to other entries.
    const learnt = [...this.#unwritten].filter(([key, { entry }]) => entry === this.#options.entryHash(key));
    this.#unwritten.clear();
    if (learnt.length === 0 || this.#files === undefined) return;
    this.#files.write(new Map([...this.#known(this.#files.read()), ...learnt]));
    this.#stored = undefined;
  }

  /** What is stored of the servers that the config has. */
  #known(stored: StoredSnapshots): (readonly [string, StoredSnapshot])[] {
    return stored.keys().flatMap((key) => {
      const found = this.#options.entryHash(key) === undefined ? undefined : stored.get(key);
      return found === undefined ? [] : [[key, found] as const];
    });
  }

  #recallForClient(serverKey: string): CatalogueSnapshot | undefined {
    this.#stored ??= this.#files?.read();
    const found = this.#unwritten.get(serverKey) ?? this.#stored?.get(serverKey);
    const stored = this.#isOfEntry(serverKey, found) ? found : undefined;
    if (stored !== undefined && (this.#lock === undefined || stored.lock === this.#lock.hash))
      return stored.snapshot;
    const locked = this.#locked(serverKey);
    if (locked !== undefined) this.#keep(serverKey, locked);
    // What differed from another lock file counts where this one knows nothing.
    return locked ?? stored?.snapshot;
  }

  #keep(serverKey: string, snapshot: CatalogueSnapshot): void {
    const entry = this.#options.entryHash(serverKey);
    if (entry === undefined || this.#files === undefined) return;
    this.#unwritten.set(serverKey, { entry, lock: this.#lock?.hash, snapshot });
    this.#timer ??= setTimeout(() => this.flush(), WRITE_AFTER_MS).unref();
  }

  #locked(serverKey: string): CatalogueSnapshot | undefined {
    const locked = this.#lock?.servers().get(serverKey);
    if (locked?.entry !== this.#options.entryHash(serverKey)) return undefined;
    return locked === undefined || this.#isEdited(serverKey, locked) ? undefined : locked.snapshot;
  }

  /** Returns whether the definitions of a server differ from those that the lock file was written with; warns once. */
  #isEdited(serverKey: string, locked: LockedSnapshot): boolean {
    const known = this.#edited.get(serverKey);
    if (known !== undefined) return known;
    const isEdited = !matchesHash(locked);
    this.#edited.set(serverKey, isEdited);
    if (isEdited)
      this.#options.log.warn(
        `${LOCK_FILE} was edited: the definitions of server '${serverKey}' do not match their hash, and are not listed until it runs. Write it anew with "${this.#options.commandName} lock".`,
      );
    return isEdited;
  }

  #isOfEntry(serverKey: string, stored: StoredSnapshot | undefined): stored is StoredSnapshot {
    return stored !== undefined && stored.entry === this.#options.entryHash(serverKey);
  }

  #readLock(configPath: string): Lock | undefined {
    const file = join(dirname(configPath), LOCK_FILE);
    const bytes = readBytes(file);
    if (bytes === undefined) return undefined;
    let servers: ReadonlyMap<string, LockedSnapshot> | undefined;
    return {
      hash: shortHash(bytes.toString('latin1')),
      servers: () => {
        servers ??= readLock(bytes) ?? this.#unreadable(file);
        return servers;
      },
    };
  }

  #unreadable(file: string): ReadonlyMap<string, LockedSnapshot> {
    this.#options.log.warn(
      `${file} cannot be read and is left aside. Write it anew with "${this.#options.commandName} lock".`,
    );
    return new Map();
  }
}

/** Undefined where there is no such file; one that may not be read is as good as an empty one. */
function readBytes(file: string): Buffer | undefined {
  try {
    return readWhole(file, OWN_FILE);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT' ? undefined : Buffer.alloc(0);
  }
}
