import { existsSync, realpathSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { CliError } from './errors.ts';

/** Replaces a file in one step, so that readers see the old text or the new one. The new one has the permissions of the old one. */
export function replaceFile(name: string, text: string): void {
  // A link stays one: many keep their configs in another folder.
  const file = existsSync(name) ? realpathSync(name) : name;
  const fresh = `${file}.${process.pid}`;
  try {
    writeFileSync(fresh, text, { mode: statSync(file, { throwIfNoEntry: false })?.mode ?? 0o666 });
    renameSync(fresh, file);
  } catch (error) {
    rmSync(fresh, { force: true });
    throw new CliError(`Cannot write ${file}: ${(error as Error).message}`, { cause: error });
  }
}
