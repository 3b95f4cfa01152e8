import { rmSync } from 'node:fs';

/** `force` forgives a missing file, but not a path that leads through one or a folder that is read-only. */
export function removeFile(file: string): void {
  try {
    rmSync(file, { force: true });
  } catch {
    // There is nothing to remove where nothing could be written.
  }
}
