import { closeSync, openSync, readFileSync, statSync, writeSync } from 'node:fs';
import { isAlive } from './is-alive.ts';
import { removeFile } from './replace-file.ts';

/** Milliseconds after which a lock is taken over whose process seems to live: it may be another's of the same id. */
const STALE_MS = 2000;
const RETRY_MS = 4;

/**
 * Runs an action while no other process runs one for the same file. A process that was killed in its action is replaced at
 * once. A takeover that is wrong, because a disk is that slow, loses one of two updates and damages nothing.
 */
export async function whileLocked<T>(file: string, action: () => Promise<T>): Promise<T> {
  const lock = `${file}~lock`;
  while (!take(lock)) {
    if (isAbandoned(lock)) removeFile(lock);
    else await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
  }
  try {
    return await action();
  } finally {
    removeFile(lock);
  }
}

function take(lock: string): boolean {
  const descriptor = createNew(lock);
  if (descriptor === undefined) return false;
  try {
    writeSync(descriptor, String(process.pid));
  } catch {
    // On a full disk the lock has no owner's id; it holds all the same.
  } finally {
    closeSync(descriptor);
  }
  return true;
}

/** Returns undefined where the file exists. */
function createNew(file: string): number | undefined {
  try {
    return openSync(file, 'wx', 0o600);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return undefined;
    throw error;
  }
}

function isAbandoned(lock: string): boolean {
  try {
    const { mtimeMs, size } = statSync(lock);
    const age = Date.now() - mtimeMs;
    // An empty one may be about to be written; a clock that was set back says nothing.
    if (age > STALE_MS || age < -STALE_MS) return true;
    return size > 0 && !isAlive(Number(readFileSync(lock, 'utf8')));
  } catch {
    // Its owner has removed it.
    return false;
  }
}
