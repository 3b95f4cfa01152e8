import { chmodSync, lstatSync, readdirSync, rmSync } from 'node:fs';
import { isAbsolute, join } from 'node:path';
import { isAlive, makeFolder } from '@weir/server/internal';
import type { Environment } from '../config/child-environment.ts';
import { stateProblem } from '../state/state-problem.ts';

/** Inputs that decide where control sockets are. */
export interface SocketLocation {
  readonly env: Environment;
  /** The state folder. */
  readonly state: string | undefined;
  readonly platform: NodeJS.Platform;
}

/** Control socket of one gateway. The socket may be stale: only a request shows whether the gateway runs. */
export interface SocketPath {
  readonly pid: number;
  readonly path: string;
}

const PIPES = '\\\\.\\pipe\\';
const SOCKET = /^(\d+)\.sock$/u;
const PIPE = /^weir-(\d+)$/u;

/** Longest path of a socket in bytes, a limit of the system. */
const LONGEST_PATH = { linux: 107, others: 103 };

/**
 * Returns the socket path for a new gateway, in the first usable folder. Undefined without any folder; throws where none is
 * usable.
 */
export function socketPathOf(pid: number, location: SocketLocation): SocketPath | undefined {
  if (location.platform === 'win32') return { pid, path: `${PIPES}weir-${pid}` };
  const reasons: unknown[] = [];
  for (const folder of foldersFor(location)) {
    const path = join(folder, `${pid}.sock`);
    try {
      checkLength(path, location.platform);
      prepareFolder(folder);
      return { pid, path };
    } catch (error) {
      reasons.push(error);
    }
  }
  if (reasons.length > 0) throw reasons[0];
  return undefined;
}

/** Returns all control sockets, stale ones included. */
export function socketPathsIn(location: SocketLocation): SocketPath[] {
  if (location.platform === 'win32') return socketPathsAmong(PIPES, PIPE);
  const socketPaths = foldersFor(location).flatMap((folder) => socketPathsAmong(folder, SOCKET));
  return socketPaths.toSorted((one, other) => one.pid - other.pid);
}

/** A host may start a gateway without the variable that a terminal has: both places count. */
function foldersFor({ env, state }: SocketLocation): string[] {
  const runtime = env['XDG_RUNTIME_DIR'];
  const folders = runtime !== undefined && isAbsolute(runtime) ? [join(runtime, 'weir')] : [];
  if (state === undefined) return folders;
  const problem = stateProblem(state);
  if (problem === undefined) return [...folders, join(state, 'run')];
  if (folders.length === 0) throw new Error(problem);
  return folders;
}

function socketPathsAmong(folder: string, shape: RegExp): SocketPath[] {
  return namesIn(folder).flatMap((name) => {
    const pid = shape.exec(name)?.[1];
    return pid === undefined ? [] : [{ pid: Number(pid), path: join(folder, name) }];
  });
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

/** Creates the folder of a socket, accessible to its owner alone; throws where that is impossible. */
function prepareFolder(folder: string): void {
  makeFolder(folder);
  const { mode, uid, ...entry } = statOf(folder);
  if (!entry.isFolder || uid !== process.getuid?.())
    throw new Error(
      `${folder} is not a folder of this user. Remove it, or set XDG_RUNTIME_DIR to another one.`,
    );
  if ((mode & 0o077) !== 0) chmodSync(folder, 0o700);
}

function statOf(path: string): { mode: number; uid: number; isFolder: boolean } {
  const stat = lstatSync(path);
  return { mode: stat.mode, uid: stat.uid, isFolder: stat.isDirectory() };
}

function checkLength(path: string, platform: NodeJS.Platform): void {
  if (Buffer.byteLength(path) > (platform === 'linux' ? LONGEST_PATH.linux : LONGEST_PATH.others))
    throw new Error(`The path ${path} is too long for a socket. Set XDG_RUNTIME_DIR to a shorter one.`);
}

/** Removes a stale socket. Keeps one whose process lives, because that gateway may just be starting. */
export function removeStale({ pid, path }: SocketPath, platform: NodeJS.Platform): void {
  if (platform !== 'win32' && !isAlive(pid)) rmSync(path, { force: true });
}
