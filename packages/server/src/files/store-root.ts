import { constants, lstatSync, mkdirSync, realpathSync } from 'node:fs';
import { type FileHandle, lstat, open } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The folder of a store. */
export interface StoreRoot {
  readonly path: string;
  /** Throws where another folder, or a link, has taken the folder's place since the start. */
  check(): Promise<void>;
  /** Opens a regular file of the folder for reading; undefined if there is none, or none that may be served. */
  openFile(name: string): Promise<OpenedFile | undefined>;
}

export interface OpenedFile {
  readonly handle: FileHandle;
  readonly size: number;
  readonly modifiedMs: number;
}

// Windows has neither flag: it has no FIFOs, and links are refused by name there.
const { O_RDONLY, O_NOFOLLOW = 0, O_NONBLOCK = 0 } = constants as Partial<typeof constants>;
const READ_ONLY = (O_RDONLY ?? 0) | O_NOFOLLOW | O_NONBLOCK;

/** Errors of `open` that say that there is no file to serve; all others are the operator's affair. */
const NOT_A_FILE = ['ENOENT', 'ELOOP', 'EMLINK', 'ENOTDIR', 'EISDIR', 'ENXIO', 'EOPNOTSUPP'];

/** Opens the folder of a `file:` URI and creates it, for its owner alone, where it is missing. */
export function openStoreRoot(uri: string, option: string): StoreRoot {
  const wanted = folderOf(uri, option);
  mkdirSync(wanted, { recursive: true, mode: 0o700 });
  const path = realpathSync(wanted);
  const first = lstatSync(path, { bigint: true });
  if (!first.isDirectory())
    throw new Error(`${option} "${uri}" is not a folder: name one that may hold the files`);

  const check = async (): Promise<void> => {
    const { dev, ino } = await lstat(path, { bigint: true });
    if (dev === first.dev && ino === first.ino) return;
    throw new Error(
      `The folder "${path}" was replaced while it was in use: restart the server to serve the new one`,
    );
  };
  return { path, check, openFile: (name) => openFile(join(path, name), check) };
}

/** Opens without following a link and without waiting for a FIFO, and judges the descriptor, not the name. */
async function openFile(path: string, check: () => Promise<void>): Promise<OpenedFile | undefined> {
  await check();
  if (O_NOFOLLOW === 0 && (await isLink(path))) return undefined;
  const handle = await openIfFile(path);
  if (handle === undefined) return undefined;
  try {
    const stat = await handle.stat();
    // A second name of the file could lie in a folder of another user, who could change it there.
    const isServable = stat.isFile() && stat.nlink === 1;
    // The folder may have been swapped between the first check and the opening.
    await check();
    if (isServable) return { handle, size: stat.size, modifiedMs: stat.mtimeMs };
  } catch (error) {
    await handle.close();
    throw error;
  }
  await handle.close();
  return undefined;
}

async function openIfFile(path: string): Promise<FileHandle | undefined> {
  try {
    return await open(path, READ_ONLY);
  } catch (error) {
    if (NOT_A_FILE.includes((error as NodeJS.ErrnoException).code ?? '')) return undefined;
    throw error;
  }
}

async function isLink(path: string): Promise<boolean> {
  try {
    return (await lstat(path)).isSymbolicLink();
  } catch {
    return false;
  }
}

function folderOf(uri: string, option: string): string {
  if (!/^file:\/\//i.test(uri))
    throw new Error(`${option} "${uri}" must be a file:// URI, such as file:///var/lib/my-server/files`);
  try {
    return fileURLToPath(uri);
  } catch (error) {
    throw new Error(`${option} "${uri}" does not name a folder of this machine: use file:///path`, {
      cause: error,
    });
  }
}
