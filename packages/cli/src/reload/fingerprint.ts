import { statSync } from 'node:fs';

/** Returns a text that changes with every write to a file; for a pipe or a device it is always `NO_FILE`. */
export function fingerprint(path: string): string {
  try {
    const stat = statSync(path);
    const { dev, ino, size, mtimeMs, ctimeMs } = stat;
    return stat.isFile() ? [dev, ino, size, mtimeMs, ctimeMs].join() : NO_FILE;
  } catch (error) {
    return String((error as NodeJS.ErrnoException).code);
  }
}

/** Fingerprint of something that exists and is not a file. */
export const NO_FILE = 'no file';
