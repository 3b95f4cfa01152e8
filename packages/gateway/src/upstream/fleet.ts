import { availableParallelism } from 'node:os';
import { configChanges, type ConfigChanges } from '../config/changes.ts';
import { childEnvironments } from '../config/child-environment.ts';
import type { ServerConfig } from '../config/config.generated.ts';
import { isSwitchedOff } from '../config/server-entry.ts';
import { Deferred } from '../deferred.ts';
import { Messages } from '../errors.ts';
import type { Log } from '../log.ts';
import { ServerMemory, type KnownServer } from '../state/server-memory.ts';
import { fileEntry } from '../state/server-record.ts';
import { noVerdicts, verdictsIn } from '../state/verdicts.ts';
import type { Implementation } from '../wire/era.ts';
import { ALL_KINDS, type Kind } from './catalogue.ts';
import type { ChildContext, ChildEvents } from './child-context.ts';
import { ChildServer } from './child-server.ts';
import type { Containers } from './container/containers.ts';
import { startGuard, type Guard } from './guard.ts';
import { healthFrom, recordOf, urgencyOf } from './health-record.ts';
import { DEFAULT_RULES, NEW_SERVER, type Health, type SupervisionRules } from './health.ts';
import type { Apart, Tenant } from './instances.ts';
import type { Catalogues } from './remembered/catalogues.ts';
import type { Offering } from './remembered/remembered.ts';
import { systemTimers } from './schedule.ts';
import { seeOff } from './see-off.ts';
import { ServerLogs } from './server-logs.ts';
import { ServerStatus } from './server-status.ts';
import { createSlots } from './slots.ts';
import { startAll } from './start-all.ts';
import { stopServers } from './stop-servers.ts';
import { Supervisor, type ServerEvent } from './supervisor.ts';
import type { Upstream } from './upstream.ts';
import { within } from './within.ts';

/** How long the end of a gateway may be held up by what is to be remembered. */
const LAST_WRITE_MS = 1000;
/** How long a lazy server runs on after it was used. */
const IDLE_AFTER_MS = 10 * 60 * 1000;
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
  /** Whether there is one client alone, which is served better in the way of the earlier revisions. */
  readonly prefersLegacy: () => boolean;
  readonly on: FleetEvents;
  /** Where the config came from: what is known of its servers is kept under that, and not kept without. */
  readonly configPath: string | undefined;
  /** The entries of the servers before variables were replaced. */
  readonly entries: Readonly<Record<string, unknown>>;
  readonly rules: Partial<SupervisionRules>;
  /** Starts servers at their first call, unless their entry says otherwise. */
  readonly lazy: boolean;
  /** A lazy server that nobody has used for so many milliseconds is ended. */
  readonly idleAfterMs: number | undefined;
}

interface FleetEvents extends ChildEvents {
  /** It can be called; `before` is what stood in for it. */
  ready(child: ChildServer, before?: Upstream): void;
  /** What stands in for a server that does not run is there, or no more. */
  standInChanged(standIn: Upstream): void;
  /** It ran, and is called no more, because somebody wants it so. */
  gone(child: ChildServer): void;
  /** It ran, and is called no more, because the config wants it so; what is under way may go on for a while. */
  left(child: ChildServer): void;
  supervised(event: ServerEvent): void;
}

/** What became of another config. */
export interface Reloaded {
  readonly changes: ConfigChanges;
  /** Resolves when all that is new runs, or has turned out not to. */
  readonly settled: Promise<void>;
}

/** What an own server of a client's says. */
export type ApartEvents = Pick<ChildEvents, 'request' | 'notification'>;

/** All servers of a config, and the guard that outlives those that run here. */
export class Fleet {
  readonly logs: ServerLogs = new ServerLogs(Date.now);
  #children: Map<string, ChildServer>;
  readonly #options: FleetOptions;
  #servers: Readonly<Record<string, ServerConfig>>;
  #entries: FleetOptions['entries'];
  readonly #shared: ChildContext;
  readonly #apart = new Set<ChildServer>();
  /** What is left of servers that have been removed or changed. */
  readonly #leaving = new Map<string, Promise<unknown>>();
  #hasStarted = false;
  /** What stands in for lazy servers while they do not run. */
  readonly #dormant = new Map<string, Upstream>();
  #catalogues: Promise<Catalogues> | undefined;
  readonly #supervisor: Supervisor;
  readonly #memory: ServerMemory | undefined;
  #guard: Guard | undefined;
  #containers: Promise<Containers> | undefined;

