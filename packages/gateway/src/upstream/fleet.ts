import type { ConfigChanges } from '../config/diff.ts';
import { Texts } from '../errors.ts';
import type { Log } from '../log.ts';
import { ALL_CAPABILITIES } from '../protocol/capabilities.ts';
import type { Era, Implementation } from '../protocol/eras.ts';
import type { Stores } from '../state/stores.ts';
import { systemTimers } from '../time/schedule.ts';
import { within } from '../time/timeouts.ts';
import type { Accounts } from '../wire/account.ts';
import { listedKinds, NO_LISTS, type Catalogue, type Kind } from './catalogue/catalogue.ts';
import { DesiredServers, type Entries, type Servers } from './desired-servers.ts';
import { isOwnEntry, type Chain } from './gateway-chain.ts';
import { LazyUpstreams } from './lazy/lazy-upstreams.ts';
import { DedicatedServers, type DedicatedEvents } from './pool/dedicated.ts';
import type { DedicatedServer, InstanceOptions } from './pool/instances.ts';
import { stopTiming } from './process/process-group.ts';
import { ServerContext } from './server-context.ts';
import type { ServerOptions, ServerEvents } from './server-options.ts';
import { ServerStatus } from './server-status.ts';
import { UpstreamServer } from './server.ts';
import { startAll } from './start-all.ts';
import type { Skipped } from './start-failure.ts';
import { HealthMemory } from './supervision/health-memory.ts';
import { DEFAULT_RULES, NEW_SERVER, type Health, type SupervisionRules } from './supervision/health.ts';
import type { ServerLogs } from './supervision/server-logs.ts';
import { Supervisor, type ServerEvent } from './supervision/supervisor.ts';
import type { Upstream } from './upstream.ts';

/** Longest delay of the shutdown by writes of state. */
const LAST_WRITE_MS = 1000;
/** Time without use after which a lazy server is stopped. */
const IDLE_AFTER_MS = 10 * 60 * 1000;

export interface FleetOptions {
  readonly chain: Chain;
  /** Name and version that servers get in the handshake. */
  readonly clientInfo: Implementation;
  readonly startupTimeout?: number;
  readonly maxMessageSize: number;
  readonly accounts: Accounts;
  readonly stores: Stores;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly log: Log;
  /** The command that hints tell users to run. */
  readonly commandName: string;
  /** Resolves with the client's capabilities, as JSON. */
  readonly capabilities: Promise<string>;
  /** Era of a client that stays the only one; undefined where there may be more, or before it has spoken. */
  readonly onlyEra: () => Era | undefined;
  readonly on: FleetEvents;
  /** Path of the config file, under which the state of its servers is kept; without one, no state is kept. */
  readonly configPath?: string;
  /** The entries of the servers before variables were replaced. */
  readonly unexpanded?: Entries;
  readonly supervision?: Partial<SupervisionRules>;
  /** Starts servers at their first call, unless their entry says otherwise. */
  readonly lazy?: boolean;
  /** Milliseconds without use after which a lazy server is stopped. */
  readonly idleAfter?: number;
  /** Goes on with the servers that start, instead of failing with the first that does not. */
  readonly keepGoing?: boolean;
  /** Lists wait for the servers, whatever is remembered of them. */
  readonly fresh?: boolean;
}

interface FleetEvents extends Pick<ServerEvents, 'request' | 'notification' | 'isFollowed' | 'prepare'> {
  /** Called when lists of these kinds have changed. */
  changed(kinds: readonly Kind[]): void;
  /** Called when a server is ready for calls; `before` is the placeholder that it replaces. */
  ready(child: UpstreamServer, before?: Upstream): void;
  /** Called when a running server gets no more calls. */
  gone(child: UpstreamServer): void;
  supervised(event: ServerEvent): void;
}

/** Outcome of another config. */
export interface AppliedConfig {
  readonly changes: ConfigChanges;
  /** Resolves when every new server runs, or has failed to start. */
  readonly settled: Promise<void>;
}

/** All servers of a config: which are meant, which run, and what is offered in place of those that do not. */
export class Fleet {
  readonly supervisor: Supervisor;
  readonly #options: FleetOptions;
  readonly #desired: DesiredServers;
  readonly #serverContext: ServerContext;
  readonly #serverOptions: ServerOptions;
  readonly #dedicated: DedicatedServers;
  readonly #lazyUpstreams: LazyUpstreams;
  readonly #memory: HealthMemory;
  readonly #earlierLists = new Map<string, Catalogue>();
  /** Eras of local servers, decided by the first client that used them or by what they turned out to speak. */
  readonly #eras = new Map<string, Era>();
  /** Servers that were started anew in the legacy era: their start did not wait for the first client. */
  readonly #switched = new Set<string>();
  #children = new Map<string, UpstreamServer>();
  #preparing: Promise<void> | undefined;
  #recalling: Promise<void> = Promise.resolve();
  #isPrepared = false;
  #hasStarted = false;

