import { childEnvironments } from '../config/child-environment.ts';
import type { ServerConfig } from '../config/config.generated.ts';
import type { Log } from '../log.ts';
import type { Implementation } from '../protocol/eras.ts';
import { EraCache } from '../state/era-cache.ts';
import type { Stores } from '../state/stores.ts';
import { StartClock } from '../time/start-clock.ts';
import { within } from '../time/timeouts.ts';
import type { Accounts } from '../wire/account.ts';
import type { Stoppable } from './connection.ts';
import type { Containers } from './container/containers.ts';
import { CHAIN_VARIABLE, type Chain } from './gateway-chain.ts';
import { startGuard, type Guard } from './process/guard.ts';
import { STOP_TIMING, type StopTiming } from './process/process-group.ts';
import { createSlots, type Slots } from './process/start-slots.ts';
import { ServerLogs } from './supervision/server-logs.ts';

/** Number of servers that start at a time; while more of them start, each may take longer. */
function startPlaces(): number {
  const { availableParallelism } = process.getBuiltinModule('node:os');
  return 2 * availableParallelism();
}

/** Places on a machine of one processor. A gateway with no more servers does not load the library that counts processors. */
const LEAST_PLACES = 2;

/** For killed processes to be gone, the guard's last rounds, and a container engine that is slow to remove. */
const AFTER_KILL_MS = 1000;

export interface ServerContextOptions {
  readonly stores: Pick<Stores, 'eras'>;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly log: Log;
  readonly chain: Chain;
  /** Name and version of the product, as servers see them. */
  readonly clientInfo: Implementation;
  /** Milliseconds; the entry of a server counts for more. */
  readonly startupTimeout?: number;
  readonly maxMessageSize: number;
  readonly accounts: Accounts;
}

/** Resources that all servers of a gateway share: guard, start slots, containers, logs, limits. */
export class ServerContext {
  readonly logs: ServerLogs = new ServerLogs(Date.now);
  readonly eraCache: EraCache;
  readonly log: Log;
  /** Gateways that this one stands behind, handed on to every server that may be a gateway. */
  readonly chain: Chain;
  readonly clientInfo: Implementation;
  readonly startupTimeout: number | undefined;
  readonly maxMessageSize: number;
  readonly accounts: Accounts;
  readonly #env: ServerContextOptions['env'];
  #slots: Slots | undefined;
  #startClock: StartClock | undefined;
  #environmentOf: ((config: ServerConfig) => Record<string, string>) | undefined;
  #places: number | undefined;
  #guard: Guard | undefined;
  #containers: Promise<Containers> | undefined;

  constructor(options: ServerContextOptions) {
    this.#env = options.env;
    this.eraCache = new EraCache(options.stores.eras);
    this.log = options.log;
    this.chain = options.chain;
    this.clientInfo = options.clientInfo;
    this.startupTimeout = options.startupTimeout;
    this.maxMessageSize = options.maxMessageSize;
    this.accounts = options.accounts;
  }

  readonly #startPlaces = (): number => {
    this.#places ??= startPlaces();
    return this.#places;
  };

  // Parts that only a start needs are created at the first one: the first list goes before.

  get slots(): Slots {
    this.#slots ??= createSlots(LEAST_PLACES, this.#startPlaces);
    return this.#slots;
  }

  get startClock(): StartClock {
    this.#startClock ??= new StartClock(LEAST_PLACES, this.#startPlaces);
    return this.#startClock;
  }

  readonly environmentOf = (config: ServerConfig): Record<string, string> => {
    this.#environmentOf ??= childEnvironments(this.#env, process.platform);
    return { ...this.#environmentOf(config), [CHAIN_VARIABLE]: this.chain.text };
  };

  /** Started right before the first server: a gateway without servers needs none. */
  readonly guard = (): Guard => {
    this.#guard ??= startGuard({
      path: this.#env['PATH'],
      onLost: (reason) =>
        this.log.warn(`The guard, the process that cleans up after a crash of Weir, is gone: ${reason}`),
    });
    return this.#guard;
  };

  /** Loads the code for containers: most gateways have none. */
  readonly containers = (): Promise<Containers> => {
    this.#containers ??= import('./container/containers.ts').then(({ containersFor }) =>
      containersFor(this.#env, this.log),
    );
    return this.#containers;
  };

  /** Ends all servers, the guard and the containers. Does not wait for processes that SIGKILL does not end. */
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

const LONGEST_GRACE_MS = 2000;

export interface StopOptions {
  readonly timing?: StopTiming | undefined;
  readonly now?: () => number;
}

/** Stops all servers at once. The guard sends SIGTERM and SIGKILL to processes that have left their groups, when slow servers get theirs. */
export async function stopServers(
  servers: Iterable<Stoppable>,
  guard: Guard,
  { timing, now = () => performance.now() }: StopOptions = {},
): Promise<void> {
  const began = now();
  const stopped = Promise.all(Array.from(servers, (server) => server.stop(timing)));
  const { eofMs, termMs } = timing ?? STOP_TIMING;
  const remaining = (): number => Math.max(0, eofMs + termMs - (now() - began));
  if (!(await within(eofMs, stopped))) guard.sweep();
  // When its time has come the guard does not wait for servers that are slow to die.
  await within(remaining(), stopped);
  await Promise.all([guard.release(Math.min(LONGEST_GRACE_MS, remaining())), stopped]);
}
