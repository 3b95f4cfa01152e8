import { engineFor } from './containers.ts';
import { listOwned, reapOrphans, type OwnedContainer, type Reaped } from './inventory.ts';
import { ownSelf } from './owner.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** See `listContainers`. */
export function listHere(env: Environment): Promise<OwnedContainer[]> {
  return listOwned(engineFor(env), ownSelf());
}

/** See `removeOrphans`. */
export function reapHere(env: Environment): Promise<Reaped> {
  return reapOrphans(engineFor(env), ownSelf());
}
