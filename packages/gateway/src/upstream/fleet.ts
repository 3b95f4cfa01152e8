import type { ConfigChanges } from '../config/diff.ts';
import { Texts } from '../errors.ts';
import type { Log } from '../log.ts';
import type { Implementation } from '../protocol/eras.ts';
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

/** How long the end of a gateway may be held up by what is to be remembered. */
const LAST_WRITE_MS = 1000;
/** How long a lazy server runs on after it was used. */
const IDLE_AFTER_MS = 10 * 60 * 1000;

export interface FleetOptions {
  readonly chain: Chain;
  /** What the product calls itself towards the servers. */
  readonly clientInfo: Implementation;
  readonly startupTimeout?: number;
  readonly maxMessageSize: number;
  readonly accounts: Accounts;
  readonly stores: Stores;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly log: Log;
  /** The command that hints tell users to run. */
  readonly commandName: string;
  /** What the client can do, as JSON, once that is known. */
  readonly capabilities: Promise<string>;
  /** Whether there is one client alone, which is served better in the way of the earlier revisions. */
  readonly prefersLegacy: () => boolean;
  readonly on: FleetEvents;
  /** Where the config came from: what is known of its servers is kept under that, and not kept without. */
  readonly configPath?: string;
  /** The entries of the servers before variables were replaced. */
  readonly unexpanded?: Entries;
  readonly supervision?: Partial<SupervisionRules>;
  /** Starts servers at their first call, unless their entry says otherwise. */
  readonly lazy?: boolean;
  /** A lazy server that nobody has used for so many milliseconds is ended. */
  readonly idleAfter?: number;
  /** Goes on with the servers that start, instead of failing with the first that does not. */
  readonly keepGoing?: boolean;
  /** Lists wait for the servers, whatever is remembered of them. */
  readonly fresh?: boolean;
}

interface FleetEvents extends Pick<ServerEvents, 'request' | 'notification' | 'isFollowed' | 'prepare'> {
  /** What servers offer of these kinds has changed. */
  changed(kinds: readonly Kind[]): void;
  /** It can be called; `before` is what stood in for it. */
  ready(child: UpstreamServer, before?: Upstream): void;
  /** It ran, and is called no more. */
  gone(child: UpstreamServer): void;
  supervised(event: ServerEvent): void;
}

/** What became of another config. */
export interface Reloaded {
  readonly changes: ConfigChanges;
  /** Resolves when all that is new runs, or has turned out not to. */
  readonly settled: Promise<void>;
}

/** All servers of a config: which are meant, which run, and what is offered in place of those that do not. */
export class Fleet {
  readonly supervisor: Supervisor;
  readonly #options: FleetOptions;
  readonly #desired: DesiredServers;
  readonly #serverContext: ServerContext;
  readonly #context: ServerOptions;
  readonly #dedicated: DedicatedServers;
  readonly #lazyUpstreams: LazyUpstreams;
  readonly #memory: HealthMemory;
  readonly #earlierLists = new Map<string, Catalogue>();
  #children = new Map<string, UpstreamServer>();
  #preparing: Promise<void> | undefined;
  #isPrepared = false;
  #hasStarted = false;

