import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { shortHash } from '../../hash.ts';
import type { Log } from '../../log.ts';
import { makeFolder } from '../../state/make-folder.ts';
import { removeFile } from '../../state/remove-file.ts';
import { canonicalJson } from '../../wire/canonical-json.ts';
import { readLock, type LockedOffering } from './read-lock.ts';
import { offeringLines, type Offering } from './remembered.ts';
import { fromStored, toStored, type StoredOffering } from './stored-offering.ts';

/** Stands beside the config. */
export const LOCK_FILE = 'weir.lock.json';

export interface CataloguesOptions {
  /** The state folder; without one only the lock file is there. */
  readonly state: string | undefined;
  readonly configPath: string | undefined;
  /** What the client can do, as JSON: servers may offer more to one that can do more. */
  readonly capabilities: string;
  readonly log: Log;
  /** Changes with the entry of a server: what another entry offered says nothing. */
  entryHash(serverKey: string): string;
}

interface Lock {
  readonly hash: string;
  /** Read when first needed: copies of it are read faster. */
  servers(): ReadonlyMap<string, LockedOffering>;
}

/** Copies of what is in the lock file are made when a start is long over. */
const COPY_AFTER_MS = 2000;

/** What servers have offered: as the lock file has it, unless they have been seen to differ since it was written. */
export class Catalogues {
  readonly #options: CataloguesOptions;
  /** What the client can do, however it is written. */
  readonly #client: string;
  readonly #lock: Lock | undefined;
  readonly #uncopied = new Map<string, LockedOffering>();

  constructor(options: CataloguesOptions) {
    this.#options = options;
    this.#client = canonicalJson(Buffer.from(options.capabilities));
    this.#lock = options.configPath === undefined ? undefined : this.#readLock(options.configPath);
  }

  recall(serverKey: string): Offering | undefined {
    const stored = this.#stored(serverKey);
    if (stored !== undefined && (this.#lock === undefined || stored.lock === this.#lock.hash))
      return stored.offering;
    const locked = this.#locked(serverKey);
    if (locked !== undefined) this.#copyLater(serverKey, locked);
    // What differed from another lock file counts where this one knows nothing.
    return locked?.offering ?? stored?.offering;
  }

  /** Keeps what a server offers now, where that is news. */
  learn(serverKey: string, offering: Offering): void {
    const before = this.recall(serverKey);
    if (before !== undefined && isSame(before, offering)) return;
    this.#uncopied.delete(serverKey);
    this.#store(serverKey, offering);
  }

  #store(serverKey: string, offering: Offering): void {
    const file = this.#fileOf(serverKey);
    if (file === undefined) return;
    const stored: StoredOffering = {
      version: 1,
      entry: this.#options.entryHash(serverKey),
      lock: this.#lock?.hash,
      ...toStored(offering),
    };
    write(file, `${JSON.stringify(stored)}\n`, this.#options.log);
  }

  #copyLater(serverKey: string, locked: LockedOffering): void {
    if (this.#uncopied.size === 0) setTimeout(() => this.#copy(), COPY_AFTER_MS).unref();
    this.#uncopied.set(serverKey, locked);
  }

  #copy(): void {
    // The config may have gone over to other servers.
    for (const [serverKey, { entry, offering }] of this.#uncopied)
      if (entry === this.#options.entryHash(serverKey)) this.#store(serverKey, offering);
    this.#uncopied.clear();
  }

  #locked(serverKey: string): LockedOffering | undefined {
    const locked = this.#lock?.servers().get(serverKey);
    return locked?.entry === this.#options.entryHash(serverKey) ? locked : undefined;
  }

  #stored(serverKey: string): { readonly lock: string | undefined; readonly offering: Offering } | undefined {
    const file = this.#fileOf(serverKey);
    const stored = file === undefined ? undefined : read(file);
    if (stored?.entry !== this.#options.entryHash(serverKey)) return undefined;
    const offering = fromStored(stored);
    return offering && { lock: stored.lock, offering };
  }

  #fileOf(serverKey: string): string | undefined {
    const { state, configPath } = this.#options;
    if (state === undefined || configPath === undefined) return undefined;
    return join(state, 'catalogues', shortHash(JSON.stringify([configPath, serverKey, this.#client])));
  }

  #readLock(configPath: string): Lock | undefined {
    const file = join(dirname(configPath), LOCK_FILE);
    const bytes = readBytes(file);
    if (bytes === undefined) return undefined;
    let servers: ReadonlyMap<string, LockedOffering> | undefined;
    return {
      hash: shortHash(bytes.toString('latin1')),
      servers: () => {
        servers ??= readLock(bytes) ?? this.#unreadable(file);
        return servers;
      },
    };
  }

  #unreadable(file: string): ReadonlyMap<string, LockedOffering> {
    this.#options.log.warn(`${file} cannot be read and is left aside. Write it anew with "weir lock".`);
    return new Map();
  }
}

function isSame(one: Offering, other: Offering): boolean {
  return offeringLines(one) === offeringLines(other);
}

function read(file: string): Partial<StoredOffering> | undefined {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Partial<StoredOffering>;
  } catch {
    return undefined;
  }
}

/** Undefined where there is no such file; one that may not be read is as good as an empty one. */
function readBytes(file: string): Buffer | undefined {
  try {
    return readFileSync(file);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT' ? undefined : Buffer.alloc(0);
  }
}

/** Readers see the old file or the new one. One that cannot be written is one start more, nothing worse. */
function write(file: string, text: string, log: Log): void {
  const fresh = `${file}.${process.pid}`;
  try {
    makeFolder(dirname(file));
    writeFileSync(fresh, text, { mode: 0o600 });
    renameSync(fresh, file);
  } catch (error) {
    log.debug?.(`a catalogue is not kept: ${(error as Error).message}`);
    removeFile(fresh);
  }
}
