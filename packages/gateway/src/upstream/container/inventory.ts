import type { Contained, Engine } from './engine.ts';
import { NAME_LABEL, OWNED_LABEL, OwnerState, ownerIn, SERVER_LABEL, stateOf, type Owner } from './owner.ts';

/** A container that some gateway has started. */
export interface OwnedContainer {
  readonly id: string;
  readonly name: string;
  readonly image: string;
  /** As the engine calls it: created, running, exited … */
  readonly status: string;
  /** The key of the server in its gateway's config. */
  readonly server: string;
  /** The process id of its gateway. */
  readonly pid: number | undefined;
  readonly owner: OwnerState;
}

/** All containers that gateways have started on this engine, with what is known of their gateways. */
export async function listOwned(engine: Engine, self: Owner): Promise<OwnedContainer[]> {
  return (await engine.find(OWNED_LABEL)).map((container) => describe(container, self));
}

function describe({ labels, ...container }: Contained, self: Owner): OwnedContainer {
  const { id, name, image, status } = container;
  const owner = labels[NAME_LABEL] === name ? ownerIn(labels) : undefined;
  return {
    id,
    name,
    image,
    status,
    server: labels[SERVER_LABEL] ?? '',
    pid: owner === undefined ? undefined : Number(owner.pid),
    owner: stateOf(owner, self),
  };
}

/** A container that could not be removed, and why. */
interface Leftover extends OwnedContainer {
  readonly reason: string;
}

export interface Reaped {
  readonly removed: readonly OwnedContainer[];
  readonly left: readonly Leftover[];
}

/** Removes the containers whose gateways are gone; never one of which that is not certain. */
export async function reapOrphans(engine: Engine, self: Owner): Promise<Reaped> {
  const orphans = (await listOwned(engine, self)).filter(({ owner }) => owner === OwnerState.GONE);
  const removed: OwnedContainer[] = [];
  const left: Leftover[] = [];
  await Promise.all(
    orphans.map(async (orphan) => {
      try {
        await engine.remove(orphan.id);
        removed.push(orphan);
      } catch (error) {
        left.push({ ...orphan, reason: (error as Error).message });
      }
    }),
  );
  return { removed, left };
}
