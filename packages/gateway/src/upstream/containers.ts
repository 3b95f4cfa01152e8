import type { OwnedContainer, Reaped } from './container/inventory.ts';

type Environment = Readonly<Record<string, string | undefined>>;

export type { OwnedContainer, Reaped };

/** The containers that gateways have started on the engine which `docker` finds in this environment. */
export async function listContainers(env: Environment): Promise<OwnedContainer[]> {
  const { engineFor, listOwned, ownSelf } = await load();
  return listOwned(engineFor(env), ownSelf());
}

/** Removes those whose gateways are gone. */
export async function removeOrphans(env: Environment): Promise<Reaped> {
  const { engineFor, reapOrphans, ownSelf } = await load();
  return reapOrphans(engineFor(env), ownSelf());
}

/** Whoever only has these functions at hand has not loaded what they need. */
async function load(): Promise<
  typeof import('./container/containers.ts') &
    typeof import('./container/inventory.ts') &
    typeof import('./container/owner.ts')
> {
  const [containers, inventory, owner] = await Promise.all([
    import('./container/containers.ts'),
    import('./container/inventory.ts'),
    import('./container/owner.ts'),
  ]);
  return { ...containers, ...inventory, ...owner };
}
