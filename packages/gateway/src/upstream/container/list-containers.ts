import type { Environment } from '../../config/child-environment.ts';
import type { OwnedContainer, Reaped } from './containers.ts';

export type { OwnedContainer, Reaped };

// The code behind these functions is loaded with the first call.

/** The containers that gateways have started on the engine which `docker` finds in this environment. */
export async function listContainers(env: Environment): Promise<OwnedContainer[]> {
  const { listHere } = await import('./containers.ts');
  return listHere(env);
}

/** Removes those whose gateways are gone. */
export async function removeOrphans(env: Environment): Promise<Reaped> {
  const { reapHere } = await import('./containers.ts');
  return reapHere(env);
}
