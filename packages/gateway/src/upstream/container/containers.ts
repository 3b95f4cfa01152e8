import { childEnvironments, type Environment } from '../../config/child-environment.ts';
import type { Log } from '../../log.ts';
import { Repeats } from '../supervision/server-logs.ts';
import { Engine, type Contained } from './engine.ts';
import {
  ownSelf,
  NAME_LABEL,
  OWNED_LABEL,
  OwnerState,
  ownerIn,
  SERVER_LABEL,
  stateOf,
  type ContainerOwner,
} from './owner.ts';

/** Variables that the `docker` command obeys, beside those that every program gets. */
const COMMAND_VARIABLES: string[] = [
  'DOCKER_HOST',
  'DOCKER_CONTEXT',
  'DOCKER_CONFIG',
  'DOCKER_CERT_PATH',
  'DOCKER_TLS_VERIFY',
  'DOCKER_API_VERSION',
  'CONTAINER_HOST',
  'SSH_AUTH_SOCK',
];

const REAP_EVERY_MS = 60_000;

/** The engine that the `docker` command finds in this environment. */
function engineFor(env: Environment): Engine {
  return new Engine(childEnvironments(env, process.platform)({ inheritEnv: COMMAND_VARIABLES }));
}

export function containersFor(env: Environment, log: Log): Containers {
  return new Containers(engineFor(env), log);
}

/** Parts that all servers in containers share: the engine, the owner, and the reaper of orphans. */
export class Containers {
  readonly engine: Engine;
  readonly self: ContainerOwner;
  readonly #log: Log;
  readonly #repeats: Repeats = new Repeats(Date.now);
  #reaped: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(engine: Engine, log: Log) {
    this.engine = engine;
    this.self = ownSelf();
    this.#log = log;
  }

  /** Resolves when what earlier gateways have left is gone: it might hold names and ports that are wanted. */
  async ready(): Promise<void> {
    this.#reaped ??= this.#begin();
    try {
      await this.#reaped;
    } catch (error) {
      // The engine may be there the next time.
      this.#reaped = undefined;
      throw error;
    }
  }

  end(): void {
    clearInterval(this.#timer);
  }

  /** Kills what still waits for the engine. */
  abandon(): void {
    this.engine.abandon();
  }

  async #begin(): Promise<void> {
    await this.#reap();
    this.#timer ??= setInterval(() => void this.#reapQuietly(), REAP_EVERY_MS).unref();
  }

  async #reap(): Promise<void> {
    const { removed, left } = await reapOrphans(this.engine, this.self);
    for (const { name, pid } of removed)
      this.#log.info(`Container ${name} removed: its gateway (process ${pid}) has ended`);
    for (const { name, reason } of left) {
      const text = `Cannot remove container ${name}, whose gateway has ended: ${reason}`;
      const said = this.#repeats.say(text);
      if (said !== undefined) this.#log.warn(said);
    }
  }

  async #reapQuietly(): Promise<void> {
    try {
      // Its labels say that it is in use, for its gateway lives.
      await this.engine.removeAgain();
      await this.#reap();
    } catch (error) {
      this.#log.debug?.(`Cannot look for orphaned containers: ${(error as Error).message}`);
    }
  }
}

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
async function listOwned(engine: Engine, self: ContainerOwner): Promise<OwnedContainer[]> {
  return (await engine.find(OWNED_LABEL)).map((container) => describe(container, self));
}

function describe({ labels, ...container }: Contained, self: ContainerOwner): OwnedContainer {
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
async function reapOrphans(engine: Engine, self: ContainerOwner): Promise<Reaped> {
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

/** See `listContainers`. */
export function listHere(env: Environment): Promise<OwnedContainer[]> {
  return listOwned(engineFor(env), ownSelf());
}

/** See `removeOrphans`. */
export function reapHere(env: Environment): Promise<Reaped> {
  return reapOrphans(engineFor(env), ownSelf());
}
