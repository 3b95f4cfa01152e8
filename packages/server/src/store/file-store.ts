import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { whileLocked } from './file-lock.ts';
import { fileNameOf, nameOfFile } from './file-names.ts';
import { STATE_FILE, readWhole } from './read-file.ts';
import { makeFolder, removeFile, replaceFile, syncFolder, UNFINISHED } from './replace-file.ts';
import { checkName, StoreError, type ValueChange, type StoreEntry, type Store } from './store-contract.ts';

export interface FileStoreOptions {
  /** Made with the first write. */
  readonly folder: string;
  /** Waits for the disk, so that a value survives a power cut. Caches do without. */
  readonly isDurable?: boolean;
  readonly now?: (() => number) | undefined;
}

/** Milliseconds after which a file goes that a killed process has not finished; a younger one may be in the making. */
const UNFINISHED_LASTS_MS = 60_000;

/** Creates a store that keeps each value in a file for its owner alone. */
export function createFileStore(options: FileStoreOptions): Store {
  return new FileStore(options);
}

class FileStore implements Store {
  readonly #folder: string;
  readonly #options: FileStoreOptions;
  #isPrepared = false;
  #written: Promise<unknown> = Promise.resolve();

  constructor(options: FileStoreOptions) {
    this.#folder = options.folder;
    this.#options = options;
  }

  // Reads at once instead of in another thread: a start needs many small files, and nothing else before them.
  async get(name: string): Promise<Buffer | undefined> {
    checkName(name);
    return this.#read(name);
  }

  async set(name: string, value: Buffer): Promise<void> {
    await this.#replace(name, () => value);
  }

  update(name: string, change: ValueChange): Promise<Buffer | undefined> {
    return this.#replace(name, (read) => change(read()));
  }

  delete(name: string): Promise<void> {
    return this.#inTurn(name, async (file) => {
      removeFile(file);
      if (this.#options.isDurable === true) await syncFolder(this.#folder);
    });
  }

  async list(prefix = ''): Promise<StoreEntry[]> {
    const entries = namesIn(this.#folder).flatMap((fileName): StoreEntry[] => {
      const name = nameOfFile(fileName);
      if (name?.startsWith(prefix) !== true) return [];
      const writtenAt = timeOf(join(this.#folder, fileName));
      return writtenAt === undefined ? [] : [{ name, writtenAt }];
    });
    return entries.sort((one, other) => other.writtenAt - one.writtenAt);
  }

  locate(name: string): string {
    return join(this.#folder, fileNameOf(name));
  }

  #replace(
    name: string,
    next: (read: () => Buffer | undefined) => Buffer | undefined,
  ): Promise<Buffer | undefined> {
    return this.#inTurn(name, async (file) => {
      let before: Buffer | undefined;
      const after = next(() => (before = this.#read(name)));
      if (after !== undefined) await replaceFile(file, after, this.#options);
      return after ?? before;
    });
  }

  /** Runs one write of this process after the other: of two values for a name, the one that was set last stays. */
  async #inTurn<T>(name: string, write: (file: string) => Promise<T>): Promise<T> {
    checkName(name);
    const file = this.locate(name);
    const turn = this.#written.then(() => {
      this.#prepare();
      return whileLocked(file, () => write(file));
    });
    this.#written = turn.catch(() => {});
    try {
      return await turn;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === undefined) throw error;
      throw new StoreError(`${file} cannot be written: ${(error as Error).message}`, {
        place: file,
        cause: error,
      });
    }
  }

  #read(name: string): Buffer | undefined {
    const file = this.locate(name);
    try {
      return readWhole(file, STATE_FILE);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
      const text = `${file} cannot be read: ${(error as Error).message}. Delete it to start over.`;
      throw new StoreError(text, { place: file, cause: error });
    }
  }

  #prepare(): void {
    makeFolder(this.#folder);
    if (this.#isPrepared) return;
    this.#isPrepared = true;
    const now = (this.#options.now ?? Date.now)();
    for (const fileName of namesIn(this.#folder).filter((name) => UNFINISHED.test(name))) {
      const file = join(this.#folder, fileName);
      if (now - (timeOf(file) ?? now) > UNFINISHED_LASTS_MS) removeFile(file);
    }
  }
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

/** Returns the time of a file's last change; undefined where that is not a file, or is gone. */
function timeOf(file: string): number | undefined {
  try {
    const stat = statSync(file);
    return stat.isFile() ? stat.mtimeMs : undefined;
  } catch {
    return undefined;
  }
}
