import { isVolumeName, readVolume } from '../../config/volumes.ts';
import type { ContainerSpec } from './container-spec.ts';

export interface Creation {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  /** The arguments that hand its variables over; no value is among them. */
  readonly variables: readonly string[];
}

/** Limits, unless the config sets others. */
const DEFAULTS = { memory: '2g', cpus: 1, network: 'bridge' } as const;
/** Threads count too: a browser needs hundreds, a fork bomb thousands. */
const MOST_PROCESSES = 512;

/** The arguments of `docker create`: what is asked for, without privileges and within limits. */
export function createArguments(spec: ContainerSpec, { name, labels, variables }: Creation): string[] {
  return [
    'create',
    `--name=${name}`,
    '--rm',
    // The gateway pulls a missing image itself, and logs it.
    '--pull=never',
    // Without it many servers, being the first process, would not hear SIGTERM.
    '--init',
    ...(spec.http === undefined ? ['--interactive'] : []),
    ...hardening(spec),
    ...Object.entries(labels).map(([label, value]) => `--label=${label}=${value}`),
    ...variables,
    ...(spec.folder === undefined ? [] : [`--workdir=${spec.folder}`]),
    ...publishing(spec),
    ...(spec.docker.volumes ?? []).map((volume) => `--mount=${mountOf(volume)}`),
    // Ends the options.
    '--',
    spec.image,
    ...spec.command,
  ];
}

function hardening({ docker }: ContainerSpec): string[] {
  const { memory, cpus, network } = { ...DEFAULTS, ...docker };
  return [
    '--cap-drop=ALL',
    ...(docker.capabilities ?? []).map((capability) => `--cap-add=${capability}`),
    '--security-opt=no-new-privileges',
    `--memory=${memory}`,
    // The same limit for both together: no swap beside it.
    `--memory-swap=${memory}`,
    `--cpus=${cpus}`,
    `--pids-limit=${MOST_PROCESSES}`,
    `--network=${network}`,
    ...(docker.readOnly === true ? ['--read-only', '--tmpfs=/tmp'] : []),
  ];
}

/** On this machine's own address alone; a host port of 0 is the engine's choice. */
function publishing({ docker, http }: ContainerSpec): string[] {
  const ports = new Map(Object.entries(docker.ports ?? {}));
  if (http !== undefined && !ports.has(String(http.port))) ports.set(String(http.port), 0);
  return Array.from(
    ports,
    ([inside, outside]) => `--publish=127.0.0.1:${outside === 0 ? '' : outside}:${inside}`,
  );
}

/** In the long form a source that does not exist is an error; the short one would create it, owned by root. */
function mountOf(volume: string): string {
  const { source, target, isReadOnly } = readVolume(volume);
  const fields = [`type=${isVolumeName(source) ? 'volume' : 'bind'}`, `source=${source}`, `target=${target}`];
  return [...fields, ...(isReadOnly ? ['readonly'] : [])].map(asField).join(',');
}

/** The value of the option is a line of comma-separated fields. */
function asField(field: string): string {
  return /[",\n\r]/.test(field) ? `"${field.replaceAll('"', '""')}"` : field;
}
