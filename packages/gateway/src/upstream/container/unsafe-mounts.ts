import { lstatSync, realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fixedPlaces, unsafeSource, type OwnPlaces } from '../../config/unsafe-sources.ts';
import { isVolumeName, readVolume } from '../../config/volume.ts';
import { EngineError } from './engine-error.ts';

type Environment = Readonly<Record<string, string>>;

/** Refuses volumes that would hand over the whole machine, by whatever links their sources lead there. */
export function refuseUnsafeMounts(volumes: readonly string[], env: Environment): void {
  const isHere = !isElsewhere(env);
  const own = ownPlaces(env, isHere);
  for (const volume of volumes) {
    const { source } = readVolume(volume);
    if (isVolumeName(source)) continue;
    const what = unsafeSource(source, own) ?? (isHere ? unsafeHere(source, own) : undefined);
    if (what === undefined) continue;
    throw new EngineError(
      `its volume "${volume}" would hand ${what} to it; choose a smaller folder, or set "allowUnsafeMounts": true in its dockerConfig`,
    );
  }
}

/** True for an engine on another machine: paths are of that one, and can be judged by their names only. */
function isElsewhere({ DOCKER_HOST = '' }: Environment): boolean {
  return /^(?:ssh|tcp|https?):\/\/(?!(?:[^@/]*@)?(?:localhost|127\.|\[::1\]))/i.test(DOCKER_HOST);
}

function ownPlaces(
  { DOCKER_HOST = '', HOME = '', XDG_RUNTIME_DIR = '' }: Environment,
  isHere: boolean,
): OwnPlaces {
  const socket = /^unix:\/\/(\/.*)$/.exec(DOCKER_HOST)?.[1];
  const runtime = ['docker.sock', 'podman', 'containerd-rootless'].map((name) => join(XDG_RUNTIME_DIR, name));
  const engine = [...(socket === undefined ? [] : [socket]), ...(XDG_RUNTIME_DIR === '' ? [] : runtime)];
  const home = HOME === '' ? undefined : HOME;
  // Links may lead to them from elsewhere, or from them to elsewhere.
  const real = isHere ? [...engine, ...fixedPlaces(HOME)].map(whereItIs) : [];
  return { home, engine: [...engine, ...real] };
}

function unsafeHere(source: string, own: OwnPlaces): string | undefined {
  const place = whereItIs(source);
  const isSocket = lstatSync(place, { throwIfNoEntry: false })?.isSocket() ?? false;
  return isSocket ? 'a socket of this machine' : unsafeSource(place, own);
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
