import type { ChildProcessByStdio } from 'node:child_process';
import { statSync } from 'node:fs';
import type { Readable, Writable } from 'node:stream';
import { childProcess } from './child-process.ts';
import { OWNER_VARIABLE } from './guard-program.ts';
import { windowsCommand, type Startable } from './windows-command.ts';

export interface ServerSpec {
  command: string;
  args: readonly string[];
  /** The whole environment of the server; only the owner's mark is added. */
  env: Readonly<Record<string, string | undefined>>;
  cwd?: string | undefined;
  /** The working directory is one that a client has named. */
  isClientFolder?: boolean | undefined;
}

export type Child = ChildProcessByStdio<Writable, Readable, Readable>;

/** Starts a program with pipes to it. No shell is involved, and it leads a process group of its own. */
export function startProcess(
  spec: ServerSpec,
  mark: string,
  platform: NodeJS.Platform = process.platform,
): Child {
  const isWindows = platform === 'win32';
  const { file, args, verbatim } = isWindows ? windowsCommand(spec, isFile) : asGiven(spec);
  return childProcess().spawn(file, args, {
    cwd: spec.cwd,
    env: { ...spec.env, [OWNER_VARIABLE]: mark },
    // On Windows this would open a window.
    detached: !isWindows,
    shell: false,
    stdio: ['pipe', 'pipe', 'pipe'],
    windowsHide: true,
    windowsVerbatimArguments: verbatim,
  });
}

function asGiven({ command, args }: ServerSpec): Startable {
  return { file: command, args, verbatim: false };
}

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() ?? false;
}
