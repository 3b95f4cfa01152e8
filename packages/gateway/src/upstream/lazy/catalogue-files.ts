import { readdirSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { shortHash } from '../../hash.ts';
import type { Log } from '../../log.ts';
import { OWN_FILE, readWhole } from '../../read-file.ts';
import { makeFolder } from '../../state/make-folder.ts';
import { removeFile } from '../../state/remove-file.ts';
import {
  decodeSnapshots,
  encodeSnapshots,
  type StoredSnapshot,
  type StoredSnapshots,
} from './stored-snapshot.ts';

/** Clients choose what they say they can do; each such set has a file. */
const MOST_FILES = 8;
const NO_FILE = Buffer.alloc(0);

/**
 * One file per config and set of client capabilities, because a start with 30 servers has to read all of it before its
 * first answer. Readers see the old file or the new one; a file that cannot be written costs one slower start.
 */
export class CatalogueFiles {
  readonly #folder: string;
  readonly #prefix: string;
  readonly #own: string;
  readonly #log: Log;

  constructor(place: { state: string; configPath: string; client: string }, log: Log) {
    this.#folder = join(place.state, 'catalogues');
    this.#prefix = `${shortHash(place.configPath)}-`;
    this.#own = `${this.#prefix}${shortHash(place.client)}`;
    this.#log = log;
  }

  /** Reads what servers offered to this kind of client. */
  read(): StoredSnapshots {
    return read(join(this.#folder, this.#own));
  }

  /** Reads what servers offered to another kind of client: the one that was served last. */
  readOther(): StoredSnapshots {
    const [latest] = this.#files().filter(({ name }) => name !== this.#own);
    return latest === undefined ? decodeSnapshots(NO_FILE) : read(join(this.#folder, latest.name));
  }

  write(servers: Iterable<readonly [string, StoredSnapshot]>): void {
    const file = join(this.#folder, this.#own);
    const fresh = `${file}.${process.pid}`;
    try {
      makeFolder(this.#folder);
      writeFileSync(fresh, encodeSnapshots(servers), { mode: 0o600 });
      renameSync(fresh, file);
      for (const { name } of this.#files().slice(MOST_FILES)) removeFile(join(this.#folder, name));
    } catch (error) {
      this.#log.debug?.(`catalogues are not kept: ${(error as Error).message}`);
      removeFile(fresh);
    }
  }

  /** Lists the files of this config, the latest first. */
  #files(): { name: string; at: number }[] {
    try {
      return readdirSync(this.#folder)
        .filter((name) => name.startsWith(this.#prefix))
        .map((name) => ({ name, at: statSync(join(this.#folder, name)).mtimeMs }))
        .toSorted((one, other) => other.at - one.at);
    } catch {
      return [];
    }
  }
}

function read(file: string): StoredSnapshots {
  try {
    return decodeSnapshots(readWhole(file, OWN_FILE));
  } catch {
    return decodeSnapshots(NO_FILE);
  }
}
