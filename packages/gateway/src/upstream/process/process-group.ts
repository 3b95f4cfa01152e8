import type * as ChildProcesses from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import type { Attempt } from './spawn-error.ts';
import { systemTool } from './windows-command.ts';

/** Limits of the stages of a stop, in milliseconds. */
export interface StopTiming {
  /** Between the end of its stdin and SIGTERM. */
  eofMs: number;
  /** Between SIGTERM and SIGKILL. */
  termMs: number;
  /** After SIGKILL, until it is given up as unkillable. */
  killMs: number;
}

export const STOP_TIMING: StopTiming = { eofMs: 2000, termMs: 2000, killMs: 500 };
/** The longest that a server may take which is still starting: nothing of its work is lost. */
const STARTING_MS = 1000;

/** The stages of a stop that has so many milliseconds until SIGKILL. */
export function stopTiming(killAfterMs: number = STOP_TIMING.eofMs + STOP_TIMING.termMs): StopTiming {
  return { ...STOP_TIMING, eofMs: killAfterMs / 2, termMs: killAfterMs / 2 };
}

/** The same stop for a server that is still starting. */
export function whileStarting({ eofMs, termMs, killMs }: StopTiming = STOP_TIMING): StopTiming {
  return { eofMs: Math.min(eofMs, STARTING_MS), termMs: Math.min(termMs, STARTING_MS), killMs };
}

const POLL_MS = 20;

/** A server together with all that it started and that stayed with it. */
export interface ProcessGroup {
  /** Sends a signal; 0 only checks. Returns false where the group has no process. */
  signal(signal: 'SIGTERM' | 'SIGKILL' | 0): boolean;
  /** Returns true where a process of the group still runs: a zombie does not. */
  hasLiving(): boolean;
}

/** Ends whatever is in the group: SIGTERM, and SIGKILL for what is still there later. True when nothing is left. */
export async function clearGroup(group: ProcessGroup, { termMs, killMs }: StopTiming): Promise<boolean> {
  const asked = !group.signal('SIGTERM') || (await emptiedWithin(group, termMs));
  return asked || !group.signal('SIGKILL') || emptiedWithin(group, killMs);
}

async function emptiedWithin(group: ProcessGroup, ms: number): Promise<boolean> {
  const began = performance.now();
  let lookAt = 0;
  // By the clock: on a busy machine a hundred naps of 20 ms take far longer than 2 s.
  for (let waited = 0; waited < ms; waited = performance.now() - began) {
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    if (!group.signal(0)) return true;
    if (waited < lookAt) continue;
    if (!group.hasLiving()) return true;
    // To look closely takes milliseconds where many processes run: less often as time goes by.
    lookAt = waited * 2;
  }
  return false;
}

export function posixGroup(leader: number): ProcessGroup {
  return {
    signal(signal) {
      try {
        process.kill(-leader, signal);
        return true;
      } catch {
        // The group is empty (ESRCH), or has only zombies and processes of other users (EPERM).
        return false;
      }
    },
    hasLiving: () => hasLivingMember(leader),
  };
}

/** Unproven: never run on a real Windows. Once the server itself has ended, what it started can no longer be found. */
export function windowsTree(leader: ChildProcess, env: Attempt['env']): ProcessGroup {
  const isRunning = (): boolean => leader.exitCode === null && leader.signalCode === null;
  return {
    signal(signal) {
      const force = signal === 'SIGKILL' ? ['/F'] : [];
      if (signal !== 0 && isRunning()) taskkill(['/T', ...force, '/PID', String(leader.pid)], env);
      return isRunning();
    },
    hasLiving: isRunning,
  };
}

function taskkill(args: readonly string[], env: Attempt['env']): void {
  childProcess()
    .spawn(systemTool('taskkill.exe', env), args, { stdio: 'ignore', windowsHide: true })
    .on('error', () => undefined);
}

/**
 * Returns true where a process group has a member that runs. One that only awaits burial still counts as a member for `kill`,
 * and where the system's first process buries late or never, as in many containers, that could be for ever.
 */
export function hasLivingMember(group: number): boolean {
  const pids = listProc();
  // Without /proc, only `kill` tells.
  return pids === undefined || pids.some((pid) => isLivingMember(pid, group));
}

function listProc(): string[] | undefined {
  try {
    const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
    return pids.length === 0 ? undefined : pids;
  } catch {
    return undefined;
  }
}

function isLivingMember(pid: string, group: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    // The program's name comes first, in brackets, and may hold anything.
    const [state = '', , itsGroup] = stat.slice(stat.lastIndexOf(')') + 2).split(' ', 3);
    return itsGroup === String(group) && !'ZX'.includes(state);
  } catch {
    return false;
  }
}

/** Loaded with the first process: the first list is answered before one is spawned, and need not wait for it. */
export const childProcess = (): typeof ChildProcesses => process.getBuiltinModule('node:child_process');
