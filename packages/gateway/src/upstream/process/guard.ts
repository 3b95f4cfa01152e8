import type { ChildProcessByStdio } from 'node:child_process';
import { closeSync, openSync, readSync } from 'node:fs';
import { Socket } from 'node:net';
import type { Readable, Writable } from 'node:stream';
import { within } from '../../time/timeouts.ts';
import { GUARD_PROGRAM } from './guard.generated.ts';
import { childProcess } from './process-group.ts';

/** Variable by which the guard knows the processes that a gateway started, at any depth; guard.sh names it, too. */
export const OWNER_VARIABLE = 'WEIR_OWNER';

/** Hex digits of a mark. The guard looks for no other length, because an empty mark would match the servers of every gateway. */
const MARK_LENGTH = 32;

/** Outlives the gateway by seconds, to stop whatever is left of its servers. */
export interface Guard {
  /** Every server carries it in its environment. */
  readonly mark: string;
  watch(group: number): void;
  /** For a group that is empty: its number may soon be another's. */
  unwatch(group: number): void;
  /** Finds what the servers have started, while their being parents still shows it; resolves when that is done. */
  note(): Promise<void>;
  /** Asks what has left its server's group to end. */
  sweep(): void;
  /** Stops what is left, also what has left its server's group, and resolves when that is done. */
  release(graceMs?: number): Promise<void>;
}

export interface GuardOptions {
  /** PATH in which the guard finds grep, sleep and tr. */
  path?: string | undefined;
  /** There is no guard, or none any more. */
  onLost?: ((reason: string) => void) | undefined;
  mark?: string;
  platform?: NodeJS.Platform;
  shell?: string;
}

type Program = ChildProcessByStdio<Writable, Readable, null>;

/**
 * A look at thousands of processes takes a fifth of a second, on a machine that has other things to do a whole one.
 * Without it the guard misses programs in sessions of their own, but a guard that hangs must not delay the end.
 */
const LONGEST_LOOK_MS = 1500;

/** A killed gateway's servers may end faster than the guard can look, so it also looks while all is calm. */
const LOOK_MS = { afterStart: 2000, again: 30_000 };

/**
 * Starts the guard, right before the first server. Its program is guard.sh, in plain sh (dash, bash, busybox), because a second
 * Node would double the gateway's memory. Groups, mark and grace reach it as lines on stdin, whose end makes it act.
 * On Windows it does nothing (unproven there: servers see their stdin end).
 */
export function startGuard(options: GuardOptions = {}): Guard {
  const { platform = process.platform, mark = createMark(platform) } = options;
  if (!isMark(mark))
    throw new TypeError(`A guard's mark has ${MARK_LENGTH} hex digits; leave it out to get a random one`);
  const program = platform === 'win32' ? undefined : spawnProgram(options);
  return program === undefined
    ? new AbsentGuard(mark)
    : new ShellGuard(program, { ...options, mark, platform });
}

/** Random, so that nothing else can carry it. Asking the system itself spares the gateway a library of a megabyte. */
function createMark(platform: NodeJS.Platform): string {
  if (platform === 'win32') return '0'.repeat(MARK_LENGTH);
  const mark = Buffer.alloc(MARK_LENGTH / 2);
  const source = openSync('/dev/urandom', 'r');
  readSync(source, mark);
  closeSync(source);
  return mark.toString('hex');
}

function isMark(text: string): boolean {
  return text.length === MARK_LENGTH && /^[0-9a-f]+$/.test(text);
}

/** Its own session, no standard stream of the gateway, and an environment without any mark: no sweep finds a guard. */
function spawnProgram({ path, shell = '/bin/sh', onLost }: GuardOptions): Program | undefined {
  try {
    const program = childProcess().spawn(shell, ['-c', GUARD_PROGRAM], {
      cwd: '/',
      detached: true,
      env: { LC_ALL: 'C', PATH: path ?? '/usr/local/bin:/usr/bin:/bin' },
      stdio: ['pipe', 'pipe', 'ignore'],
    });
    if (hasPipes(program)) return program;
    program.once('error', (error) => onLost?.(error.message));
    return undefined;
  } catch (error) {
    onLost?.(String(error));
    return undefined;
  }
}

