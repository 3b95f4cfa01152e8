import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { shortHash } from '../../hash.ts';
import type { Log } from '../../log.ts';
import { makeFolder } from '../../state/make-folder.ts';
import { canonicalJson } from '../../wire/canonical-json.ts';
import { objectValue, stringValue, type Members } from '../../wire/members.ts';
import { offeringLines, readOffering, readText, type Offering } from './remembered.ts';
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
  readonly servers: Members | undefined;
}

/** What servers have offered: as the lock file has it, unless they have been seen to differ since it was written. */
export class Catalogues {
  readonly #options: CataloguesOptions;
  readonly #lock: Lock | undefined;

  constructor(options: CataloguesOptions) {
    this.#options = options;
    this.#lock = options.configPath === undefined ? undefined : this.#readLock(options.configPath);
  }

  recall(serverKey: string): Offering | undefined {
    const locked = this.#locked(serverKey);
    return this.#stored(serverKey, locked !== undefined) ?? locked;
  }

  /** Keeps what a server offers now, where that is news. */
  learn(serverKey: string, offering: Offering): void {
    const file = this.#fileOf(serverKey);
    const before = this.recall(serverKey);
    if (file === undefined || (before !== undefined && isSame(before, offering))) return;
    const stored: StoredOffering = {
      version: 1,
      entry: this.#options.entryHash(serverKey),
      lock: this.#lock?.hash,
      ...toStored(offering),
    };
    write(file, `${JSON.stringify(stored)}\n`, this.#options.log);
  }

  #locked(serverKey: string): Offering | undefined {
    const members = this.#lock?.servers && objectValue(this.#lock.servers, serverKey);
    const isCurrent =
      members !== undefined && stringValue(members, 'entry') === this.#options.entryHash(serverKey);
    return isCurrent ? readOffering(members) : undefined;
  }

  /** What differed from another lock file counts no more. */
  #stored(serverKey: string, isLocked: boolean): Offering | undefined {
    const file = this.#fileOf(serverKey);
    const stored = file === undefined ? undefined : read(file);
    if (stored === undefined || (isLocked && stored.lock !== this.#lock?.hash)) return undefined;
    return stored.entry === this.#options.entryHash(serverKey) ? fromStored(stored) : undefined;
  }

  #fileOf(serverKey: string): string | undefined {
    const { state, configPath, capabilities } = this.#options;
    if (state === undefined || configPath === undefined) return undefined;
    const client = canonicalJson(Buffer.from(capabilities));
    return join(state, 'catalogues', shortHash(JSON.stringify([configPath, serverKey, client])));
  }

  #readLock(configPath: string): Lock | undefined {
    const file = join(dirname(configPath), LOCK_FILE);
    const bytes = readBytes(file);
    if (bytes === undefined) return undefined;
    const members = readText(bytes);
    const servers = members && objectValue(members, 'servers');
    if (servers === undefined)
      this.#options.log.warn(`${file} cannot be read and is left aside. Write it anew with "weir lock".`);
    return { hash: shortHash(bytes.toString('latin1')), servers };
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

function readBytes(file: string): Buffer | undefined {
  try {
    return readFileSync(file);
  } catch {
    return undefined;
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
    rmSync(fresh, { force: true });
  }
}
