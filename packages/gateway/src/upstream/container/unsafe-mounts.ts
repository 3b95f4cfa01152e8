import { lstatSync, readlinkSync, realpathSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fixedPlaces, isVolumeName, readVolume, unsafeSource, type OwnPlaces } from '../../config/volumes.ts';
import { EngineError } from './engine.ts';

type EngineVariables = Readonly<Record<string, string>>;

/** Refuses volumes that would hand over the whole machine, by whatever links their sources lead there. */
export function refuseUnsafeMounts(volumes: readonly string[], env: EngineVariables): void {
  const isHere = !isElsewhere(env);
  const own = ownPlaces(env, isHere);
  for (const [index, volume] of volumes.entries()) {
    const { source, target } = readVolume(volume);
    if (isVolumeName(source)) continue;
    const what = unsafeSource(source, own) ?? (isHere ? unsafeHere(source, own) : undefined);
    if (what === undefined) continue;
    // The source may come from a variable: it is not printed.
    throw new EngineError(
      `its volume for "${target}" (dockerConfig.volumes[${index}]) would expose ${what} to the container; choose a smaller folder, or set "allowUnsafeMounts": true in its dockerConfig`,
    );
  }
}

/** True for an engine on another machine: paths are of that one, and can be judged by their names only. */
function isElsewhere({ DOCKER_HOST = '' }: EngineVariables): boolean {
  return /^(?:ssh|tcp|https?):\/\/(?!(?:[^@/]*@)?(?:localhost|127\.|\[::1\]))/i.test(DOCKER_HOST);
}

function ownPlaces(
  { DOCKER_HOST = '', HOME = '', XDG_RUNTIME_DIR = '' }: EngineVariables,
  isHere: boolean,
): OwnPlaces {
  const socket = /^unix:\/\/(\/.*)$/.exec(DOCKER_HOST)?.[1];
  const runtime = ['docker.sock', 'podman', 'containerd-rootless'].map((name) => join(XDG_RUNTIME_DIR, name));
  const engine = [...(socket === undefined ? [] : [socket]), ...(XDG_RUNTIME_DIR === '' ? [] : runtime)];
  const home = HOME === '' ? undefined : HOME;
  // Links may lead to them from elsewhere, or from them to elsewhere.
  const real = isHere ? [...engine, ...fixedPlaces(HOME)].flatMap((path) => placeOf(path) ?? []) : [];
  return { home, engine: [...engine, ...real] };
}

function unsafeHere(source: string, own: OwnPlaces): string | undefined {
  const place = placeOf(source);
  if (place === undefined) return 'a folder that this user cannot read';
  const isSocket = lstatSync(place, { throwIfNoEntry: false })?.isSocket() ?? false;
  return isSocket ? 'a socket of this machine' : unsafeSource(place, own);
}

/** Links that lead to links; the system gives up at about as many. */
const MOST_LINKS = 40;

/**
 * Returns the real path, also of an entry that does not exist yet. Undefined where a step cannot be read: the engine is
 * root, and would go on from there.
 */
function placeOf(path: string, links = 0): string | undefined {
  try {
    return realpathSync(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || links > MOST_LINKS) return undefined;
    const link = targetOf(path);
    if (link !== undefined) return placeOf(link, links + 1);
    const folder = dirname(path);
    const place = folder === path ? path : placeOf(folder, links);
    return place === undefined || folder === path ? place : join(place, path.slice(folder.length));
  }
}

/** Returns where a link leads whose end does not exist, as far as this user can see. */
function targetOf(path: string): string | undefined {
  try {
    return resolve(dirname(path), readlinkSync(path));
  } catch {
    return undefined;
  }
}
