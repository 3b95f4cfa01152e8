import { matchesGlob } from './glob.ts';

/** A volume of a container, as `source:target[:ro]` says it. */
interface Volume {
  readonly source: string;
  readonly target: string;
  readonly isReadOnly: boolean;
}

export function readVolume(text: string): Volume {
  const [, source = '', target = '', mode] = /^(.*?[^:]):(\/[^:]*)(?::(r[ow]))?$/s.exec(text) ?? [];
  return { source, target, isReadOnly: mode === 'ro' };
}

export function isVolumeName(source: string): boolean {
  return /^[A-Za-z0-9][\w.-]+$/.test(source);
}

const ROOT = 'the root folder of this machine';
const ENGINE = 'the container engine';
const MACHINE = 'files that control this machine';

/**
 * Places that no container gets, whether or not they exist on this machine: the engine may run on another one, or come
 * later. `~` is any home folder; a step may hold wildcards.
 */
const PLACES: readonly (readonly [gives: string, paths: readonly string[]])[] = [
  // A program that can write to the socket of an engine can start a container with every right.
  [
    ENGINE,
    [
      '/run/docker.sock',
      '/run/docker',
      '/run/podman',
      '/run/containerd',
      '/run/crio',
      '/run/buildkit',
      '/run/k3s',
      '/run/user/*/docker.sock',
      '/run/user/*/docker',
      '/run/user/*/podman',
      '/run/user/*/containerd*',
      '/run/user/*/buildkit*',
      '~/.docker/run',
      '~/.docker/desktop',
      '~/.colima',
      '~/.config/colima',
      '~/.lima',
      '~/.rd',
      '~/.orbstack',
      '~/.local/share/containers',
      '~/Library/Containers/com.docker.docker',
    ],
  ],
  // The files of an engine are those of all its containers: what is changed there runs with their rights.
  [
    ENGINE,
    [
      '/var/lib/docker',
      '/var/lib/containers',
      '/var/lib/containerd',
      '/var/lib/rancher',
      '/var/lib/kubelet',
      '/etc/docker',
      '/etc/containerd',
      '/etc/containers',
      '/etc/kubernetes',
      '~/.local/share/docker',
      '?:/ProgramData/Docker',
      '?:/Users/*/AppData/Local/Docker',
    ],
  ],
  // The kernel's own files, and those that decide who is root and what root runs.
  [
    MACHINE,
    [
      '/proc',
      '/sys',
      '/dev',
      '/boot',
      '/etc/passwd*',
      '/etc/group*',
      '/etc/shadow*',
      '/etc/gshadow*',
      '/etc/sudoers*',
      '/etc/pam.d',
      '/etc/ssh',
      '/etc/systemd',
      '/etc/init.d',
      '/etc/cron*',
      '/etc/profile*',
      '/etc/ld.so.*',
      '?:/Windows',
    ],
  ],
];

/** Folders of users on Linux and macOS. */
const HOMES: readonly string[] = ['/home/*', '/root', '/Users/*', '/var/root', '/var/home/*'];

/** Places that mean an engine on this machine in particular. */
export interface OwnPlaces {
  readonly home?: string | undefined;
  readonly engine?: readonly string[];
}

/** Says what a container would get with a path of the machine that it runs on; undefined for a path that is safe. */
export function unsafeSource(source: string, own: OwnPlaces = {}): string | undefined {
  if (isPipe(source)) return `${ENGINE} (a named pipe)`;
  const steps = stepsOf(source);
  if (steps.length === 0 || (steps.length === 1 && /^[a-z]:$/.test(steps[0] ?? ''))) return ROOT;
  for (const [gives, path] of knownPlaces(own)) if (overlaps(steps, path)) return `${gives} (${path})`;
  return undefined;
}

/** Returns the known places that have no wildcard, so that they can be looked at on this machine. */
export function fixedPlaces(home: string): string[] {
  const paths = PLACES.flatMap(([, all]) => all).map((path) => path.replace('~', home));
  return paths.filter((path) => path.startsWith('/') && !path.includes('*'));
}

function* knownPlaces({ home, engine = [] }: OwnPlaces): Generator<readonly [gives: string, path: string]> {
  const homes = home === undefined ? HOMES : [home, ...HOMES];
  for (const [gives, paths] of PLACES)
    for (const path of paths)
      for (const one of path.startsWith('~') ? homes.map((folder) => path.replace('~', folder)) : [path])
        yield [gives, one];
  for (const path of engine) yield [ENGINE, path];
}

/** True where one of them is, holds or lies in the other. */
function overlaps(steps: readonly string[], path: string): boolean {
  const pattern = stepsOf(path);
  const shared = steps.slice(0, pattern.length);
  return shared.length > 0 && shared.every((step, index) => matchesGlob(pattern[index] ?? '', step));
}

/** True for a named pipe of Windows, which engines have there instead of sockets. */
function isPipe(source: string): boolean {
  return /^[\\/]{2}[.?][\\/]pipe(?:[\\/]|$)/i.test(source);
}

/** The steps of a path; two spellings of one path have the same. Some systems do not tell capitals apart. */
function stepsOf(path: string): string[] {
  const steps: string[] = [];
  for (const step of path.toLowerCase().split(/[\\/]+/)) {
    if (step === '..') steps.pop();
    else if (step !== '' && step !== '.') steps.push(step);
  }
  // Names of this machine's drives in Docker Desktop and in WSL.
  const isShared = steps[0] === 'host_mnt' || (steps[0] === 'mnt' && steps[1]?.length === 1);
  if (isShared) steps.shift();
  if (isShared && steps[0]?.length === 1) steps[0] += ':';
  // macOS has a folder around what other systems have at the top.
  if (steps[0] === 'private') steps.shift();
  if (steps[0] === 'var' && steps[1] === 'run') steps.shift();
  return steps;
}