  constructor(servers: Servers, options: FleetOptions) {
    const desired = new DesiredServers(servers, options.unexpanded ?? {});
    this.#options = options;
    this.#desired = desired;
    this.#serverContext = new ServerContext(options);
    this.#context = this.#createContext();
    this.#dedicated = new DedicatedServers(desired, this.#context);
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

  /** Those that run and those that something remembered stands in for, in the order of the config. */
  snapshot(): Upstream[] {
    return [...this.children.values()].flatMap((child): Upstream[] => {
      if (child.status === ServerStatus.RUNNING) return [child];
      const lazyUpstream = this.lazyUpstream(child.serverKey);
      return lazyUpstream === undefined ? [] : [lazyUpstream];
    });
  }

  /** What is offered in place of a server that does not run. */
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

  /** Whether it is being started, or is still to be; one that sleeps until it is needed is not. */
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
    // What a lazy server offers, and with it whether it is started, depends on the client.
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

  /** Starts a server once more, for one client or call. */
  startDedicated(serverKey: string, options: InstanceOptions, on: DedicatedEvents): DedicatedServer {
    return this.#dedicated.start(serverKey, options, on);
  }

  /** Opens a second conversation with a server, the old way; undefined where there is none to be had. */
  async openLegacyConnection(
    server: Upstream,
    capabilities: string,
    on: DedicatedEvents,
  ): Promise<DedicatedServer | undefined> {
    const first = this.#children.get(server.serverKey);
    return first === server ? this.#dedicated.openLegacyConnection(first, capabilities, on) : undefined;
  }

  /** Turns into the fleet of another config: what is new or changed is started, what is gone ends, the rest never notices. */
  async reload(servers: Servers, entries: Entries): Promise<Reloaded> {
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
    await this.#recallOf(changes);
    return { changes, settled: this.#hasStarted ? this.#startAnew(arrived) : Promise.resolve() };
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
    this.#dedicated.dismiss(child, what, cleared);
    // What is under way may go on for a while.
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
    const before = this.#children.get(key)?.ownCatalogue;
    if (before !== undefined) this.#earlierLists.set(key, before);
    const child = new UpstreamServer(key, this.#desired.configOf(key), this.#context);
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

  /** What is remembered of servers that were not looked after until now. */
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

  #createContext(): ServerOptions {
    const { on } = this.#options;
    const serverContext = this.#serverContext;
    const { guard, containers, logs, eraCache, environmentOf } = serverContext;
    return {
      ...this.#options,
      guard,
      containers,
      logs,
      get slots() {
        return serverContext.slots;
      },
      get startClock() {
        return serverContext.startClock;
      },
      eraCache,
      environmentOf,
      earlierLists: (key) => this.#lazyUpstreams.listsOf(key) ?? this.#earlierLists.get(key),
      on: {
        ...on,
        prepare: (child, kind, listing) =>
          this.#isCurrent(child) ? on.prepare?.(child, kind, listing) : undefined,
        changed: (child, kinds) => this.#isCurrent(child) && this.#changed(child, kinds),
        crashed: (child) => this.#isCurrent(child) && this.#crashed(child),
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
      onEvent: (event) => this.#options.on.supervised(event),
      remember: (serverKey, health, before) => this.#remember(serverKey, health, before),
    });
  }

  #ready(child: UpstreamServer): void {
    this.#options.on.ready(child, this.#lazyUpstreams.of(child.serverKey));
    this.#lazyUpstreams.learn(child);
  }

  #notStarted(child: UpstreamServer, error: Error): void {
    // Whoever has told it to end knows why it did not start.
    if (child.status === ServerStatus.STOPPED) return;
    this.supervisor.lost(child, error.message);
  }

  #changed(child: UpstreamServer, kinds: readonly Kind[]): void {
    this.#lazyUpstreams.learn(child);
    this.#options.on.changed(kinds);
  }

  #crashed(child: UpstreamServer): void {
    const { serverKey, error } = child;
    const reason = error?.message ?? Texts.serverCrashed(serverKey);
    this.#leave(child);
    this.supervisor.lost(child, reason);
  }

  /** It is called no more, but what clients have for themselves lives on. */
  #leave(child: UpstreamServer): void {
    if (child.sharing === 'shared') this.#dedicated.stopOf(child.serverKey);
    this.#options.on.gone(child);
  }

  /** Disabled servers offer nothing, and nothing stands in for them; nor for others that failed to start. */
  #remember(serverKey: string, health: Health, before: Health): void {
    this.#memory.remember(serverKey, health, before);
    const hasFailed = health.connectionState === 'error';
    const isSwitched = health.enabled !== before.enabled;
    const gone = hasFailed ? this.#lazyUpstreams.giveUp(serverKey) : undefined;
    const lazyUpstream = gone ?? (isSwitched ? this.#lazyUpstreams.of(serverKey) : undefined);
    if (lazyUpstream !== undefined) this.#options.on.changed(listedKinds(lazyUpstream.catalogue));
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
