import { closeSync, openSync, readFileSync, statSync, utimesSync, writeSync } from 'node:fs';
import { hasEnded, thisPlace } from './owner-process.ts';
import { removeFile } from './replace-file.ts';

/** Milliseconds after which a lock is taken over whose process may live: the id may be another's, or from another container. */
const STALE_MS = 2000;
const RETRY_MS = 4;

/**
 * Runs an action while no other process runs one for the same file. A process that was killed in its action is replaced at
 * once. A takeover that is wrong, because a process has stood still, loses one of two updates and damages nothing.
 */
export async function whileLocked<T>(file: string, action: () => Promise<T>): Promise<T> {
  const lock = `${file}~lock`;
  while (!take(lock)) {
    if (isAbandoned(lock)) removeFile(lock);
    else await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
  }
  // A slow disk takes its time, and the lock must not look abandoned meanwhile.
  const touching = setInterval(() => touch(lock), STALE_MS / 4).unref();
  try {
    return await action();
  } finally {
    clearInterval(touching);
    removeFile(lock);
  }
}

function take(lock: string): boolean {
  const descriptor = createNew(lock);
  if (descriptor === undefined) return false;
  try {
    writeSync(descriptor, `${process.pid} ${thisPlace()}`);
  } catch {
    // On a full disk the lock has no owner's id; it holds all the same.
  } finally {
    closeSync(descriptor);
  }
  return true;
}

function touch(lock: string): void {
  try {
    const now = Date.now() / 1000;
    utimesSync(lock, now, now);
  } catch {
    // Another process has taken it over.
  }
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
    const [pid = '', ...place] = readFileSync(lock, 'utf8').split(' ');
    return size > 0 && hasEnded(Number(pid), place.join(' '));
  } catch {
    // Its owner has removed it.
    return false;
  }
}
