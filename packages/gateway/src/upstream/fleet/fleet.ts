import type { McpConfig } from '../../config/config.generated.ts';
import type { ConfigChanges } from '../../config/diff.ts';
import { Texts } from '../../errors.ts';
import type { Era } from '../../protocol/eras.ts';
import { systemTimers } from '../../time/schedule.ts';
import { within } from '../../time/timeouts.ts';
import { listedKinds, NO_LISTS, type Kind } from '../catalogue/catalogue.ts';
import { LazyUpstreams } from '../lazy/lazy-upstreams.ts';
import { DedicatedServers } from '../pool/dedicated.ts';
import { stopTiming } from '../process/process-group.ts';
import { ServerContext } from '../server-context.ts';
import type { UpstreamServer } from '../server.ts';
import { startAll } from '../start/start-all.ts';
import type { Skipped } from '../start/start-failure.ts';
import { HealthMemory } from '../supervision/health-memory.ts';
import { DEFAULT_RULES, NEW_SERVER, type Health } from '../supervision/health.ts';
import type { ServerLogs } from '../supervision/server-logs.ts';
import { Supervisor, type ServerEvent } from '../supervision/supervisor.ts';
import { ServerStatus, type Upstream } from '../upstream.ts';
import { CurrentServers } from './current-servers.ts';
import { DesiredServers, type ServerEntries } from './desired-servers.ts';
import type { FleetOptions } from './fleet-options.ts';
import { LeavingServers } from './leaving-servers.ts';
import { LocalEras } from './local-eras.ts';

/** Longest delay of the shutdown by writes of state. */
const LAST_WRITE_MS = 1000;
/** Time without use after which a lazy server is stopped. */
const IDLE_AFTER_MS = 10 * 60 * 1000;

/** Outcome of another config. */
export interface AppliedConfig {
  readonly changes: ConfigChanges;
  /** True where the servers have another order, and so their lists. */
  readonly isReordered: boolean;
  /** Resolves when every new server runs, or has failed to start. */
  readonly settled: Promise<void>;
}

/** All servers of a config: starts, restarts, replaces and stops them. */
export class Fleet {
  readonly supervisor: Supervisor;
  readonly servers: CurrentServers;
  readonly dedicated: DedicatedServers;
  readonly memory: HealthMemory;
  readonly logs: ServerLogs;
  readonly #options: FleetOptions;
  readonly #desired: DesiredServers;
  readonly #leaving = new LeavingServers();
  readonly #serverContext: ServerContext;
  readonly #lazyUpstreams: LazyUpstreams;
  readonly #eras: LocalEras;
  #preparing: Promise<void> | undefined;
  #restoring: Promise<void> = Promise.resolve();
  #isPrepared = false;
  #hasStarted = false;