  constructor(servers: Servers, options: FleetOptions) {
    const desired = new DesiredServers(servers, options.unexpanded ?? {});
    this.#options = options;
    this.#desired = desired;
    this.#serverContext = new ServerContext(options);
    this.#serverOptions = this.#createServerOptions();
    this.#dedicated = new DedicatedServers(desired, this.#serverOptions);
    this.#lazyUpstreams = new LazyUpstreams({
      ...options,
      desired,
      waits: options.fresh === true || options.keepGoing !== true,
      wake: (serverKey) => this.wake(serverKey),
    });
    void options.capabilities.then((capabilities) => this.#lazyUpstreams.serve(capabilities));
    this.#memory = new HealthMemory(options, desired.known());
    this.supervisor = this.#createSupervisor();
    for (const key of this.#supervisedKeys(desired.keys())) this.#adopt(key, NEW_SERVER);
  }

  get children(): ReadonlyMap<string, UpstreamServer> {
    return this.#children;
  }

  get logs(): ServerLogs {
    return this.#serverContext.logs;
  }

  /** In the order of the config. */
  running(): UpstreamServer[] {
    return [...this.children.values()].filter(({ status }) => status === ServerStatus.RUNNING);
  }

  /** Everything that can be spoken to, also what clients have for themselves. */
  conversations(): UpstreamServer[] {
    const all = new Set([...this.children.values(), ...this.#dedicated]);
    return [...all].filter(({ isConnected }) => isConnected);
  }

  /** All that run, in whichever conversation: what clients have for themselves and what is on its way out, too. */
  speaking(): UpstreamServer[] {
    return this.conversations().filter(({ status }) => status === ServerStatus.RUNNING);
  }

  /** Returns the running servers, and the placeholders of others, in the order of the config. */
  snapshot(): Upstream[] {
    return [...this.children.values()].flatMap((child): Upstream[] => {
      if (child.status === ServerStatus.RUNNING) return [child];
      const lazyUpstream = this.lazyUpstream(child.serverKey);
      return lazyUpstream === undefined ? [] : [lazyUpstream];
    });
  }

  /** Returns the placeholder of a server that does not run. */
  lazyUpstream(serverKey: string): Upstream | undefined {
    return this.#isOn(serverKey) ? this.#lazyUpstreams.of(serverKey) : undefined;
  }

  /** The name of a server for people who are asked something by it; undefined where it is the only one. */
  askerOf(serverKey: string): string | undefined {
    if (this.#children.size < 2) return undefined;
    return this.#desired.configOf(serverKey).name ?? serverKey;
  }

  /** Why the first server that is up no more is not. */
  crashed(): Error | undefined {
    return [...this.children.values()].find(({ status }) => status === ServerStatus.FAILED)?.error;
  }

  /** Returns true for a server that starts or will start soon; false for a lazy one that waits for its first call. */
  isStarting(serverKey: string): boolean {
    const isToBe = this.children.get(serverKey)?.status === ServerStatus.INITIALIZING;
    return isToBe && !(this.#isIdle(serverKey) && this.#lazyUpstreams.isAsleep(serverKey));
  }

  /** Finds out which servers are disabled. Until then nothing stands in for any of them. */
  prepare(): Promise<void> {
    this.#preparing ??= this.#prepare();
    return this.#preparing;
  }

  async #prepare(): Promise<void> {
    await Promise.all([this.#lazyUpstreams.load(), this.#recall(() => true)]);
    this.#isPrepared = true;
  }

  /**
   * Lets what is remembered for a client that can do this stand in for servers that do not run yet. Returns whether
   * something stands in for each of them.
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
      begun: (child, start) => this.supervisor.starting(child, start),
      ready: (child) => {
        this.supervisor.connected(child);
        this.#ready(child);
      },
      failed: (child, error) => keepGoing && this.#notStarted(child, error),
      skipped: (child, why) => this.#skip(child, why),
      tried,
    });
    if (!keepGoing) this.supervisor.begin();
  }

  #enabled(): UpstreamServer[] {
    return [...this.children.values()].filter(({ serverKey }) => this.#isOn(serverKey));
  }

  /** Not being started: a first call may have begun that. */
  #isIdle(serverKey: string): boolean {
    return this.supervisor.healthOf(serverKey)?.connectionState === 'disconnected';
  }

  /** Why what is known of a server will be forgotten with the gateway, if so. */
  persistError(serverKey: string): Promise<string | undefined> {
    return this.#memory.persistError(serverKey);
  }

  /** Starts a server that is needed now; however many need it, it is started once. */
  async wake(serverKey: string): Promise<UpstreamServer> {
    const isLost = this.supervisor.healthOf(serverKey)?.connectionState === 'error';
    if (isLost) throw new Error(Texts.notRunning(serverKey, this.supervisor.retryHint(serverKey)));
    await this.supervisor.start(serverKey);
    const child = this.#children.get(serverKey);
    if (child?.status === ServerStatus.RUNNING) return child;
    throw child?.error ?? new Error(Texts.notRunning(serverKey));
  }

  /**
   * Returns the server for a client of this era, or for a program, which has none. The first decides the era of a local
   * server that speaks both, for all clients: two processes would split what the server remembers between them.
   */
  async use(serverKey: string, era?: Era): Promise<UpstreamServer> {
    // Before a start: a lazy server is then started in the right era.
    if (era !== undefined) this.#chooseEra(serverKey, era);
    const child = await this.wake(serverKey);
    if (!child.isEraOpen) return child;
    if (this.#chooseEra(serverKey, era ?? child.era) === child.era) {
      child.keepEra();
      return child;
    }
    this.#switchToLegacy(child);
    return this.wake(serverKey);
  }

  /** Returns the era that is decided for a server; the first word counts. */
  #chooseEra(serverKey: string, era: Era): Era {
    const chosen = this.#eras.get(serverKey) ?? era;
    this.#eras.set(serverKey, chosen);
    return chosen;
  }

  /** Ends a modern server of which only the lists were read: its next start uses the legacy era. They stand in for it until then. */
  #switchToLegacy(child: UpstreamServer): void {
    // Another client may have begun this meanwhile.
    if (!this.#isCurrent(child) || child.status !== ServerStatus.RUNNING) return;
    const how = 'is started anew in the legacy era, that of its first client';
    this.#options.log.info(`Server '${child.serverKey}' ${how}`);
    this.#lazyUpstreams.standIn(child);
    this.#switched.add(child.serverKey);
    this.supervisor.pause(child.serverKey, how);
  }

  /** Starts a server once more, for one client or call. */
  startDedicated(serverKey: string, options: InstanceOptions, on: DedicatedEvents): DedicatedServer {
    return this.#dedicated.start(serverKey, options, on);
  }

  /** Opens a legacy session with a remote server; returns undefined where it has none to offer. */
  async openLegacyConnection(
    server: Upstream,
    capabilities: string,
    on: DedicatedEvents,
  ): Promise<DedicatedServer | undefined> {
    const first = this.#children.get(server.serverKey);
    return first === server ? this.#dedicated.openLegacyConnection(first, capabilities, on) : undefined;
  }

  /** Starts servers that are new or changed in another config and ends those that are not in it; the others run on. */
  apply(servers: Servers, entries: Entries): AppliedConfig {
    void this.#lazyUpstreams.flush();
    const changes = this.#desired.use(servers, entries);
    const { added, changed, removed } = changes;
    const known = new Map(changed.map((key) => [key, this.supervisor.healthOf(key)]));
    const leaving = [...removed, ...changed].flatMap((key) => this.lazyUpstream(key) ?? []);
    this.#lazyUpstreams.forget([...removed, ...changed]);
    for (const key of removed) this.#dismiss(key, 'was taken out of the config');
    for (const key of changed)
      this.#dismiss(key, 'is restarted, because its entry in the config has changed');
    for (const { catalogue } of leaving) this.#options.on.changed(listedKinds(catalogue));
    this.#memory.setServers(this.#desired.known());
    const arrived = this.#supervisedKeys([...added, ...changed]);
    for (const key of arrived) this.#adopt(key, afterChange(known.get(key)));
    this.#sort();
    return { changes, settled: this.#settle(changes, arrived) };
  }

  /** Recalls which of the servers that have arrived are disabled, and starts the others. */
  async #settle(changes: ConfigChanges, arrived: readonly string[]): Promise<void> {
    // One config after the other: two of them may name the same server.
    this.#recalling = this.#recalling.then(() => this.#recallOf(changes));
    await this.#recalling;
    if (this.#hasStarted) await this.#startAnew(arrived);
  }

  /** Ends all servers; those that do not end by themselves are killed after so many milliseconds. */
  async stop(killAfterMs?: number): Promise<void> {
    this.supervisor.stop();
    this.#dedicated.close();
    const writes = [this.#lazyUpstreams.flush(), this.#memory.flush(), this.#serverContext.eraCache.flush()];
    const remembered = within(LAST_WRITE_MS, Promise.all(writes));
    const all = [...this.children.values(), ...this.#dedicated];
    const running = all.flatMap((child) => child.retire() ?? []);
    await this.#serverContext.end(running, stopTiming(killAfterMs));
    await remembered;
  }

  #dismiss(key: string, what: string): void {
    const child = this.#children.get(key);
    const cleared = this.supervisor.dismiss(key);
    if (child === undefined) return;
    const wasRunning = child.status === ServerStatus.RUNNING;
    this.#children.delete(key);
    this.#earlierLists.delete(key);
    this.#eras.delete(key);
    this.#switched.delete(key);
    this.#dedicated.dismiss(child, what, cleared);
    // Calls in flight drain meanwhile.
    if (wasRunning) this.#options.on.gone(child);
  }

  /** Leaves out the entries that start this very gateway. */
  #supervisedKeys(keys: readonly string[]): string[] {
    const { configPath, log } = this.#options;
    return keys.filter((key) => {
      const isOwn = isOwnEntry(this.#desired.configOf(key), configPath);
      if (isOwn) log.warn(Texts.skippedLoop(key, true));
      return !isOwn;
    });
  }

  /** Goes on without an entry that leads back here. */
  #skip({ serverKey }: UpstreamServer, { message }: Skipped): void {
    this.#options.log.warn(message);
    const lazyUpstream = this.#lazyUpstreams.of(serverKey);
    this.#lazyUpstreams.forget([serverKey]);
    this.#dismiss(serverKey, 'is skipped, because it leads back to this gateway');
    if (lazyUpstream !== undefined) this.#options.on.changed(listedKinds(lazyUpstream.catalogue));
  }

  #adopt(key: string, health: Health): void {
    this.supervisor.adopt(this.#create(key), health, this.#dedicated.leaving(key));
  }

  /** The new one takes the place of the one that has ended. */
  #create(key: string): UpstreamServer {
    const before = this.#children.get(key)?.catalogue;
    if (before !== undefined) this.#earlierLists.set(key, before);
    // The capabilities that the servers are told may be those of no client: the first one came later.
    const options = this.#switched.has(key)
      ? { ...this.#serverOptions, capabilities: Promise.resolve(ALL_CAPABILITIES) }
      : this.#serverOptions;
    const child = new UpstreamServer(key, this.#desired.configOf(key), options);
    this.#children.set(key, child);
    return child;
  }

  /** In the order of the config. */
  #sort(): void {
    const inOrder = this.#desired.keys().flatMap((key) => {
      const child = this.#children.get(key);
      return child === undefined ? [] : [[key, child] as const];
    });
    this.#children = new Map(inOrder);
  }

  async #startAnew(keys: readonly string[]): Promise<void> {
    await this.#options.capabilities;
    // Yet another config may have come meanwhile.
    const arrived = keys.filter((key) => this.#children.has(key));
    this.#lazyUpstreams.recall(arrived.filter((key) => this.#isOn(key)));
    const offered = arrived.flatMap((key) => listedKinds(this.lazyUpstream(key)?.catalogue ?? NO_LISTS));
    if (offered.length > 0) this.#options.on.changed(offered);
    const starting = arrived.filter((key) => !this.#lazyUpstreams.isAsleep(key) || this.#isFollowed(key));
    await Promise.all(starting.map((key) => this.supervisor.start(key)));
  }

  /** Loads the records of new servers. */
  async #recallOf({ added, changed }: ConfigChanges): Promise<void> {
    await this.#memory.flush();
    await this.#lazyUpstreams.load();
    await this.#recall((key) => added.includes(key) || !this.#children.has(key));
    const { commandName, log } = this.#options;
    for (const key of changed) if (!this.#isOn(key)) log.warn(Texts.isDisabled(key, false, commandName));
  }

  /** Servers of which something is known begin with that; one that is disabled does not begin at all. */
  async #recall(isMeant: (serverKey: string) => boolean): Promise<void> {
    for (const [serverKey, health] of await this.#memory.recall()) {
      const child = this.#children.get(serverKey);
      if (child === undefined || !isMeant(serverKey)) continue;
      this.supervisor.adopt(child, health, this.#dedicated.leaving(serverKey));
      if (health.enabled) continue;
      child.retire();
      const { commandName, log } = this.#options;
      log.warn(Texts.isDisabled(serverKey, health.autoDisabled, commandName));
    }
  }

  #createServerOptions(): ServerOptions {
    const { on, capabilities } = this.#options;
    return {
      context: this.#serverContext,
      capabilities,
      chosenEra: (key) => this.#eras.get(key) ?? this.#options.onlyEra(),
      earlierLists: (key) => this.#lazyUpstreams.listsOf(key) ?? this.#earlierLists.get(key),
      on: {
        ...on,
        prepare: (child, kind, listing) =>
          this.#isCurrent(child) ? on.prepare?.(child, kind, listing) : undefined,
        changed: (child, kinds) => this.#isCurrent(child) && this.#changed(child, kinds),
        crashed: (child, error) => this.#isCurrent(child) && this.#crashed(child, error),
      },
    };
  }

  #createSupervisor(): Supervisor {
    const { commandName, log, supervision, idleAfter = IDLE_AFTER_MS } = this.#options;
    return new Supervisor({
      timers: systemTimers,
      rules: { ...DEFAULT_RULES, ...supervision },
      log,
      commandName,
      create: (key) => this.#create(key),
      idleAfterMs: (key) => (this.#lazyUpstreams.isLazy(key) ? idleAfter : undefined),
      ready: (child) => this.#ready(child),
      gone: (child) => this.#leave(child),
      skipped: (child, why) => this.#skip(child, why),
      endAll: (key) => this.#dedicated.stopOf(key),
      healthChanged: (event, health, before) => this.#healthChanged(event, health, before),
    });
  }

  #ready(child: UpstreamServer): void {
    // Not asked for the legacy era again at its next start.
    if (child.isModernOnly) this.#eras.set(child.serverKey, 'modern');
    this.#options.on.ready(child, this.#lazyUpstreams.of(child.serverKey));
    this.#lazyUpstreams.learn(child);
  }

  #notStarted(child: UpstreamServer, error: Error): void {
    // A server that was stopped during its start has not failed.
    if (child.status === ServerStatus.STOPPED) return;
    this.supervisor.lost(child, error.message);
  }

  #changed(child: UpstreamServer, kinds: readonly Kind[]): void {
    this.#lazyUpstreams.learn(child);
    this.#options.on.changed(kinds);
  }

  /** A running server was lost: it leaves the registry, and the supervisor plans its next start (`#healthChanged`). */
  #crashed(child: UpstreamServer, error: Error): void {
    this.#leave(child);
    this.supervisor.lost(child, error.message);
  }

  /** Takes a server out of use. Instances of sessions and calls keep running. */
  #leave(child: UpstreamServer): void {
    if (child.sharing === 'shared') this.#dedicated.stopOf(child.serverKey);
    this.#options.on.gone(child);
  }

  /** Remembers and reports the health of a server. Its stand-in leaves the registry once it is disabled or has failed to start. */
  #healthChanged(event: ServerEvent, health: Health, before: Health): void {
    const { serverKey } = event;
    this.#memory.remember(serverKey, health, before);
    const hasFailed = health.connectionState === 'error';
    const isSwitched = health.enabled !== before.enabled;
    const gone = hasFailed ? this.#lazyUpstreams.giveUp(serverKey) : undefined;
    const lazyUpstream = gone ?? (isSwitched ? this.#lazyUpstreams.of(serverKey) : undefined);
    if (lazyUpstream !== undefined) this.#options.on.changed(listedKinds(lazyUpstream.catalogue));
    this.#options.on.supervised(event);
  }

  #isOn(serverKey: string): boolean {
    return this.supervisor.healthOf(serverKey)?.enabled !== false;
  }

  #isFollowed(serverKey: string): boolean {
    return this.#options.on.isFollowed?.({ serverKey }) === true;
  }

  /** Not one that is on its way out. */
  #isCurrent(child: UpstreamServer): boolean {
    return this.#children.get(child.serverKey) === child;
  }
}

/** A changed entry is tried anew; what a person has disabled stays so. */
function afterChange({ enabled, autoDisabled, lastConnectedAt }: Health = NEW_SERVER): Health {
  return { ...NEW_SERVER, enabled: enabled || autoDisabled, lastConnectedAt };
}
