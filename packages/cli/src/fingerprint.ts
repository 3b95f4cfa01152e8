import { statSync } from 'node:fs';

/** Differs with whatever a writer could change about a file; what is none, but a pipe perhaps, always looks the same. */
export function fingerprint(path: string): string {
  try {
    const stat = statSync(path);
    const { dev, ino, size, mtimeMs, ctimeMs } = stat;
    return stat.isFile() ? [dev, ino, size, mtimeMs, ctimeMs].join() : NO_FILE;
  } catch (error) {
    return String((error as NodeJS.ErrnoException).code);
  }
}

/** The fingerprint of what is there and no file. */
export const NO_FILE = 'no file';
