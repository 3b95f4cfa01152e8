import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root: string = join(dirname(fileURLToPath(import.meta.url)), '..', '..');

export interface SourceFile {
  /** From the repository's root, with forward slashes. */
  readonly path: string;
  readonly text: string;
}

/** The repository's own files below `folder` whose name matches; nothing installed, nothing built. */
export function sourceFiles(folder: string, name: RegExp): SourceFile[] {
  return walk(join(root, folder))
    .filter((path) => name.test(path))
    .map((path) => ({ path: relative(root, path).split(sep).join('/'), text: readFileSync(path, 'utf8') }));
}

function walk(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    if (!entry.isDirectory()) return [join(folder, entry.name)];
    return ['node_modules', 'dist', 'coverage'].includes(entry.name) || entry.name.startsWith('.')
      ? []
      : walk(join(folder, entry.name));
  });
}
