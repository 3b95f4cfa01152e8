import { lstatSync, realpathSync } from 'node:fs';
import { dirname, join, parse, sep } from 'node:path';
import { isVolumeName, readVolume } from './create-arguments.ts';
import { EngineError } from './engine-error.ts';

/** Through any of these a container could command the engine, and with it the machine. */
function engineParts(env: Readonly<Record<string, string>>): string[] {
  const { DOCKER_HOST = '', HOME = '', XDG_RUNTIME_DIR = '' } = env;
  const own = /^unix:\/\/(\/.*)$/.exec(DOCKER_HOST)?.[1];
  return [
    ...(own === undefined ? [] : [own]),
    ...['/run', '/var/run', XDG_RUNTIME_DIR, join(HOME, '.docker', 'run')]
      .filter((folder) => folder !== '')
      .flatMap((folder) =>
        ['docker.sock', 'podman/podman.sock', 'containerd/containerd.sock'].map((name) => join(folder, name)),
      ),
    '/var/lib/docker',
    '/var/lib/containers',
  ];
}

/** Refuses volumes that would hand over the whole machine, by whatever links their sources lead there. */
export function refuseUnsafeMounts(volumes: readonly string[], env: Readonly<Record<string, string>>): void {
  const parts = engineParts(env).map(whereItIs);
  for (const volume of volumes) {
    const { source } = readVolume(volume);
    if (isVolumeName(source)) continue;
    const place = whereItIs(source);
    const what = place === parse(place).root ? 'the root of this machine' : unsafePart(place, parts);
    if (what === undefined) continue;
    throw new EngineError(
      `its volume "${volume}" would hand ${what} to it; choose a smaller folder, or set "allowUnsafeMounts": true in its dockerConfig`,
    );
  }
}

function unsafePart(place: string, parts: readonly string[]): string | undefined {
  const isInside = parts.some(
    (part) =>
      exists(part) && (part === place || part.startsWith(place + sep) || place.startsWith(part + sep)),
  );
  return isInside || isSocket(place) ? 'the container engine' : undefined;
}

/** The real path, also of what is not there yet in a folder that is. */
function whereItIs(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    const folder = dirname(path);
    return folder === path ? path : join(whereItIs(folder), path.slice(folder.length));
  }
}

function exists(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}

function isSocket(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isSocket() ?? false;
}
