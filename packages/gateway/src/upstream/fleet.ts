import { availableParallelism } from 'node:os';
import { childEnvironments } from '../config/child-environment.ts';
import type { ServerConfig } from '../config/config.generated.ts';
import { Deferred } from '../deferred.ts';
import { Messages } from '../errors.ts';
import type { Log } from '../log.ts';
import { noVerdicts, verdictsIn } from '../state/verdicts.ts';
import type { Implementation } from '../wire/era.ts';
import { ChildServer, type ChildContext, type ChildEvents } from './child-server.ts';
import { startGuard, type Guard } from './guard.ts';
import type { Apart, Tenant } from './instances.ts';
import { Retries } from './retries.ts';
import { ServerStatus } from './server-status.ts';
import { createSlots } from './slots.ts';
import { startAll, type StartAllOptions } from './start-all.ts';
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

/** What an own server of a client's says. */
export type ApartEvents = Pick<ChildEvents, 'request' | 'notification'>;

/** All servers of a config, and the guard that outlives those that run here. */
export class Fleet {
  readonly #children: Map<string, ChildServer>;
  readonly #options: FleetOptions;
  readonly #servers: Readonly<Record<string, ServerConfig>>;
  readonly #shared: ChildContext;
  readonly #apart = new Set<ChildServer>();
  #guard: Guard | undefined;
  #retries: Retries | undefined;

  constructor(servers: Readonly<Record<string, ServerConfig>>, options: FleetOptions) {
    this.#options = options;
    this.#servers = servers;
    this.#shared = this.#context();
    const meant = Object.entries(servers).filter(([key, server]) => this.#isReachable(key, server));
    this.#children = new Map(meant.map(([key, server]) => [key, new ChildServer(key, server, this.#shared)]));
  }

  get children(): ReadonlyMap<string, ChildServer> {
    return this.#children;
  }

  /** In the order of the config. */
  running(): ChildServer[] {
    return [...this.children.values()].filter(({ status }) => status === ServerStatus.RUNNING);
  }

  /** Why the first server that is up no more is not. */
  crashed(): Error | undefined {
    return [...this.children.values()].find(({ status }) => status === ServerStatus.FAILED)?.error;
  }

  /** Whether it is being started for the first time, or is still to be. */
  isStarting(serverKey: string): boolean {
    return this.children.get(serverKey)?.status === ServerStatus.INITIALIZING;
  }

  /** Starts all; see `startAll`. */
  start(keepGoing: boolean, on: Pick<StartAllOptions, 'ready' | 'tried'>): Promise<void> {
    const failed = (child: ChildServer, error: Error): void => {
      if (!keepGoing) return;
      this.#options.log.error(error.message);
      if (child.config.command === undefined) this.#tryAgain(child.serverKey, error.message, on.ready);
    };
    return startAll(this.children.values(), { ...on, keepGoing, latecomersMs: LATECOMERS_MS, failed });
  }

  /** Starts a server once more, for one client or call. */
  startApart(serverKey: string, tenant: Tenant, on: ApartEvents): Apart {
    return this.#startApart(serverKey, tenant, on).apart;
  }

  /** Opens a second conversation, the old way; undefined where the server does not know it, or keeps no session in it. */
  async openTwin(serverKey: string, capabilities: string, on: ApartEvents): Promise<ChildServer | undefined> {
    const { apart, child } = this.#startApart(
      serverKey,
      { capabilities, era: 'legacy', isEraFixed: true },
      on,
    );
    await apart.started;
    if (child.keepsSession) return child;
    apart.stop();
    return undefined;
  }

  #startApart(
    serverKey: string,
    { capabilities, cwd, era, isEraFixed }: Tenant,
    on: ApartEvents,
  ): { apart: Apart; child: ChildServer } {
    const ended = new Deferred<void>();
    const config = { ...this.#servers[serverKey], ...(cwd !== undefined && { cwd }) };
    const child = new ChildServer(serverKey, config, {
      ...this.#shared,
      capabilities: Promise.resolve(capabilities),
      era,
      isEraFixed,
      isClientFolder: cwd !== undefined,
      on: { ...on, changed() {}, crashed: () => ended.resolve() },
    });
    this.#apart.add(child);
    void ended.promise.then(() => this.#apart.delete(child));
    const started = child.start();
    started.catch(() => ended.resolve());
    const stop = (): void => {
      void child.retire()?.stop();
      ended.resolve();
    };
    return { child, apart: { upstream: child, started, ended: ended.promise, stop } };
  }

  async stop(): Promise<void> {
    const all = [...this.children.values(), ...this.#apart, ...(this.#retries?.stop() ?? [])];
    const rest = all.map((child) => child.retire()).filter((connection) => connection !== undefined);
    if (this.#guard !== undefined) return stopServers(rest, this.#guard);
    await Promise.all(rest.map((connection) => connection.stop()));
  }

  /** A server elsewhere may come back; the one that comes takes the place of the one that failed. */
  #tryAgain(serverKey: string, reason: string, ready: (child: ChildServer) => void): void {
    this.#retries ??= new Retries({
      log: this.#options.log,
      create: (key) => new ChildServer(key, this.#servers[key] as ServerConfig, this.#shared),
      ready: (child) => {
        this.#children.set(child.serverKey, child);
        this.#options.log.info(`Server '${child.serverKey}' can be reached now`);
        ready(child);
      },
    });
    this.#retries.keepTrying(serverKey, reason);
  }

  #context(): ChildContext {
    const { state, env } = this.#options;
    return {
      ...this.#options,
      guard: () => this.#guardian(),
      slots: createSlots(2 * availableParallelism()),
      verdicts: state === undefined ? noVerdicts : verdictsIn(state),
      environmentOf: childEnvironments(env, process.platform),
    };
  }

  #isReachable(key: string, { command, url, sseConfig, enabled, disabled }: ServerConfig): boolean {
    if (enabled === false || disabled === true) return false;
    const isReachable = command !== undefined || url !== undefined || sseConfig !== undefined;
    if (!isReachable) this.#options.log.warn(Messages.noContainersYet(key));
    return isReachable;
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
