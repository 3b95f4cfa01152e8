import { closeSync, constants, fstatSync, openSync, readFileSync, readSync, type Stats } from 'node:fs';

export interface ReadOptions {
  /** Bytes; a larger file is refused. */
  readonly most: number;
  /** Milliseconds for a pipe to bring all of its content. Without it, pipes are refused. */
  readonly pipeMs?: number;
  /** Refuses a file that belongs to another user. */
  readonly isOwn?: boolean;
}

/** Files that users name. A pipe is read as well: a shell or a password manager may write the content into one. */
export const GIVEN_FILE: Required<Omit<ReadOptions, 'isOwn'>> = { most: 16 * 1024 * 1024, pipeMs: 30_000 };
/** The file of the master key, made by this package. */
export const OWN_SECRET: ReadOptions = { most: 64 * 1024, isOwn: true };
/** Files that a program has written for itself. */
export const STATE_FILE: ReadOptions = { most: 256 * 1024 * 1024, isOwn: true };

/** Opening must not wait for another process, nor make a terminal ours; Windows has neither flag. */
const READ: number = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0) | (constants.O_NOCTTY ?? 0);
const CHUNK = 64 * 1024;
const POLL_MS = 5;

/** Reads a file whole. Throws for devices, sockets and directories: a device may have no end. */
export function readWhole(path: string, options: ReadOptions): Buffer {
  const file = openSync(path, READ);
  try {
    return readOpen(file, path, options);
  } finally {
    closeSync(file);
  }
}

function readOpen(file: number, path: string, { most, pipeMs, isOwn = false }: ReadOptions): Buffer {
  const stat = fstatSync(file);
  if (isOwn && !isOurs(stat)) throw unreadable(path, 'EPERM', 'belongs to another user');
  if (stat.isFIFO() && pipeMs !== undefined) return readPipe(file, path, { most, pipeMs });
  if (stat.isDirectory()) throw unreadable(path, 'EISDIR', 'is a directory');
  if (!stat.isFile()) throw unreadable(path, 'ENOTFILE', 'is not a file but a device or a pipe');
  if (stat.size > most) throw tooLarge(path, most);
  return readFileSync(file);
}

/** Reads until all writers have closed the pipe. One that no process has opened for writing yet is waited for. */
function readPipe(file: number, path: string, { most, pipeMs }: { most: number; pipeMs: number }): Buffer {
  const deadline = uptimeMs() + pipeMs;
  const parts: Buffer[] = [];
  let size = 0;
  for (;;) {
    const part = readSome(file);
    if (part?.length === 0 && size > 0) return Buffer.concat(parts);
    if (part !== undefined) parts.push(part);
    size += part?.length ?? 0;
    if (size > most) throw tooLarge(path, most);
    if (uptimeMs() > deadline)
      throw unreadable(
        path,
        'ETIMEDOUT',
        `is a pipe that its writer did not close within ${pipeMs / 1000} s`,
      );
    if (part === undefined || part.length === 0) pause();
  }
}

/** Returns milliseconds that only ever grow. `performance` would load a library of its own. */
function uptimeMs(): number {
  return process.uptime() * 1000;
}

/** Returns what a pipe holds: nothing where it has no writer, undefined where its writer has yet to write. */
function readSome(file: number): Buffer | undefined {
  const buffer = Buffer.allocUnsafe(CHUNK);
  try {
    return buffer.subarray(0, readSync(file, buffer));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EAGAIN') return undefined;
    throw error;
  }
}

/** Blocks the process: only a start reads pipes, and nothing else runs then. */
function pause(): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, POLL_MS);
}

/** Returns whether a file or folder belongs to the user of this process; on Windows, users have no numbers. */
export function isOurs({ uid }: Pick<Stats, 'uid'>): boolean {
  return uid === (process.getuid?.() ?? uid);
}

function tooLarge(path: string, most: number): Error {
  return unreadable(path, 'EFBIG', `is larger than ${most / 1024 / 1024} MiB`);
}

/** The code tells callers which case it is; the message names the file. */
function unreadable(path: string, code: string, what: string): Error {
  return Object.assign(new Error(`${path} ${what}`), { code });
}
