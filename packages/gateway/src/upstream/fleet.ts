import { availableParallelism } from 'node:os';
import { childEnvironment } from '../config/child-environment.ts';
import type { ServerConfig } from '../config/config.generated.ts';
import { Messages } from '../errors.ts';
import type { Log } from '../log.ts';
import { noVerdicts, verdictsIn } from '../state/verdicts.ts';
import type { Implementation } from '../wire/era.ts';
import { ChildServer, type ChildContext, type ChildEvents } from './child-server.ts';
import { startGuard, type Guard } from './guard.ts';
import { ServerStatus } from './server-status.ts';
import { createSlots } from './slots.ts';
import { startAll } from './start-all.ts';
import { stopServers } from './stop-servers.ts';

/** Latecomers are waited for this long after the last server became ready. */
const LATECOMERS_MS = 1000;

export interface FleetOptions {
  /** What the product calls itself towards the servers. */
  readonly clientInfo: Implementation;
  readonly startupTimeout: number | undefined;
  readonly maxMessageSize: number;
  readonly state: string | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly log: Log;
  /** What the client can do, as JSON, once that is known. */
  readonly capabilities: Promise<string>;
  readonly on: ChildEvents;
}

/** All servers of a config that run here, and the guard that outlives them. */
export class Fleet {
  readonly children: ReadonlyMap<string, ChildServer>;
  readonly #options: FleetOptions;
  #guard: Guard | undefined;

  constructor(servers: Readonly<Record<string, ServerConfig>>, options: FleetOptions) {
    this.#options = options;
    const context = this.#context();
    const local = Object.entries(servers).filter(([key, server]) => this.#isLocal(key, server));
    this.children = new Map(local.map(([key, server]) => [key, new ChildServer(key, server, context)]));
  }

  /** In the order of the config. */
  running(): ChildServer[] {
    return [...this.children.values()].filter(({ status }) => status === ServerStatus.RUNNING);
  }

  /** Why the first server that is up no more is not. */
  crashed(): Error | undefined {
    return [...this.children.values()].find(({ status }) => status === ServerStatus.FAILED)?.error;
  }

  /** Starts all; see `startAll`. */
  start(keepGoing: boolean, ready: (child: ChildServer) => void): Promise<void> {
    const failed = (error: Error): void => {
      if (keepGoing) this.#options.log.error(error.message);
    };
    return startAll(this.children.values(), { keepGoing, latecomersMs: LATECOMERS_MS, ready, failed });
  }

  async stop(): Promise<void> {
    const processes = Array.from(this.children.values(), (child) => child.retire());
    if (this.#guard === undefined) return;
    await stopServers(
      processes.filter((process) => process !== undefined),
      this.#guard,
    );
  }

  #context(): ChildContext {
    const { state, env } = this.#options;
    return {
      ...this.#options,
      guard: () => this.#guardian(),
      slots: createSlots(2 * availableParallelism()),
      verdicts: state === undefined ? noVerdicts : verdictsIn(state),
      environmentOf: (server) => childEnvironment(server, env, process.platform),
    };
  }

  #isLocal(key: string, { command, enabled, disabled }: ServerConfig): boolean {
    if (enabled === false || disabled === true) return false;
    if (command === undefined) this.#options.log.warn(Messages.notLocalYet(key));
    return command !== undefined;
  }

  /** Started right before the first server: a gateway without servers needs none. */
  #guardian(): Guard {
    const { env, log } = this.#options;
    this.#guard ??= startGuard({
      path: env['PATH'],
      onLost: (reason) => log.warn(`The guard that cleans up after a crash is gone: ${reason}`),
    });
    return this.#guard;
  }
}