/** Returns false where too many files are open: Node then makes no pipes, against its types. */
function hasPipes({ stdin }: { stdin: Writable | undefined }): boolean {
  return stdin !== undefined;
}

class AbsentGuard implements Guard {
  readonly mark: string;

  constructor(mark: string) {
    this.mark = mark;
  }

  watch(): void {}

  unwatch(): void {}

  async note(): Promise<void> {}

  sweep(): void {}

  async release(): Promise<void> {}
}

class ShellGuard implements Guard {
  readonly mark: string;
  readonly #program: Program;
  readonly #gone: Promise<string>;
  #nextLook: NodeJS.Timeout | undefined;
  #noting: Promise<void> | undefined;
  #released: Promise<void> | undefined;

  constructor(program: Program, { mark, platform, onLost }: GuardOptions & { mark: string }) {
    this.mark = mark;
    this.#program = program;
    this.#gone = end(program);
    void this.#gone.then((reason) => this.#released ?? onLost?.(reason));
    // A guard that is gone is reported once, by its end, not by every line that no longer reaches it.
    program.stdin.on('error', () => undefined);
    program.stdout.on('error', () => undefined);
    holdNothing(program);
    this.#tell(`mark ${mark}`);
    // Linux alone shows an environment as a file; macOS shows it through ps, elsewhere the groups must do.
    if (platform !== 'linux') this.#tell('scan ps');
  }

  watch(group: number): void {
    this.#tell(`+ ${checkedGroup(group)}`);
    this.#lookIn(LOOK_MS.afterStart);
  }

  unwatch(group: number): void {
    this.#tell(`- ${checkedGroup(group)}`);
  }

  /** One look serves all servers that are stopped at the same time. */
  async note(): Promise<void> {
    this.#noting ??= this.#look().finally(() => (this.#noting = undefined));
    await within(LONGEST_LOOK_MS, this.#noting);
  }

  sweep(): void {
    this.#tell('sweep');
  }

  release(graceMs = 2000): Promise<void> {
    this.#released ??= this.#release(graceMs);
    return this.#released;
  }

  #lookIn(ms: number): void {
    clearTimeout(this.#nextLook);
    if (!this.#program.stdin.writable) return;
    this.#nextLook = setTimeout(() => {
      this.#tell('look');
      this.#lookIn(LOOK_MS.again);
    }, ms).unref();
  }

  async #look(): Promise<void> {
    if (!this.#program.stdin.writable) return;
    const noted = new Promise((resolve) => this.#program.stdout.once('data', resolve));
    this.#tell('note');
    await Promise.race([noted, this.#gone]);
  }

  async #release(graceMs: number): Promise<void> {
    clearTimeout(this.#nextLook);
    this.#program.ref();
    this.#program.stdin.end(`release ${Math.max(0, Math.round(graceMs / 100))}\n`);
    // Its last rounds take a second; a guard stuck for longer must not keep the gateway from ending.
    await within(graceMs + 2000, this.#gone);
  }

  #tell(line: string): void {
    if (this.#program.stdin.writable) this.#program.stdin.write(`${line}\n`);
  }
}

function end(program: Program): Promise<string> {
  return new Promise((resolve) => {
    program.once('error', (error) => resolve(error.message));
    program.once('exit', (code, signal) => resolve(`the guard ended (${signal ?? `exit code ${code}`})`));
  });
}

/** Neither the process nor its pipes keep the gateway's event loop alive. */
function holdNothing(program: Program): void {
  program.unref();
  for (const pipe of [program.stdin, program.stdout]) if (pipe instanceof Socket) pipe.unref();
}

/** `kill -1` and `kill 0` would reach far more than a server. */
function checkedGroup(group: number): number {
  if (Number.isSafeInteger(group) && group > 1) return group;
  throw new TypeError(`Not a process group to watch: ${group}`);
}