  constructor(config: McpConfig, options: FleetOptions) {
    const desired = new DesiredServers(config, options);
    const context = new ServerContext(options);
    this.#options = options;
    this.#desired = desired;
    this.#serverContext = context;
    this.logs = context.logs;
    this.#eras = new LocalEras(options.onlyEra);
    this.servers = new CurrentServers({
      ...options,
      context,
      desired,
      eras: this.#eras,
      cachedLists: (key) => this.#lazyUpstreams.listsOf(key),
      on: {
        ...options.on,
        changed: (server, kinds) => this.#listsChanged(server, kinds),
        crashed: (server, error) => this.#crashed(server, error),
      },
    });
    this.dedicated = new DedicatedServers(desired, this.servers, this.#leaving);
    this.#lazyUpstreams = new LazyUpstreams({
      ...options,
      desired,
      waits: options.fresh === true || options.keepGoing !== true,
      wake: (serverKey) => this.wake(serverKey),
    });
    void options.capabilities.then((capabilities) => this.#lazyUpstreams.serve(capabilities));
    this.memory = new HealthMemory(options, desired.known());
    this.supervisor = this.#createSupervisor();
    for (const key of this.#desired.withoutOwn(desired.keys())) this.#adopt(key, NEW_SERVER);
  }

  /** Returns every server with a connection: shared and dedicated ones, and those that drain. */
  connected(): UpstreamServer[] {
    return this.#all().filter(({ isConnected }) => isConnected);
  }

  #all(): UpstreamServer[] {
    return [...this.servers.byKey.values(), ...this.dedicated, ...this.#leaving];
  }

  /** Returns the running servers, and the placeholders of others, in the order of the config. */
  snapshot(): Upstream[] {
    return [...this.servers.byKey.values()].flatMap((server): Upstream[] => {
      if (server.status === ServerStatus.RUNNING) return [server];
      const lazyUpstream = this.lazyUpstream(server.serverKey);
      return lazyUpstream === undefined ? [] : [lazyUpstream];
    });
  }

  /** Returns the placeholder of a server that does not run. */
  lazyUpstream(serverKey: string): Upstream | undefined {
    return this.supervisor.isEnabled(serverKey) ? this.#lazyUpstreams.of(serverKey) : undefined;
  }

  /** Returns true for a server of the config that never runs here, because the group has nothing of it. */
  isOutside(serverKey: string): boolean {
    return this.#desired.isOutside(serverKey);
  }

  /** Returns true for a server that starts or will start soon; false for a lazy one that waits for its first call. */
  isStarting(serverKey: string): boolean {
    // A disabled server whose entry has changed waits for its first start, too.
    const isToBe =
      this.servers.byKey.get(serverKey)?.status === ServerStatus.INITIALIZING &&
      this.supervisor.isEnabled(serverKey);
    return isToBe && !(this.#isIdle(serverKey) && this.#lazyUpstreams.isAsleep(serverKey));
  }

  /** Finds out which servers are disabled. Until then no server has a placeholder. */
  prepare(): Promise<void> {
    const loaded = (): Promise<unknown> =>
      Promise.all([this.#lazyUpstreams.load(), this.#restoreHealth(() => true)]);
    this.#preparing ??= loaded().then(() => void (this.#isPrepared = true));
    return this.#preparing;
  }

  /**
   * Creates placeholders, for a client with these capabilities, from the cached catalogues of servers that do not run
   * yet. Returns whether each of them has one.
   */
  recall(capabilities: string): boolean {
    if (!this.#isPrepared) return false;
    const absent = this.#enabled().filter(({ status }) => status !== ServerStatus.RUNNING);
    const keys = absent.map(({ serverKey }) => serverKey);
    this.#lazyUpstreams.serve(capabilities);
    this.#lazyUpstreams.recall(keys);
    return keys.length > 0 && keys.every((key) => this.#lazyUpstreams.of(key) !== undefined);
  }

  /** Starts all that are enabled; see `startAll`. */
  async start(tried: () => void): Promise<void> {
    const { keepGoing = false, capabilities } = this.#options;
    this.#hasStarted = true;
    await this.prepare();
    if (keepGoing) this.supervisor.begin();
    // Cached catalogues depend on the client's capabilities, and a lazy server without one must start now.
    if (this.#enabled().some(({ serverKey }) => this.#lazyUpstreams.isLazy(serverKey)))
      this.recall(await capabilities);
    const starting = this.#enabled().filter(
      ({ serverKey }) => this.#isIdle(serverKey) && !this.#lazyUpstreams.isAsleep(serverKey),
    );
    await startAll(starting, {
      keepGoing,
      isAwaited: ({ serverKey }) => this.#lazyUpstreams.of(serverKey) === undefined,
      starting: (server, start) => this.supervisor.starting(server, start),
      ready: (server) => {
        this.supervisor.connected(server);
        this.#ready(server);
      },
      failed: (server, error) => keepGoing && this.supervisor.lost(server, error.message),
      skipped: (server, why) => this.#skip(server, why),
      tried,
    });
    if (!keepGoing) this.supervisor.begin();
  }

  #enabled(): UpstreamServer[] {
    return [...this.servers.byKey.values()].filter(({ serverKey }) => this.supervisor.isEnabled(serverKey));
  }

  /** Returns false for a server that is being started: a first call may have begun that. */
  #isIdle(serverKey: string): boolean {
    return this.supervisor.healthOf(serverKey)?.connectionState === 'disconnected';
  }

  /** Starts a server that is needed now; however many need it, it is started once. */
  async wake(serverKey: string): Promise<UpstreamServer> {
    const isLost = this.supervisor.healthOf(serverKey)?.connectionState === 'error';
    if (isLost) throw new Error(Texts.notRunning(serverKey, this.supervisor.retryHint(serverKey)));
    await this.supervisor.start(serverKey);
    const server = this.servers.byKey.get(serverKey);
    if (server?.status === ServerStatus.RUNNING) return server;
    throw server?.error ?? new Error(Texts.notRunning(serverKey));
  }

  /**
   * Returns the server for a client of this era, or for a program, which has none; starts it where it does not run. The
   * first client decides the era of a local server that speaks both, for all clients: two processes would split what the
   * server remembers between them.
   */
  async use(serverKey: string, era?: Era): Promise<UpstreamServer> {
    // Before a start: a lazy server is then started in the right era.
    if (era !== undefined) this.#eras.decide(serverKey, era);
    const server = await this.wake(serverKey);
    if (!server.isEraOpen) return server;
    if (this.#eras.decide(serverKey, era ?? server.era) === server.era) {
      server.keepEra();
      return server;
    }
    // A modern server of which only the lists were read is restarted, unless another client has begun that meanwhile.
    if (this.servers.isCurrent(server) && server.status === ServerStatus.RUNNING) {
      const how = 'restarts in the legacy era, that of its first client';
      this.#options.log.info(`Server '${serverKey}' ${how}`);
      this.#lazyUpstreams.createPlaceholder(server);
      this.#eras.switchToLegacy(serverKey);
      this.supervisor.pause(serverKey, how);
    }
    return this.wake(serverKey);
  }

  /** Starts servers that are new or changed in another config and ends those that are not in it; the others run on. */
  apply(config: McpConfig, entries: ServerEntries): AppliedConfig {
    void this.#lazyUpstreams.flush();
    const changes = this.#desired.takeConfig(config, entries);
    const { added, changed, removed } = changes;
    const healthBefore = new Map(changed.map((key) => [key, this.supervisor.healthOf(key)]));
    const placeholders = [...removed, ...changed].flatMap((key) => this.lazyUpstream(key) ?? []);
    this.#lazyUpstreams.forget([...removed, ...changed]);
    for (const key of removed) this.#takeOut(key, 'was removed from the config');
    for (const key of changed) this.#takeOut(key, 'restarts, because its entry in the config changed');
    for (const { catalogue } of placeholders) this.#options.on.changed(listedKinds(catalogue));
    this.memory.setServers(this.#desired.known());
    const arrived = this.#desired.withoutOwn([...added, ...changed]);
    for (const key of arrived) this.#adopt(key, afterChange(healthBefore.get(key)));
    const isReordered = this.servers.sort();
    return { changes, isReordered, settled: this.#startArrived(changes, arrived) };
  }

  /** Restores the health of servers that another config has added, then starts them and the changed ones. */
  async #startArrived({ added, changed }: ConfigChanges, keys: readonly string[]): Promise<void> {
    const { on, capabilities } = this.#options;
    // One config after the other: two of them may name the same server.
    this.#restoring = this.#restoring.then(async () => {
      await this.memory.flush();
      await this.#lazyUpstreams.load();
      await this.#restoreHealth((key) => added.includes(key));
      for (const key of changed) if (!this.supervisor.isEnabled(key)) this.#warnDisabled(key, false);
    });
    await this.#restoring;
    if (!this.#hasStarted) return;
    await capabilities;
    // Yet another config may have come meanwhile.
    const arrived = keys.filter((key) => this.servers.byKey.has(key));
    this.#lazyUpstreams.recall(arrived.filter((key) => this.supervisor.isEnabled(key)));
    const offered = arrived.flatMap((key) => listedKinds(this.lazyUpstream(key)?.catalogue ?? NO_LISTS));
    if (offered.length > 0) on.changed(offered);
    const starting = arrived.filter(
      (serverKey) => !this.#lazyUpstreams.isAsleep(serverKey) || on.isFollowed?.({ serverKey }) === true,
    );
    await Promise.all(starting.map((key) => this.supervisor.start(key)));
  }

  /** Ends all servers; those that do not end by themselves are killed after so many milliseconds. */
  async stop(killAfterMs?: number): Promise<void> {
    this.supervisor.stop();
    this.dedicated.close();
    const writes = [this.#lazyUpstreams.flush(), this.memory.flush(), this.#serverContext.eraCache.flush()];
    const remembered = within(LAST_WRITE_MS, Promise.all(writes));
    const running = this.#all().flatMap((server) => server.retire() ?? []);
    await this.#serverContext.end(running, stopTiming(killAfterMs));
    await remembered;
  }

  /** Takes out a server that the config has no more, or has otherwise. Its calls in flight drain, then it ends. */
  #takeOut(key: string, what: string): void {
    const server = this.servers.byKey.get(key);
    const cleared = this.supervisor.disown(key);
    if (server === undefined) return;
    const wasRunning = server.status === ServerStatus.RUNNING;
    this.servers.remove(key);
    this.#leaving.drain(key, [server, ...this.dedicated.handOver(key)], { what, cleared });
    if (wasRunning) this.#options.on.gone(server);
  }

  /** Goes on without an entry that leads back here. */
  #skip({ serverKey }: UpstreamServer, { message }: Skipped): void {
    this.#options.log.warn(message);
    const lazyUpstream = this.#lazyUpstreams.of(serverKey);
    this.#lazyUpstreams.forget([serverKey]);
    this.#takeOut(serverKey, 'is skipped, because it leads back to this gateway');
    if (lazyUpstream !== undefined) this.#options.on.changed(listedKinds(lazyUpstream.catalogue));
  }

  #adopt(key: string, health: Health): void {
    this.supervisor.adopt(this.servers.create(key), health, this.#leaving.gone(key));
  }

  /** Restores the health that earlier gateways have saved. A disabled server is not started. */
  async #restoreHealth(isMeant: (serverKey: string) => boolean): Promise<void> {
    for (const [serverKey, health] of await this.memory.recall()) {
      const server = this.servers.byKey.get(serverKey);
      if (server === undefined || !isMeant(serverKey)) continue;
      this.supervisor.adopt(server, health, this.#leaving.gone(serverKey));
      if (health.enabled) continue;
      server.retire();
      this.#warnDisabled(serverKey, health.autoDisabled);
    }
  }

  #warnDisabled(serverKey: string, isAuto: boolean): void {
    this.#options.log.warn(Texts.isDisabled(serverKey, isAuto, this.#options.commandName));
  }

  #createSupervisor(): Supervisor {
    const { commandName, log, supervision, idleAfter = IDLE_AFTER_MS } = this.#options;
    return new Supervisor({
      timers: systemTimers,
      rules: { ...DEFAULT_RULES, ...supervision },
      log,
      commandName,
      create: (key) => this.servers.create(key),
      idleAfterMs: (key) => (this.#lazyUpstreams.isLazy(key) ? idleAfter : undefined),
      ready: (server) => this.#ready(server),
      gone: (server) => this.#leave(server),
      skipped: (server, why) => this.#skip(server, why),
      endAll: (key) => {
        this.dedicated.stopOf(key);
        this.#leaving.stopOf(key);
      },
      healthChanged: (event, health, before) => this.#healthChanged(event, health, before),
    });
  }

  #listsChanged(server: UpstreamServer, kinds: readonly Kind[]): void {
    this.#lazyUpstreams.learn(server);
    this.#options.on.changed(kinds);
  }

  #ready(server: UpstreamServer): void {
    if (server.isModernOnly) this.#eras.setModernOnly(server.serverKey);
    this.#options.on.ready(server, this.#lazyUpstreams.of(server.serverKey));
    this.#lazyUpstreams.learn(server);
  }

