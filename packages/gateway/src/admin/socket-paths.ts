import { chmodSync, lstatSync, readdirSync, rmSync } from 'node:fs';
import { isAbsolute, join } from 'node:path';
import { makeFolder } from '../state/files.ts';
import { stateProblem } from '../state/state-problem.ts';
import { isAlive } from '../upstream/process/is-alive.ts';

/** Where gateways can be spoken to, as a process sees it. */
export interface SocketLocation {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The state folder. */
  readonly state: string | undefined;
  readonly platform: NodeJS.Platform;
}

/** The way to one gateway; whether somebody is behind it only asking tells. */
export interface SocketPath {
  readonly pid: number;
  readonly path: string;
}

const PIPES = '\\\\.\\pipe\\';
const SOCKET = /^(\d+)\.sock$/u;
const PIPE = /^weir-(\d+)$/u;

/** What a path of a socket may be long, in bytes. */
const LONGEST_PATH = { linux: 107, others: 103 };

/** Where a gateway opens its door: in the first folder that will do. Undefined where it has none; throws where none will do. */
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

/** All doors, those included that nobody is behind any more. */
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

/** Makes the folder of a door, for its owner alone; throws where that cannot be had. */
function prepareFolder(folder: string): void {
  makeFolder(folder);
  const { mode, uid, ...entry } = statOf(folder);
  if (!entry.isFolder || uid !== process.getuid?.()) throw new Error(`${folder} is no folder of ours`);
  if ((mode & 0o077) !== 0) chmodSync(folder, 0o700);
}

function statOf(path: string): { mode: number; uid: number; isFolder: boolean } {
  const stat = lstatSync(path);
  return { mode: stat.mode, uid: stat.uid, isFolder: stat.isDirectory() };
}

function checkLength(path: string, platform: NodeJS.Platform): void {
  if (Buffer.byteLength(path) > (platform === 'linux' ? LONGEST_PATH.linux : LONGEST_PATH.others))
    throw new Error(`${path} is too long a path for a socket. Set XDG_RUNTIME_DIR to a shorter one.`);
}

/** Takes away a door that leads nowhere. One whose process lives stays: it may just be opening. */
export function removeStale({ pid, path }: SocketPath, platform: NodeJS.Platform): void {
  if (platform !== 'win32' && !isAlive(pid)) rmSync(path, { force: true });
}
