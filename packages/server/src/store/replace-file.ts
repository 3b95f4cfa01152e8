import { existsSync, mkdirSync, promises as fs, renameSync, unlinkSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { hex } from './hex.ts';

export interface WriteOptions {
  /** Waits until the disk has the content, so that it survives a power cut. */
  readonly isDurable?: boolean;
  /** Permissions of the file; for its owner alone unless set. */
  readonly mode?: number;
}

/** Permissions of a file that only its owner may read and write. */
const OWNER_ALONE = 0o600;
const SMALL_BYTES = 256 * 1024;

/** Matches the ends of files that `replaceFile` has not finished. */
export const UNFINISHED: RegExp = /~[0-9a-z]+-[0-9a-z]+$/u;

/** Replaces a file in one step: readers, and a crash at any moment, leave the old content or the new one. */
export async function replaceFile(
  file: string,
  content: Buffer | string,
  options: WriteOptions = {},
): Promise<void> {
  const fresh = `${file}~${chance()}-${chance()}`;
  try {
    if (isSmallCache(content, options)) {
      writeFileSync(fresh, content, { flag: 'wx', mode: options.mode ?? OWNER_ALONE });
      renameSync(fresh, file);
    } else {
      await writeNew(fresh, content, options);
      await fs.rename(fresh, file);
    }
  } catch (error) {
    removeFile(fresh);
    throw error;
  }
  if (options.isDurable === true) await syncFolder(dirname(file));
}

/** Differs from write to write, also between processes; in containers all may have the same process id. */
function chance(): string {
  return hex(Math.random() * 2 ** 32, 8);
}

/** A small file that need not reach the disk is written at once: the first use of Node's threads takes 1 MB of memory. */
function isSmallCache(content: Buffer | string, { isDurable = false }: WriteOptions): boolean {
  return !isDurable && content.length <= SMALL_BYTES;
}

async function writeNew(
  file: string,
  content: Buffer | string,
  { isDurable = false, mode = OWNER_ALONE }: WriteOptions,
) {
  const handle = await fs.open(file, 'wx', mode);
  try {
    await handle.writeFile(content);
    if (isDurable) await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Puts the names of a folder on disk. Windows opens no folders, and keeps names in order by itself. */
export async function syncFolder(folder: string): Promise<void> {
  if (process.platform === 'win32') return;
  const handle = await fs.open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Makes a folder for its owner alone, and those above it. Node's `recursive` never returns for a path in /proc. */
export function makeFolder(folder: string): void {
  try {
    mkdirSync(folder, { mode: 0o700 });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST') return;
    if (code !== 'ENOENT' || existsSync(dirname(folder))) throw error;
    makeFolder(dirname(folder));
    makeFolder(folder);
  }
}

/** Removes a file if that is possible. `rmSync` would load a library of its own. */
export function removeFile(file: string): void {
  try {
    unlinkSync(file);
  } catch {
    // A file that cannot be removed is left to the owner of the folder.
  }
}
