import { execFileSync } from 'node:child_process';
import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';
import { isAlive } from '@weir/server/internal';
import { shortHash } from '../../hash.ts';

/** The process that a container belongs to, told apart from every other process of any machine at any time. */
export interface ContainerOwner {
  readonly machine: string;
  readonly boot: string;
  /** Process ids mean something only within their namespace. */
  readonly namespace: string;
  readonly pid: string;
  /** Process ids are used again; together with the start they are not. */
  readonly start: string;
}

/** State of a container's owner. */
export const OwnerState = {
  ALIVE: 'alive',
  GONE: 'gone',
  /** On another machine, of another boot or in another namespace: nothing here can tell. */
  ELSEWHERE: 'elsewhere',
} as const;
export type OwnerState = (typeof OwnerState)[keyof typeof OwnerState];

const PARTS = ['machine', 'boot', 'namespace', 'pid', 'start'] as const;
/** Parts that must equal ours: otherwise the state of the owner is unknown. */
const PLACE = ['machine', 'boot', 'namespace'] as const;
const LABEL = 'weir.owner.';

/** Every container of ours carries it, so that one question finds them all. */
export const OWNED_LABEL: string = `${LABEL}pid`;
export const SERVER_LABEL = 'weir.server';
/** The name it was created with: images that are made from a container pass its labels on to others. */
export const NAME_LABEL = 'weir.name';

export function labelsOf(owner: ContainerOwner): Record<string, string> {
  return Object.fromEntries(PARTS.map((part) => [LABEL + part, owner[part]]));
}

/** Undefined where a label is missing or empty: then it is none of ours. */
export function ownerIn(labels: Readonly<Record<string, string>>): ContainerOwner | undefined {
  const values = PARTS.map((part) => [part, labels[LABEL + part] ?? ''] as const);
  const isWhole = values.every(([, value]) => value !== '');
  return isWhole ? (Object.fromEntries(values) as Record<keyof ContainerOwner, string>) : undefined;
}

/** Returns the state of an owner, as far as `self` can tell. */
export function stateOf(
  owner: ContainerOwner | undefined,
  self: ContainerOwner,
  startOf: (pid: number) => string | undefined = startOfProcess,
): OwnerState {
  if (owner === undefined || PLACE.some((part) => owner[part] !== self[part])) return OwnerState.ELSEWHERE;
  const pid = Number(owner.pid);
  if (!Number.isSafeInteger(pid) || pid <= 0) return OwnerState.ELSEWHERE;
  const start = startOf(pid);
  // One that may not be looked at still runs.
  return start === owner.start || start === UNKNOWN ? OwnerState.ALIVE : OwnerState.GONE;
}

const UNKNOWN = 'unknown';

/** This process. */
export function ownSelf(pid: number = process.pid): ContainerOwner {
  return {
    // Hashed, because the id of a machine is private.
    machine: shortHash(firstOf(['/etc/machine-id', '/var/lib/dbus/machine-id']) ?? hostname()),
    boot: firstOf(['/proc/sys/kernel/random/boot_id']) ?? bootSession(),
    namespace: namespaceOfProcesses(),
    pid: String(pid),
    start: startOfProcess(pid) ?? UNKNOWN,
  };
}

/** When a process was started, in whatever the system counts in; undefined where it is gone or only awaits burial. */
export function startOfProcess(pid: number): string | undefined {
  if (!isAlive(pid)) return undefined;
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    // The program's name comes first, in brackets, and may hold anything.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return 'ZX'.includes(fields[0] ?? '') ? undefined : (fields[19] ?? UNKNOWN);
  } catch {
    return startByPs(pid);
  }
}

/** For systems without /proc. */
function startByPs(pid: number): string {
  return outputOf('ps', ['-o', 'lstart=', '-p', String(pid)]) ?? UNKNOWN;
}

function bootSession(): string {
  return outputOf('sysctl', ['-n', 'kern.bootsessionuuid']) ?? UNKNOWN;
}

function outputOf(command: string, args: readonly string[]): string | undefined {
  try {
    const output = execFileSync(command, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
    return output.trim() || undefined;
  } catch {
    return undefined;
  }
}

function namespaceOfProcesses(): string {
  try {
    return readlinkSync('/proc/self/ns/pid');
  } catch {
    return 'none';
  }
}

function firstOf(files: readonly string[]): string | undefined {
  for (const file of files) {
    try {
      const text = readFileSync(file, 'utf8').trim();
      if (text !== '') return text;
    } catch {
      // The next one may be there.
    }
  }
  return undefined;
}
