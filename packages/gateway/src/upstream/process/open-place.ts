import { realpathSync, statSync } from 'node:fs';
import { delimiter, dirname, join, resolve } from 'node:path';
import type { ServerSpec } from './spawn.ts';

const WORLD_WRITES = 0o002;
const STICKY = 0o1000;

/** Returns the file or folder, of those that decide what a server runs, that every user can change; undefined where none is. */
export function openPlace({
  command,
  cwd,
  env,
}: Pick<ServerSpec, 'command' | 'cwd' | 'env'>): string | undefined {
  if (process.platform === 'win32') return undefined;
  const folder = resolve(cwd ?? '.');
  const file = command.includes('/') ? resolve(folder, command) : inPath(command, env['PATH'] ?? '');
  const named = [...(file === undefined ? [] : [file]), ...(cwd === undefined ? [] : [folder])];
  return named.flatMap((path) => [...stepsTo(path), ...stepsTo(realPath(path))]).find(isOpen);
}

function inPath(command: string, path: string): string | undefined {
  const files = path.split(delimiter).map((folder) => join(folder, command));
  return files.find((file) => statSync(file, { throwIfNoEntry: false })?.isFile());
}

/** Returns a path and every folder above it. */
function stepsTo(path: string): string[] {
  const folder = dirname(path);
  return folder === path ? [path] : [path, ...stepsTo(folder)];
}

function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

/** A sticky folder, such as /tmp, lets others add files but not replace them. */
function isOpen(path: string): boolean {
  try {
    const stat = statSync(path);
    return (stat.mode & WORLD_WRITES) !== 0 && !(stat.isDirectory() && (stat.mode & STICKY) !== 0);
  } catch {
    return false;
  }
}
