import { statSync } from 'node:fs';

/** Differs with whatever a writer could change about a file. */
export function fingerprint(path: string): string {
  try {
    const { dev, ino, size, mtimeMs, ctimeMs } = statSync(path);
    return [dev, ino, size, mtimeMs, ctimeMs].join();
  } catch (error) {
    return String((error as NodeJS.ErrnoException).code);
  }
}
