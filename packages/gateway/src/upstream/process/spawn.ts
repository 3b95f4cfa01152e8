import type { ChildProcessByStdio } from 'node:child_process';
import { once } from 'node:events';
import { statSync } from 'node:fs';
import type { Socket } from 'node:net';
import type { Readable, Writable } from 'node:stream';
import { within } from '../../time/timeouts.ts';
import { OWNER_VARIABLE, type Guard } from './guard.ts';
import { readLines, OutputTail } from './output-tail.ts';
import {
  childProcess,
  clearGroup,
  posixGroup,
  STOP_TIMING,
  windowsTree,
  type StopTiming,
} from './process-group.ts';
import { explainSpawnFailure } from './spawn-error.ts';
import { windowsCommand, type Startable } from './windows-command.ts';

export interface SpawnOptions {
  guard: Pick<Guard, 'mark' | 'watch' | 'unwatch' | 'note'>;
  /** One line of stderr, escaped. */
  onStderrLine: (line: string) => void;
  platform?: NodeJS.Platform;
  timing?: StopTiming;
}

export interface Exit {
  code: number | null;
  signal: NodeJS.Signals | null;
  /** Reason of the exit, where one is known that says more. */
  why?: string;
}

/** A server as a process. */
export interface ServerProcess {
  readonly pid: number;
  readonly stdin: Writable;
  readonly stdout: Readable;
  /** Resolves when the first byte arrives on stdout; never, if none does. */
  readonly firstByte: Promise<void>;
  /** Resolves when it has ended and all it wrote has been read; never rejects. */
  readonly exited: Promise<Exit>;
  /** The last lines of its stderr, escaped. */
  stderrTail(): string[];
  /** Ends it and all that it started in its group; resolves when they are gone. The timing of the first call counts. */
  stop(timing?: StopTiming): Promise<void>;
}

/** Silence after an exit that ends the wait for the end of the pipes, in milliseconds: another process may hold them open. */
const DRAIN_MS = 200;
/** Limit of that wait while output is still being read, in milliseconds: a busy machine reads it late. */
const LONGEST_DRAIN_MS = 5000;

/** Starts a server, without a shell and as the leader of a process group of its own; rejects with a `SpawnError`. */
export async function spawnServer(spec: ServerSpec, options: SpawnOptions): Promise<ServerProcess> {
  try {
    const child = startProcess(spec, options.guard.mark, options.platform);
    if (child.pid !== undefined) return running(child, child.pid, { ...options, env: spec.env });
    throw (await once(child, 'error'))[0];
  } catch (error) {
    throw await explainSpawnFailure(error, spec);
  }
}

function running(child: Child, pid: number, options: SpawnOptions & Pick<ServerSpec, 'env'>): ServerProcess {
  const { guard, platform = process.platform } = options;
  let { timing = STOP_TIMING } = options;
  // Told in the same breath as the start: the gateway may be killed at any moment.
  guard.watch(pid);
  ignoreStreamErrors(child);
  const stderr = new OutputTail(options.onStderrLine);
  const stderrRead = readLines(child.stderr, stderr);
  const group = platform === 'win32' ? windowsTree(child, options.env) : posixGroup(pid);
  const clear = onlyOnce(async () => {
    if (await clearGroup(group, timing)) guard.unwatch(pid);
  });
  const exit = exitOf(child);
  const stopOnce = onlyOnce(() => stop(child, { guard, exit, clear, eofMs: timing.eofMs }));
  void exit.then(clear);
  return {
    pid,
    stdin: child.stdin,
    stdout: child.stdout,
    firstByte: firstByteOf(child.stdout),
    exited: drained(child, exit, stderrRead).finally(() => stderr.end()),
    stderrTail: () => stderr.tail(),
    stop: (wanted) => {
      timing = wanted ?? timing;
      return stopOnce();
    },
  };
}

/** A server that stops reading or is killed breaks its pipes; its exit tells of that. */
function ignoreStreamErrors({ stdin, stdout, stderr }: Child): void {
  for (const stream of [stdin, stdout, stderr]) stream.on('error', () => undefined);
}

function exitOf(child: Child): Promise<Exit> {
  return new Promise((resolve) => child.once('exit', (code, signal) => resolve({ code, signal })));
}

/** Watched at the door of the stream: a listener for its data would set it flowing before its reader is there. */
function firstByteOf(stdout: Readable): Promise<void> {
  return new Promise((resolve) => {
    const push = stdout.push.bind(stdout);
    stdout.push = (chunk: unknown, encoding) => {
      stdout.push = push;
      if (chunk !== null) resolve();
      return push(chunk, encoding);
    };
  });
}

/** Resolves with the exit once all output before it has been read, or a little later where another process holds the pipes. */
async function drained(child: Child, exit: Promise<Exit>, stderrRead: Promise<void>): Promise<Exit> {
  const { stdout } = child;
  const closed = new Promise((resolve) => child.once('close', resolve));
  const result = await exit;
  const ended = Promise.all([closed, stderrRead]);
  const until = performance.now() + LONGEST_DRAIN_MS;
  for (let read = -1; read !== bytesRead(stdout) || stdout.isPaused();) {
    read = bytesRead(stdout);
    if ((await within(DRAIN_MS, ended)) || performance.now() > until) break;
    // After a pause of this process the timer fires before the pipes are read.
    await new Promise((resolve) => setImmediate(resolve));
  }
  return result;
}

function bytesRead(stdout: Readable): number {
  return (stdout as Socket).bytesRead;
}

async function stop(child: Child, { guard, exit, clear, eofMs }: Stopping): Promise<void> {
  const began = performance.now();
  // Once it has ended, nothing tells any more what it had started in other groups.
  await guard.note();
  child.stdin.end();
  await within(eofMs - (performance.now() - began), exit);
  await clear();
  // Something outside the group may hold the other ends; the gateway lets go.
  child.stdout.destroy();
  child.stderr.destroy();
}

interface Stopping {
  guard: Pick<Guard, 'note'>;
  exit: Promise<Exit>;
  clear: () => Promise<void>;
  eofMs: number;
}

function onlyOnce(action: () => Promise<void>): () => Promise<void> {
  let result: Promise<void> | undefined;
  return () => (result ??= action());
}

export interface ServerSpec {
  command: string;
  args: readonly string[];
  /** The whole environment of the server; only the owner's mark is added. */
  env: Readonly<Record<string, string | undefined>>;
  cwd?: string | undefined;
  /** The working directory is one that a client has named. */
  isClientFolder?: boolean | undefined;
}

type Child = ChildProcessByStdio<Writable, Readable, Readable>;

/** Starts a program with pipes to it. No shell is involved, and it leads a process group of its own. */
function startProcess(spec: ServerSpec, mark: string, platform: NodeJS.Platform = process.platform): Child {
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