  constructor(servers: Readonly<Record<string, ServerConfig>>, options: FleetOptions) {
    this.#options = options;
    this.#servers = servers;
    this.#entries = options.entries;
    this.#shared = this.#context();
    const meant = Object.entries(servers).filter(([, server]) => !isSwitchedOff(server));
    this.#children = new Map(meant.map(([key, server]) => [key, new ChildServer(key, server, this.#shared)]));
    this.#memory = this.#createMemory();
    this.#supervisor = this.#createSupervisor();
    for (const child of this.children.values()) this.#supervisor.adopt(child, NEW_SERVER);
  }

  get supervisor(): Supervisor {
    return this.#supervisor;
  }

  get children(): ReadonlyMap<string, ChildServer> {
    return this.#children;
  }

  /** In the order of the config. */
  running(): ChildServer[] {
    return [...this.children.values()].filter(({ status }) => status === ServerStatus.RUNNING);
  }

  /** Everything that can be spoken to, also what clients have for themselves. */
  conversations(): ChildServer[] {
    const all = new Set([...this.children.values(), ...this.#apart]);
    return [...all].filter(({ isConnected }) => isConnected);
  }

  /** Those that run and those that something remembered stands in for, in the order of the config. */
  offering(): Upstream[] {
    return [...this.children.values()].flatMap((child): Upstream[] => {
      if (child.status === ServerStatus.RUNNING) return [child];
      const standIn = this.standIn(child.serverKey);
      return standIn === undefined ? [] : [standIn];
    });
  }

  /** What is offered in place of a server that does not run. */
  standIn(serverKey: string): Upstream | undefined {
    return this.#isOn(serverKey) ? this.#dormant.get(serverKey) : undefined;
  }

  /** Starts a server that is needed now; however many need it, it is started once. */
  async wake(serverKey: string): Promise<ChildServer> {
    const isLost = this.#supervisor.healthOf(serverKey)?.connectionState === 'error';
    if (isLost) throw new Error(Messages.notRunning(serverKey, this.#supervisor.prospect(serverKey)));
    await this.#supervisor.start(serverKey);
    const child = this.#children.get(serverKey);
    if (child?.status === ServerStatus.RUNNING) return child;
    throw child?.error ?? new Error(Messages.notRunning(serverKey));
  }

  /** Why the first server that is up no more is not. */
  crashed(): Error | undefined {
    return [...this.children.values()].find(({ status }) => status === ServerStatus.FAILED)?.error;
  }

  /** Whether it is being started, or is still to be; one that sleeps until it is needed is not. */
  isStarting(serverKey: string): boolean {
    const isToBe = this.children.get(serverKey)?.status === ServerStatus.INITIALIZING;
    const { connectionState } = this.#supervisor.healthOf(serverKey) ?? {};
    return isToBe && !(connectionState === 'disconnected' && this.standIn(serverKey) !== undefined);
  }

  /** Starts all that are enabled; see `startAll`. */
  async start(keepGoing: boolean, tried: () => void): Promise<void> {
    this.#hasStarted = true;
    const noted = this.#memory?.noted() ?? [];
    if (noted.length > 0) await this.#recall(noted);
    if (keepGoing) this.#supervisor.begin();
    const meant = [...this.children.values()].filter((child) => this.#isEnabled(child));
    const dormant = await this.#lieDown(meant.map(({ serverKey }) => serverKey));
    const enabled = meant.filter(({ serverKey }) => !dormant.has(serverKey));
    for (const child of enabled) this.#supervisor.starting(child);
    await startAll(enabled, {
      keepGoing,
      latecomersMs: LATECOMERS_MS,
      ready: (child) => {
        this.#supervisor.connected(child);
        this.#ready(child);
      },
      failed: (child, error) => keepGoing && this.#notStarted(child, error),
      tried,
    });
    if (!keepGoing) this.#supervisor.begin();
  }

  /** Turns into the fleet of another config: what is new or changed is started, what is gone ends, the rest never notices. */
  async reload(
    servers: Readonly<Record<string, ServerConfig>>,
    entries: FleetOptions['entries'],
  ): Promise<Reloaded> {
    const changes = configChanges(this.#servers, servers);
    const known = new Map(changes.changed.map((key) => [key, this.#supervisor.healthOf(key) ?? NEW_SERVER]));
    this.#catalogues = undefined;
    for (const key of [...changes.removed, ...changes.changed]) this.#dormant.delete(key);
    for (const key of changes.removed) this.#dismiss(key, 'was taken out of the config');
    for (const key of changes.changed)
      this.#dismiss(key, 'is restarted, because its entry in the config has changed');
    this.#servers = servers;
    this.#entries = entries;
    this.#memory?.meant(this.#known());
    const arrived = [...changes.added, ...changes.changed];
    for (const key of arrived) this.#adopt(key, afterChange(known.get(key)));
    this.#sort();
    await this.#recallOf(changes);
    return { changes, settled: this.#hasStarted ? this.#startAnew(arrived) : Promise.resolve() };
  }

  /** Starts a server once more, for one client or call. */
  startApart(serverKey: string, tenant: Tenant, on: ApartEvents): Apart {
    return this.#startApart(serverKey, tenant, on).apart;
  }

  /** Opens a second conversation, the old way; undefined where the server does not know it, or keeps no session in it. */
  async openTwin(server: Upstream, capabilities: string, on: ApartEvents): Promise<Apart | undefined> {
    const { serverKey } = server;
    const first = this.#children.get(serverKey);
    if (first === undefined || first !== server) return undefined;
    const changed = (_: ChildServer, kinds: readonly Kind[]): void =>
      first.isRemote ? undefined : this.#shared.on.changed(first, kinds);
    const tenant: Tenant = { capabilities, era: 'legacy', isEraFixed: true };
    const { apart, child } = this.#startApart(serverKey, tenant, { ...on, changed });
    await apart.started;
    if (!child.keepsSession) {
      apart.stop();
      return undefined;
    }
    this.#accompany(first, child);
    void apart.ended.then(() => {
      if (child.error !== undefined) this.#options.log.warn(child.error.message);
      this.#accompany(first, undefined);
    });
    return apart;
  }

  /** What only the one of two conversations lists comes and goes with it. */
  #accompany(server: ChildServer, twin: ChildServer | undefined): void {
    const before = server.catalogue;
    server.accompany(twin);
    const now = server.catalogue;
    const kinds = ALL_KINDS.filter((kind) => before[kind].items.length !== now[kind].items.length);
    if (kinds.length > 0) this.#shared.on.changed(server, kinds);
  }

  #startApart(
    serverKey: string,
    { capabilities, cwd, era, isEraFixed }: Tenant,
    on: ApartEvents & Partial<ChildEvents>,
  ): { apart: Apart; child: ChildServer } {
    const ended = new Deferred<void>();
    const config = { ...this.#servers[serverKey], ...(cwd !== undefined && { cwd }) };
    const child = new ChildServer(serverKey, config, {
      ...this.#shared,
      capabilities: Promise.resolve(capabilities),
      era,
      isEraFixed,
      isClientFolder: cwd !== undefined,
      prefersLegacy: undefined,
      on: { changed() {}, ...on, crashed: () => ended.resolve() },
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
    void this.#containers?.then((containers) => containers.end());
    this.#supervisor.stop();
    const remembered = within(LAST_WRITE_MS, this.#memory?.flush() ?? Promise.resolve());
    const all = [...this.children.values(), ...this.#apart];
    const rest = all.map((child) => child.retire()).filter((connection) => connection !== undefined);
    if (this.#guard !== undefined) await stopServers(rest, this.#guard);
    else await Promise.all(rest.map((connection) => connection.stop()));
    await remembered;
  }

  /** Ends all of a server's processes and conversations but the one that clients share. */
  stopApart(serverKey: string): void {
    for (const child of this.#apart) {
      if (child.serverKey !== serverKey) continue;
      const ended = child.retire()?.stop() ?? Promise.resolve();
      void ended.then(() => this.#apart.delete(child));
    }
  }

  /** It is called no more; those who wait for it do so for a while longer. */
  #dismiss(key: string, what: string): void {
    const child = this.#children.get(key);
    const cleared = this.#supervisor.dismiss(key);
    if (child === undefined) return;
    const wasRunning = child.status === ServerStatus.RUNNING;
    this.#children.delete(key);
    this.#apart.add(child);
    const all = [...this.#apart].filter(({ serverKey }) => serverKey === key);
    const ended = Promise.all([
      cleared,
      this.#leaving.get(key),
      ...all.map((one) => this.#seeOff(one, what)),
    ]);
    this.#leaving.set(key, ended);
    void ended.then(() => this.#leaving.get(key) === ended && this.#leaving.delete(key));
    if (wasRunning) this.#options.on.left(child);
  }

  async #seeOff(child: ChildServer, what: string): Promise<void> {
    await seeOff(child, what);
    this.#apart.delete(child);
  }

  #adopt(key: string, health: Health): void {
    this.#supervisor.adopt(this.#createAnew(key), health, this.#leaving.get(key));
  }

  async #startAnew(keys: readonly string[]): Promise<void> {
    const dormant = await this.#lieDown(keys);
    for (const standIn of dormant.values()) this.#options.on.standInChanged(standIn);
    const enabled = keys.filter((key) => !dormant.has(key));
    await Promise.all(
      enabled.map(async (key) => {
        await this.#supervisor.start(key);
        const { status, error } = this.#children.get(key) ?? {};
        if (status === ServerStatus.FAILED && error !== undefined) this.#options.log.error(error.message);
      }),
    );
  }

  /** What is remembered of servers that were not looked after until now. */
  async #recallOf({ added, changed }: ConfigChanges): Promise<void> {
    await this.#memory?.flush();
    const noted = this.#memory?.noted() ?? [];
    const unknown = noted.filter((key) => added.includes(key) || !this.#children.has(key));
    if (unknown.length > 0) await this.#recall(unknown);
    for (const key of changed) if (!this.#isOn(key)) this.#options.log.warn(Messages.isDisabled(key));
  }

  /** In the order of the config. */
  #sort(): void {
    const inOrder = Object.keys(this.#servers).flatMap((key) => {
      const child = this.#children.get(key);
      return child === undefined ? [] : [[key, child] as const];
    });
    this.#children = new Map(inOrder);
  }

  #isLazy(key: string): boolean {
    return this.#servers[key]?.lazy ?? this.#options.lazy;
  }

  /** Of these servers the lazy ones of which is known what they offer; they are not started. */
  async #lieDown(keys: readonly string[]): Promise<Map<string, Upstream>> {
    const lazy = keys.filter((key) => this.#isLazy(key));
    const found = new Map<string, Upstream>();
    if (lazy.length === 0) return found;
    const catalogues = await this.#remembered();
    for (const key of lazy) {
      const offering = catalogues.recall(key);
      if (offering !== undefined) found.set(key, await this.#dormantFor(key, offering));
    }
    for (const [key, standIn] of found) this.#dormant.set(key, standIn);
    return found;
  }

  /** Loaded with the first lazy server. */
  #remembered(): Promise<Catalogues> {
    const { state, configPath, log, capabilities } = this.#options;
    const entryHash = (key: string): string => fileEntry(this.#entries[key] ?? this.#servers[key], true).hash;
    this.#catalogues ??= Promise.all([import('./remembered/catalogues.ts'), capabilities]).then(
      ([loaded, client]) =>
        new loaded.Catalogues({ state, configPath, log, entryHash, capabilities: client }),
    );
    return this.#catalogues;
  }

  async #dormantFor(serverKey: string, offering: Offering): Promise<Upstream> {
    const { Dormant } = await import('./remembered/dormant.ts');
    const { sharing = 'shared', cwdFromRoots: fromRoots } = this.#servers[serverKey] ?? {};
    const cwdFromRoots = sharing !== 'shared' && fromRoots === true;
    return new Dormant(offering, { serverKey, sharing, cwdFromRoots, wake: () => this.wake(serverKey) });
  }

  #ready(child: ChildServer): void {
    this.#options.on.ready(child, this.#dormant.get(child.serverKey));
    if (this.#isLazy(child.serverKey)) void this.#learn(child);
  }

  /** What a lazy server offers stands in for it from now on, also at later starts. */
  async #learn(child: ChildServer): Promise<void> {
    const { serverKey, era, capabilities, instructions, ownCatalogue: catalogue } = child;
    const offering = { era, capabilities, instructions, catalogue };
    const [catalogues, dormant] = await Promise.all([
      this.#remembered(),
      this.#dormantFor(serverKey, offering),
    ]);
    if (!this.#isCurrent(child)) return;
    this.#dormant.set(serverKey, dormant);
    catalogues.learn(serverKey, offering);
  }

  /** Disabled servers offer nothing, and nothing stands in for them. */
  #supervised(event: ServerEvent): void {
    const standIn = this.#dormant.get(event.serverKey);
    const isSwitched = ['server-disabled', 'server-auto-disabled', 'server-enabled'].includes(event.type);
    if (standIn !== undefined && isSwitched) this.#options.on.standInChanged(standIn);
    this.#options.on.supervised(event);
  }

  #isOn(serverKey: string): boolean {
    return this.#supervisor.healthOf(serverKey)?.enabled !== false;
  }

  #isEnabled({ serverKey }: ChildServer): boolean {
    return this.#isOn(serverKey);
  }

  /** Servers of which something is known begin with that; one that is disabled does not begin at all. */
  async #recall(noted: readonly string[]): Promise<void> {
    for (const [serverKey, record] of (await this.#memory?.recall(noted)) ?? []) {
      const child = this.#children.get(serverKey);
      if (child === undefined) continue;
      this.#supervisor.adopt(child, healthFrom(record));
      if (record.enabled) continue;
      child.retire();
      this.#options.log.warn(Messages.isDisabled(serverKey));
    }
  }

  #notStarted(child: ChildServer, error: Error): void {
    this.#options.log.error(error.message);
    this.#supervisor.lost(child, error.message);
  }

  #createSupervisor(): Supervisor {
    const { log, on, rules } = this.#options;
    return new Supervisor({
      timers: systemTimers,
      rules: { ...DEFAULT_RULES, ...rules },
      log,
      create: (key) => this.#createAnew(key),
      idleAfterMs: (key) => (this.#isLazy(key) ? (this.#options.idleAfterMs ?? IDLE_AFTER_MS) : undefined),
      ready: (child) => this.#ready(child),
      gone: (child) => on.gone(child),
      onEvent: (event) => this.#supervised(event),
      remember: (serverKey, health, before) => this.#remember(serverKey, health, before),
    });
  }

  /** The new one takes the place of the one that has ended. */
  #createAnew(key: string): ChildServer {
    const child = new ChildServer(key, this.#servers[key] as ServerConfig, this.#shared);
    this.#children.set(key, child);
    return child;
  }

  #createMemory(): ServerMemory | undefined {
    const { state: folder, configPath, env, log } = this.#options;
    if (folder === undefined || configPath === undefined) return undefined;
    return new ServerMemory({ folder, configPath, env, log }, this.#known());
  }

  #known(): KnownServer[] {
    return Object.entries(this.#servers).map(([serverKey, server]) => ({
      serverKey,
      entry: this.#entries[serverKey] ?? server,
      enabled: !isSwitchedOff(server),
    }));
  }

  #remember(serverKey: string, health: Health, before: Health): void {
    const urgency = urgencyOf(health, before);
    if (urgency !== 'none') this.#memory?.remember(serverKey, recordOf(health), urgency === 'urgent');
  }

  #context(): ChildContext {
    const { state, env } = this.#options;
    return {
      ...this.#options,
      on: {
        ...this.#options.on,
        changed: (child, kinds) => {
          if (!this.#isCurrent(child)) return;
          if (this.#isLazy(child.serverKey)) void this.#learn(child);
          this.#options.on.changed(child, kinds);
        },
        crashed: (child) => this.#isCurrent(child) && this.#crashed(child),
      },
      guard: () => this.#guardian(),
      containers: () => this.#contained(),
      logs: this.logs,
      slots: createSlots(2 * availableParallelism()),
      verdicts: state === undefined ? noVerdicts : verdictsIn(state),
      environmentOf: childEnvironments(env, process.platform),
    };
  }

  /** Not one that is on its way out. */
  #isCurrent(child: ChildServer): boolean {
    return this.#children.get(child.serverKey) === child;
  }

  #crashed(child: ChildServer): void {
    this.#options.on.crashed(child);
    this.#supervisor.lost(child, child.error?.message ?? Messages.serverCrashed(child.serverKey));
  }

  /** What containers need is loaded here: most gateways have none. */
  #contained(): Promise<Containers> {
    this.#containers ??= import('./container/containers.ts').then(({ containersFor }) =>
      containersFor(this.#options.env, this.#options.log),
    );
    return this.#containers;
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

/** A changed entry is tried anew; what a person has disabled stays so. */
function afterChange({ enabled, autoDisabled, lastConnectedAt }: Health = NEW_SERVER): Health {
  return { ...NEW_SERVER, enabled: enabled || autoDisabled, lastConnectedAt };
}
