import { existsSync, mkdirSync } from 'node:fs';
import { dirname } from 'node:path';

/** Node's own `recursive` never returns where a missing folder stands in one that takes none, as in /proc. */
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
