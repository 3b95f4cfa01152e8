import { promises as fs } from 'node:fs';
import { join } from 'node:path';
import { OWN_FILE, readWhole } from '../read-file.ts';
import { RecordError, type KeyValueStore } from './key-value-store.ts';
import { makeFolder } from './make-folder.ts';
import { createSealing, type Sealing } from './sealing.ts';
import { syncFolder, writeSafely } from './write-safely.ts';

export interface DirectoryOptions {
  readonly folder: string;
  /** 32 bytes. */
  readonly masterKey: Buffer;
  /** Told of a record that cannot be read when all are looked through. */
  readonly onDamaged?: (error: RecordError) => void;
  readonly now?: () => number;
}

const NAME = /^[0-9a-f]{64}$/u;
const UNFINISHED = /^[0-9a-f]{64}\.\d+\.\d+$/u;
/** What a process that was killed has not finished writing is removed after this long. */
const UNFINISHED_LASTS_MS = 60_000;

/** Unlike that of any other process: in containers all may have the same number. */
const WRITER = Math.floor(Math.random() * 2 ** 48);
/** Counted for the whole process: no two of its writes share a file. */
let writes = 0;

interface Stored {
  readonly key: string;
  readonly value: unknown;
}

/** Opens a folder that holds one encrypted file for each key. */
export async function openEncryptedDirectory(options: DirectoryOptions): Promise<KeyValueStore> {
  makeFolder(options.folder);
  const directory = new EncryptedDirectory(options, await createSealing(options.masterKey));
  await directory.removeUnfinished(options.now ?? Date.now);
  return directory;
}

class EncryptedDirectory implements KeyValueStore {
  readonly #folder: string;
  readonly #options: DirectoryOptions;
  readonly #sealing: Sealing;
  #written: Promise<unknown> = Promise.resolve();

  constructor(options: DirectoryOptions, sealing: Sealing) {
    this.#folder = options.folder;
    this.#options = options;
    this.#sealing = sealing;
  }

  async get(key: string): Promise<unknown> {
    return (await this.#read(this.#sealing.nameOf(key), key))?.value;
  }

  set(key: string, value: unknown): Promise<void> {
    const name = this.#sealing.nameOf(key);
    // Read now: what the caller changes in it later is not meant.
    const plain = Buffer.from(JSON.stringify({ key, value } satisfies Stored));
    return this.#inTurn(() => this.#explained(key, name, () => this.#replace(name, plain)));
  }

  delete(key: string): Promise<void> {
    const name = this.#sealing.nameOf(key);
    return this.#inTurn(() =>
      this.#explained(key, name, async () => {
        await fs.rm(this.#path(name), { force: true });
        await syncFolder(this.#folder);
      }),
    );
  }

  async keys(): Promise<string[]> {
    const names = (await fs.readdir(this.#folder)).filter((name) => NAME.test(name));
    const found = await Promise.all(names.map((name) => this.#readOrTell(name)));
    return found.filter((stored) => stored !== undefined).map(({ key }) => key);
  }

  /** Another process may be writing this very moment: only what is old goes. */
  async removeUnfinished(now: () => number): Promise<void> {
    const names = (await fs.readdir(this.#folder)).filter((name) => UNFINISHED.test(name));
    await Promise.all(names.map((name) => this.#removeIfOld(this.#path(name), now())));
  }

  async #removeIfOld(file: string, now: number): Promise<void> {
    try {
      const { mtimeMs } = await fs.stat(file);
      if (now - mtimeMs > UNFINISHED_LASTS_MS) await fs.rm(file, { force: true });
    } catch {
      // Its writer has finished, or another process was faster.
    }
  }

  /** One at a time: the last value that was set under a key is the one that stays. */
  #inTurn(write: () => Promise<void>): Promise<void> {
    const turn = this.#written.then(write);
    this.#written = turn.catch(() => {});
    return turn;
  }

  /** Readers see the old file or the new one, never half of one. */
  async #replace(name: string, plain: Buffer): Promise<void> {
    const fresh = this.#path(`${name}.${WRITER}.${++writes}`);
    try {
      await writeSafely(fresh, this.#sealing.seal(name, plain));
      await fs.rename(fresh, this.#path(name));
    } catch (error) {
      await fs.rm(fresh, { force: true }).catch(() => {});
      throw error;
    }
    await syncFolder(this.#folder);
  }

  async #explained(key: string, name: string, write: () => Promise<void>): Promise<void> {
    try {
      await write();
    } catch (error) {
      const text = `Cannot store the record ${key}, what was there before still is: ${(error as Error).message}`;
      throw new RecordError(text, { key, file: this.#path(name), cause: error });
    }
  }

  async #readOrTell(name: string): Promise<Stored | undefined> {
    try {
      return await this.#read(name);
    } catch (error) {
      if (!(error instanceof RecordError)) throw error;
      this.#options.onDamaged?.(error);
      return undefined;
    }
  }

  async #read(name: string, key?: string): Promise<Stored | undefined> {
    const file = this.#path(name);
    try {
      const sealed = readWhole(file, OWN_FILE);
      return JSON.parse(this.#sealing.open(name, sealed).toString('utf8')) as Stored;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
      throw damaged(file, { ...(key !== undefined && { key }), cause: error });
    }
  }

  #path(name: string): string {
    return join(this.#folder, name);
  }
}

function damaged(file: string, { key, cause }: { key?: string; cause: unknown }): RecordError {
  const what = key === undefined ? 'A record' : `The record ${key}`;
  const text = `${what} cannot be read: ${file} is damaged or was written with another master key (${(cause as Error).message}). Delete it to begin anew.`;
  return new RecordError(text, { ...(key !== undefined && { key }), file, cause });
}