  /** A running server was lost: it leaves the registry, and the supervisor plans its next start (`#healthChanged`). */
  #crashed(server: UpstreamServer, error: Error): void {
    this.#leave(server);
    this.supervisor.lost(server, error.message);
  }

  /** Takes a server out of use. Instances of sessions and calls keep running. */
  #leave(server: UpstreamServer): void {
    if (server.sharing === 'shared') this.dedicated.stopOf(server.serverKey);
    this.#options.on.gone(server);
  }

  /** Saves and reports the health of a server. Its placeholder leaves the registry once it is disabled or has failed to start. */
  #healthChanged(event: ServerEvent, health: Health, before: Health): void {
    const { serverKey } = event;
    this.memory.remember(serverKey, health, before);
    const hasFailed = health.connectionState === 'error';
    const isSwitched = health.enabled !== before.enabled;
    const gone = hasFailed ? this.#lazyUpstreams.giveUp(serverKey) : undefined;
    const lazyUpstream = gone ?? (isSwitched ? this.#lazyUpstreams.of(serverKey) : undefined);
    if (lazyUpstream !== undefined) this.#options.on.changed(listedKinds(lazyUpstream.catalogue));
    this.#options.on.supervised(event);
  }
}

/** A changed entry is tried anew; what a person has disabled stays so. */
function afterChange({ enabled, autoDisabled, lastConnectedAt }: Health = NEW_SERVER): Health {
  return { ...NEW_SERVER, enabled: enabled || autoDisabled, lastConnectedAt };
}
