import { childEnvironments } from '../config/child-environment.ts';
import type { Log } from '../log.ts';
import { EraCache } from '../state/era-cache.ts';
import type { Stores } from '../state/stores.ts';
import { StartClock } from '../time/start-clock.ts';
import { within } from '../time/timeouts.ts';
import type { Stoppable } from './connection.ts';
import type { Containers } from './container/containers.ts';
import { CHAIN_VARIABLE, type Chain } from './gateway-chain.ts';
import { startGuard, type Guard } from './process/guard.ts';
import type { StopTiming } from './process/process-group.ts';
import { createSlots, type Slots } from './process/start-slots.ts';
import type { ServerOptions } from './server-options.ts';
import { stopServers } from './stop-servers.ts';
import { ServerLogs } from './supervision/server-logs.ts';

/** As many servers start at a time; with more of them on their way, each may take longer. */
function startPlaces(): number {
  const { availableParallelism } = process.getBuiltinModule('node:os');
  return 2 * availableParallelism();
}

/** Places on a machine of one processor. Who starts no more servers does without the library that counts processors. */
const LEAST_PLACES = 2;

/** For killed processes to be gone, the guard's last rounds, and a container engine that is slow to remove. */
const AFTER_KILL_MS = 1000;

export interface ServerContextOptions {
  readonly stores: Pick<Stores, 'eras'>;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly log: Log;
  readonly chain: Chain;
}

/** What all servers are started with, and ended. */
export class ServerContext {
  readonly logs: ServerLogs = new ServerLogs(Date.now);
  readonly eraCache: EraCache;
  readonly #options: ServerContextOptions;
  #slots: Slots | undefined;
  #startClock: StartClock | undefined;
  #environmentOf: ServerOptions['environmentOf'] | undefined;
  #places: number | undefined;
  #guard: Guard | undefined;
  #containers: Promise<Containers> | undefined;

  constructor(options: ServerContextOptions) {
    this.#options = options;
    this.eraCache = new EraCache(options.stores.eras);
  }

  readonly #startPlaces = (): number => {
    this.#places ??= startPlaces();
    return this.#places;
  };

  // What only a start needs is made at the first one: the first list goes before.

  get slots(): Slots {
    this.#slots ??= createSlots(LEAST_PLACES, this.#startPlaces);
    return this.#slots;
  }

  get startClock(): StartClock {
    this.#startClock ??= new StartClock(LEAST_PLACES, this.#startPlaces);
    return this.#startClock;
  }

  readonly environmentOf: ServerOptions['environmentOf'] = (config) => {
    const { env, chain } = this.#options;
    this.#environmentOf ??= childEnvironments(env, process.platform);
    return { ...this.#environmentOf(config), [CHAIN_VARIABLE]: chain.text };
  };

  /** Started right before the first server: a gateway without servers needs none. */
  readonly guard = (): Guard => {
    const { env, log } = this.#options;
    this.#guard ??= startGuard({
      path: env['PATH'],
      onLost: (reason) => log.warn(`The guard that cleans up after a crash is gone: ${reason}`),
    });
    return this.#guard;
  };

  /** What containers need is loaded here: most gateways have none. */
  readonly containers = (): Promise<Containers> => {
    const { env, log } = this.#options;
    this.#containers ??= import('./container/containers.ts').then(({ containersFor }) =>
      containersFor(env, log),
    );
    return this.#containers;
  };

  /** Ends the last servers, and what has watched over them. What still hangs after SIGKILL is not waited for. */
  async end(servers: readonly Stoppable[], timing: StopTiming): Promise<void> {
    void this.#containers?.then((containers) => containers.end());
    const stopped =
      this.#guard === undefined
        ? Promise.all(servers.map((server) => server.stop(timing)))
        : stopServers(servers, this.#guard, { timing });
    await within(timing.eofMs + timing.termMs + AFTER_KILL_MS, stopped);
    void this.#containers?.then((containers) => containers.abandon());
  }
}
