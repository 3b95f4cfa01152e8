import { EVERYTHING } from './bridge/capabilities.ts';
import type { AskedClient, Caller } from './call/caller.ts';
import { History } from './call/history.ts';
import type { InvocationSource } from './call/invocation.ts';
import { CallLimits } from './call/limits.ts';
import { LOG_LEVELS, LogLevels } from './call/log-levels.ts';
import { Notices, type ListName } from './call/notices.ts';
import { Parking } from './call/parking.ts';
import { Program } from './call/program.ts';
import { ask, callsOf } from './call/question.ts';
import type { Directory } from './call/resolve.ts';
import { Revival } from './call/revival.ts';
import { folderOf } from './call/roots.ts';
import { Tasks } from './call/tasks.ts';
import { isNoChange, type ConfigChanges } from './config/changes.ts';
import type { McpConfig } from './config/config.generated.ts';
import { redactor } from './config/redact.ts';
import { isSwitchedOff } from './config/server-entry.ts';
import { Deferred } from './deferred.ts';
import { Messages } from './errors.ts';
import { printable, silentLog, type Log } from './log.ts';
import { Collisions } from './registry/collisions.ts';
import { refusedNames } from './registry/hosts.ts';
import type { Collision } from './registry/name-book.ts';
import { DEFAULT_SEPARATOR, validateSeparator } from './registry/names.ts';
import { RegistryBuilder, type Registry } from './registry/registry.ts';
import type { ToolRegistry, ToolSchema } from './registry/tool-registry.ts';
import { HistoryFiles } from './state/history-files.ts';
import { ALL_KINDS, type Kind } from './upstream/catalogue.ts';
import type { ChildServer } from './upstream/child-server.ts';
import { Fleet, type Reloaded } from './upstream/fleet.ts';
import type { ServerHealthStatus, SupervisionRules } from './upstream/health.ts';
import { Instances, type Apart, type Instance, type Tenant } from './upstream/instances.ts';
import { differingKinds } from './upstream/remembered/remembered.ts';
import { systemTimers } from './upstream/schedule.ts';
import type { LoggedLine } from './upstream/server-logs.ts';
import type { ChildServerClient } from './upstream/server-status.ts';
import type { ServerEvent } from './upstream/supervisor.ts';
import { Twins } from './upstream/twins.ts';
import type { Upstream } from './upstream/upstream.ts';
import { within } from './upstream/within.ts';
import type { Era, Implementation } from './wire/era.ts';
import type { Message } from './wire/message.ts';
import type { Line } from './wire/splice.ts';

const CLIENT_NAME = 'mcp-aggregator-client';

export interface GatewayOptions {
  /** The product's version, told to the servers. */
  readonly version?: string;
  readonly separator?: string;
  /** Lists tools and prompts under their bare names. */
  readonly noPrefix?: boolean;
  /** Starts with the servers that do start, instead of failing with the first that does not. */
  readonly keepGoing?: boolean;
  /** Milliseconds that a server may take to start. */
  readonly startupTimeout?: number;
  readonly maxMessageSize?: number;
  /** The folder where things are remembered from start to start; none, where there is none. */
  readonly state?: string;
  /** The file that the config came from: what is known of its servers is kept under its path, and not kept without. */
  readonly configPath?: string;
  /** The entries of the servers before variables were replaced: a changed one is tried anew. */
  readonly unexpanded?: Readonly<Record<string, unknown>>;
  /** Told of every change of a server's state. */
  readonly onEvent?: (event: ServerEvent) => void;
  /** `arguments` keeps those of every call in the history, too. */
  readonly history?: 'arguments';
  /** Starts servers at their first call, and answers lists from what is remembered of them. */
  readonly lazy?: boolean;
  /** Milliseconds after which a lazy server that nobody uses is ended; ten minutes unless set. */
  readonly idleAfter?: number;
  /** Other times than the usual ones. */
  readonly supervision?: Partial<SupervisionRules>;
  /** The environment that servers inherit their short safe list from. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly log?: Log;
}

/** How long clients are not told of what a new config has changed already, so that they hear of all of it at once. */
const ONE_NOTICE_MS = 2000;
const DEFAULT_MAX_MESSAGE_SIZE = 64 * 1024 * 1024;

/** A client of the gateway, as the servers' news reach it. */
export interface Client extends Caller, AskedClient {
  listsChanged(lists: ReadonlySet<ListName>): void;
  /** A server has been started again, and knows nothing of what its last start was asked to tell. */
  returned(upstream: Upstream): void;
  /** It has subscribed to a resource of this server, in the way of the earlier revisions. */
  follows?(upstream: Upstream): boolean;
  /** Something that the person behind it should know, where its revision has a way to say that unasked. */
  alert(text: string): void;
  /** The least level of logs that it has asked for, once and for all. */
  readonly logLevel: string | undefined;
  /** No other client will come beside it. */
  readonly isAlone: boolean;
}

/** The side that clients are on. */
export interface Front {
  readonly clients: ReadonlySet<Client>;
  attach(client: Client): void;
  detach(client: Client): void;
}

/** A server as people ask about it. */
export interface ServerReport {
  readonly serverKey: string;
  readonly enabled: boolean;
  /** Disabled by the rule, after too many failures. */
  readonly autoDisabled: boolean;
  readonly lastConnectedAt?: number | undefined;
  readonly failureCount: number;
  /** Why it was lost the last time. */
  readonly lastError?: string | undefined;
  readonly health: ServerHealthStatus;
}

export interface AggregatorServer {
  readonly server: Front;
  readonly children: ReadonlyMap<string, ChildServerClient>;
  readonly registry: ToolRegistry;
  readonly config: McpConfig;
}

export function createGateway(config: McpConfig, options: GatewayOptions = {}): Gateway {
  return new Gateway(config, options);
}

/** Many servers as one. */
export class Gateway implements AggregatorServer {
  readonly maxMessageSize: number;
  /** What the product calls itself towards the servers. */
  readonly clientInfo: Implementation;
  readonly server: Front;
  readonly log: Log;
  /** Every call of a tool. */
  readonly history: History;
  readonly #options: GatewayOptions;
  readonly #builder: RegistryBuilder;
  readonly #fleet: Fleet;
  readonly #clients = new Set<Client>();
  readonly #opening = new Deferred<string>();
  readonly #settled = new Deferred<void>();
  readonly #tried = new Deferred<void>();
  readonly #collisions = new Collisions();
  readonly #notices: Notices;
  readonly #parking = new Parking();
  readonly #logLevels = new LogLevels();
  readonly #tasks: Tasks;
  readonly #limits: CallLimits;
  readonly #revival = new Revival((serverKey) => this.#fleet.supervisor.statusOf(serverKey), systemTimers);
  readonly #instances = new Instances<AskedClient>((serverKey, client, tenant) =>
    this.#fleet.startApart(serverKey, tenant, {
      request: (child, message, related) => this.#asked(child, message, related),
      notification: (child, message, related) => client.notified(child, message, related),
    }),
  );
  readonly #programs = new Map<InvocationSource, Program>();
  readonly #twins = new Twins((server) => this.#openTwin(server));
  #directory: Directory;
  #config: McpConfig;
  #starting: Promise<void> | undefined;
  #reloading: Promise<unknown> = Promise.resolve();
  #closing: Promise<void> | undefined;
  #isHolding = false;

  constructor(config: McpConfig, options: GatewayOptions) {
    const { separator = DEFAULT_SEPARATOR, noPrefix = false, log = silentLog } = options;
    validateSeparator(separator);
    this.#config = config;
    this.#options = options;
    this.log = printable(log);
    this.clientInfo = { name: CLIENT_NAME, version: options.version ?? '0.0.0' };
    this.maxMessageSize = options.maxMessageSize ?? DEFAULT_MAX_MESSAGE_SIZE;
    this.history = this.#createHistory();
    const order = Object.keys(config.mcpServers);
    this.#builder = new RegistryBuilder(
      { separator, noPrefix, order },
      {
        collided: (kind, found) => this.#collided(kind, found),
        passedOn: (kind, passed) => {
          this.log.warn(Messages.nameHasPassed(passed));
          this.#notices.changed([kind]);
        },
      },
    );
    this.#fleet = this.#createFleet();
    this.#tasks = new Tasks(this.#fleet.children.keys());
    this.#limits = new CallLimits(config, systemTimers);
    this.#directory = this.#directoryOf(this.#builder.build([]));
    this.#notices = new Notices((lists) => this.#clients.forEach((client) => client.listsChanged(lists)));
    this.server = {
      clients: this.#clients,
      attach: (client) => void this.#clients.add(client),
      detach: (client) => {
        this.#clients.delete(client);
        this.#instances.end(client);
      },
    };
    // Whoever waits for the start hears of its failure; nobody has to.
    this.#settled.promise.catch(() => {});
  }

  /** The one that counts now. */
  get config(): McpConfig {
    return this.#config;
  }

  get children(): ReadonlyMap<string, ChildServer> {
    return this.#fleet.children;
  }

  /** Where names lead at this moment. */
  get directory(): Directory {
    return this.#directory;
  }

  get registry(): ToolRegistry {
    return new Map(this.#directory.registry.tools);
  }

  get isSettled(): boolean {
    return this.#settled.isResolved;
  }

  /** Resolves when the first list can be answered; rejects where the start has failed. */
  get settled(): Promise<void> {
    return this.#settled.promise;
  }

  /** Whether every server has been tried: it runs, or it is known why it does not. */
  get isTried(): boolean {
    return this.isSettled && this.#tried.isResolved;
  }

  /** Resolves when every server has been tried; rejects where the start has failed. */
  get tried(): Promise<void> {
    return this.settled.then(() => this.#tried.promise);
  }

  /** What the client can do, as JSON. The first word counts: servers are greeted once. */
  open(capabilities: string): void {
    this.#opening.resolve(capabilities);
  }

  /** Starts every server; rejects with the `ChildServerError` of the first that fails, all others stopped. */
  start(): Promise<void> {
    this.#starting ??= this.#start();
    return this.#starting;
  }

  /** Ends every server and whatever it started. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  /** Calls a tool by its public name. The first use from inside a program starts the servers. */
  async callTool(
    name: string,
    args: Record<string, unknown> = {},
    source: InvocationSource = 'program',
  ): Promise<unknown> {
    await this.start();
    const program = this.#programs.get(source) ?? new Program(source, this.clientInfo);
    this.#programs.set(source, program);
    return program.callTool(this.directory, name, args);
  }

  async listTools(): Promise<ToolSchema[]> {
    await this.start();
    return Array.from(this.#directory.registry.tools.values(), (route) => route.schema);
  }

  /** What is known of each server that the config does not leave out. */
  reports(): ServerReport[] {
    return [...this.children.keys()].flatMap((serverKey) => this.#report(serverKey) ?? []);
  }

  /** The last lines that a server wrote to stderr, and what was said of it; undefined where there is no such server. */
  logsOf(serverKey: string): readonly LoggedLine[] | undefined {
    return this.children.has(serverKey) ? this.#fleet.logs.of(serverKey) : undefined;
  }

  /** Lets a server run again and forgets what was held against it; resolves when it runs, or has turned out not to. */
  async enable(serverKey: string): Promise<void> {
    await this.#manageable(serverKey);
    await this.#fleet.supervisor.enable(serverKey);
  }

  /** Ends a server, until it is enabled; also over restarts of the gateway. */
  async disable(serverKey: string): Promise<void> {
    await this.#manageable(serverKey);
    await this.#fleet.supervisor.disable(serverKey);
  }

  /** Ends a server and starts it anew. */
  async restart(serverKey: string): Promise<void> {
    await this.#manageable(serverKey);
    await this.#fleet.supervisor.restart(serverKey);
  }

  /**
   * Goes over to another config, of which `unexpanded` holds the entries before variables were replaced. What is new or
   * changed is started, what is gone ends once its calls have (within 5 s), the rest never notices. A server that does
   * not start is tried again like one that was lost. Resolves when all that is new runs, or has turned out not to.
   */
  async reload(config: McpConfig, unexpanded: GatewayOptions['unexpanded'] = {}): Promise<ConfigChanges> {
    const applied = this.#reloading.then(() => this.#reload(config, unexpanded));
    this.#reloading = applied.catch(() => {});
    const { changes, settled } = await applied;
    await settled;
    return changes;
  }

  /** Refuses calls from now on and calls off those under way; their clients are told. */
  stopCalls(): void {
    this.#limits.stop();
    this.#publish(this.#directory.registry);
    this.#revival.close();
    const calls = this.#fleet.conversations().flatMap((child) => callsOf(child));
    for (const call of new Set([...calls, ...this.#parking.inRounds])) this.#limits.revoke(call);
  }

  /** Calls are made again. */
  resumeCalls(): void {
    this.#limits.resume();
    this.#publish(this.#directory.registry);
  }

  /** `stopCalls` holds. */
  get isStopped(): boolean {
    return this.#limits.refusal !== undefined;
  }

  /** Whether a call of this server would be made now: it runs, and no limit makes the call wait. */
  canExecute(serverKey: string): boolean {
    return this.#directory.registry.upstreams.has(serverKey) && this.#limits.canExecute(serverKey);
  }

  /** What a client tells unasked, for all servers that understand it. */
  tellServers(era: Era, line: () => Line): void {
    const listening = [...this.#directory.registry.upstreams.values(), ...this.#twins.running];
    for (const upstream of listening) if (upstream.era === era) upstream.peer.send(line());
  }

  /** A client has stopped (or begun again) to read: the servers wait for it. */
  holdServers(hold: boolean): void {
    this.#isHolding = hold;
    for (const child of this.#talking()) child.hold(hold);
  }

  /** A client wants to hear more or less: servers are told to log as much as the one wants that wants the most. */
  logLevelChanged(): void {
    for (const child of this.#talking()) this.#tellLogLevel(child);
  }

  /** A start that is under way decides first which servers there are. */
  async #manageable(serverKey: string): Promise<void> {
    const entry = this.config.mcpServers[serverKey];
    if (entry !== undefined && isSwitchedOff(entry)) throw new Error(Messages.offInFile(serverKey));
    await this.#starting?.catch(() => {});
    if (this.#closing !== undefined) throw new Error(Messages.gatewayEnds());
  }

  #report(serverKey: string): ServerReport | undefined {
    const { supervisor } = this.#fleet;
    const [known, health] = [supervisor.healthOf(serverKey), supervisor.statusOf(serverKey)];
    if (known === undefined || health === undefined) return undefined;
    const { enabled, autoDisabled, lastConnectedAt, failureCount, lastError } = known;
    return { serverKey, enabled, autoDisabled, lastConnectedAt, failureCount, lastError, health };
  }

  #createHistory(): History {
    const { state, history } = this.#options;
    const { pid } = process;
    const now = Date.now;
    const onFailed = (reason: string): void => this.log.warn(Messages.historyNotKept(reason));
    return new History({
      now,
      prefix: `${now().toString(36)}-${pid.toString(36)}`,
      redact: redactor(() => this.config),
      keepsArguments: history === 'arguments',
      sink: state === undefined ? undefined : new HistoryFiles({ state, pid, now, onFailed }),
    });
  }

  #createFleet(): Fleet {
    const { startupTimeout, state, env = {} } = this.#options;
    const { configPath, unexpanded = {}, supervision = {} } = this.#options;
    return new Fleet(this.config.mcpServers, {
      configPath,
      entries: unexpanded,
      rules: supervision,
      lazy: this.#options.lazy ?? false,
      idleAfterMs: this.#options.idleAfter,
      clientInfo: this.clientInfo,
      startupTimeout,
      maxMessageSize: this.maxMessageSize,
      state,
      env,
      log: this.log,
      capabilities: this.#opening.promise,
      prefersLegacy: () => this.#prefersLegacy(),
      on: {
        changed: (_child, kinds) => this.#rebuild(kinds),
        request: (child, message, related) => this.#asked(child, message, related),
        notification: (child, message, related) =>
          this.#clients.forEach((client) => client.notified(child, message, related)),
        crashed: (child) => this.#crashed(child),
        ready: (child, before) => this.#ready(child, before),
        standInChanged: (standIn) => this.#rebuild(offered(standIn)),
        gone: (child) => {
          this.#fleet.stopApart(child.serverKey);
          this.#gone(child);
        },
        left: (child) => this.#gone(child),
        isFollowed: (child) => [...this.#clients].some((client) => client.follows?.(child) === true),
        supervised: (event) => this.#tellOf(event),
      },
    });
  }

  /** A mistake of whoever listens is not to be the end of a server. */
  #tellOf(event: ServerEvent): void {
    this.#revival.noted(event);
    if (event.type === 'server-auto-disabled') {
      const { serverKey, status } = event;
      // Not the reason: a server's last words are for who runs the gateway.
      const text = Messages.autoDisabled(serverKey, status.retryState.backoffIntervals.length);
      this.#clients.forEach((client) => client.alert(text));
    }
    try {
      this.#options.onEvent?.(event);
    } catch (error) {
      this.log.error(`The listener for ${event.type} has failed: ${(error as Error).message}`);
    }
  }

  async #start(): Promise<void> {
    const { separator = DEFAULT_SEPARATOR, noPrefix = false, keepGoing = false } = this.#options;
    this.log.debug?.(noPrefix ? 'names have no prefix' : `the separator is ${JSON.stringify(separator)}`);
    if (this.children.size === 0) this.log.warn(Messages.noServers());
    // A program that uses the gateway without a client has nobody who could answer a server's questions.
    if (this.#clients.size === 0) this.open('{}');
    try {
      await this.#fleet.start(keepGoing, () => this.#tried.resolve());
      const crashed = keepGoing ? undefined : this.#fleet.crashed();
      if (crashed !== undefined) throw crashed;
      this.#publish(this.#builder.build(this.#fleet.offering()));
      if (this.#collisions.size > 0 && !keepGoing) throw this.#collisions.error(noPrefix);
      this.#settled.resolve();
      // Those who wait are answered first.
      setImmediate(() => this.#warnOfNames());
    } catch (error) {
      this.#settled.reject(error as Error);
      await this.close();
      throw error;
    }
  }

  /** A start that is under way comes first. */
  async #reload(config: McpConfig, unexpanded: NonNullable<GatewayOptions['unexpanded']>): Promise<Reloaded> {
    await this.#starting?.catch(() => {});
    if (this.#closing !== undefined) throw new Error(Messages.gatewayEnds());
    this.#config = config;
    this.#limits.use(config);
    this.#publish(this.#directory.registry);
    const reloading = this.#fleet.reload(config.mcpServers, unexpanded);
    this.#builder.meant(Object.keys(config.mcpServers));
    this.#tasks.meant(this.children.keys());
    this.#revival.meant(this.children);
    void this.#notices.hold(
      within(
        ONE_NOTICE_MS,
        reloading.then(({ settled }) => settled),
      ),
    );
    const reloaded = await reloading;
    this.log.info(Messages.configReloaded(reloaded.changes));
    if (this.children.size === 0) this.log.warn(Messages.noServers());
    // Names that have become free may be wanted by others.
    if (!isNoChange(reloaded.changes)) this.#rebuild([]);
    return reloaded;
  }

  async #close(): Promise<void> {
    this.#notices.stop();
    this.#revival.close();
    this.#parking.close();
    this.open('{}');
    await this.#fleet.stop();
    await this.history.close();
  }

  #ready(child: ChildServer, before: Upstream | undefined): void {
    if (this.#isHolding) child.hold(true);
    this.#tellLogLevel(child);
    this.#clients.forEach((client) => client.returned(child));
    this.#rebuild(before === undefined ? offered(child) : this.#corrected(child, before));
    this.#revival.ready(child.serverKey);
  }

  /** What a server lists otherwise than was remembered; changed tools that are to wait for approval would be held back here. */
  #corrected(child: ChildServer, before: Upstream): Kind[] {
    const kinds = differingKinds(before.catalogue, child.catalogue);
    if (kinds.length > 0) this.log.info(Messages.listsDiffer(child.serverKey, kinds));
    return kinds;
  }

  #crashed(child: ChildServer): void {
    this.log.error(child.error?.message ?? Messages.serverCrashed(child.serverKey));
    // What clients have for themselves lives on.
    if (child.sharing === 'shared') this.#fleet.stopApart(child.serverKey);
    this.#gone(child);
  }

  #gone(child: ChildServer): void {
    this.#twins.forget(child);
    if (!this.isSettled) return;
    // Nothing is missed where something stands in for it.
    if (this.#fleet.standIn(child.serverKey) !== undefined) return this.#rebuild([]);
    this.#publish(this.#builder.without(this.#directory.registry, child.serverKey));
    this.#notices.changed(offered(child));
  }

  /** Before the first list can be answered there is nothing to replace. */
  #rebuild(kinds: readonly Kind[]): void {
    if (!this.isSettled) return;
    const { shares } = this.#builder;
    this.#publish(this.#builder.build(this.#fleet.offering()));
    // Where a URI has moved, tools that name it have changed as well.
    this.#notices.changed(this.#builder.shares === shares ? kinds : [...kinds, 'tools']);
  }

  #publish(registry: Registry): void {
    this.#directory = this.#directoryOf(registry);
  }

  #directoryOf(registry: Registry): Directory {
    return {
      registry,
      builder: this.#builder,
      parking: this.#parking,
      logLevels: this.#logLevels,
      tasks: this.#tasks,
      limits: this.#limits.inForce,
      revival: this.#revival,
      current: () => this.#directory,
      history: this.history,
      isApart: (upstream, caller) =>
        upstream.sharing !== 'shared' || upstream.isDormant === true || this.#mayHaveTwin(upstream, caller),
      instanceFor: (upstream, caller, folder) => this.#instanceFor(upstream, caller, folder),
      servers: new Set(this.#fleet.children.keys()),
      prospect: (serverKey) => this.#fleet.supervisor.prospect(serverKey),
      isStarting: (serverKey) => this.#fleet.isStarting(serverKey),
      trace: this.log.debug,
    };
  }

  /** A server of the client's or the call's own, told of this client alone. */
  #instanceFor(upstream: Upstream, caller: Caller, folder: string | undefined): Promise<Instance> {
    const { serverKey, sharing, cwdFromRoots } = upstream;
    if (sharing === 'shared') return this.#sharedOf(upstream, caller);
    const { client } = caller;
    const tenant = async (): Promise<Tenant> => ({
      // A modern client says with each call what it can do.
      capabilities: caller.era === 'modern' ? EVERYTHING : caller.envelope.capabilities,
      cwd: cwdFromRoots ? (folder ?? (await folderOf(caller))) : undefined,
      era: caller.era === 'legacy' ? 'legacy' : undefined,
    });
    if (sharing === 'per-call') return this.#instances.forCall(serverKey, client, tenant);
    const place = client.isMany ? (folder ?? '') : '';
    return this.#instances.forSession({ serverKey, place }, client, tenant);
  }

  #asked(child: ChildServer, message: Message, related: number | undefined): void {
    const [onlyClient, ...others] = this.#clients;
    ask(child, this.#tasks.publicMessage(child, message), {
      related,
      onlyClient: others.length === 0 ? onlyClient : undefined,
      parking: this.#parking,
      tasks: this.#tasks,
    });
  }

  /** A server of both ways that only one client will ever use may as well be greeted in that client's. */
  #prefersLegacy(): boolean {
    const [client] = this.#clients;
    return client?.isAlone === true && client.era === 'legacy' && client.canBeAsked;
  }

  /** One more process is worth it only for clients that can be asked what a server asks in the old way alone. */
  #mayHaveTwin(upstream: Upstream, { era, client }: Caller): boolean {
    if (era !== 'legacy' || upstream.era !== 'modern' || upstream.isModernOnly === true) return false;
    return (upstream.isRemote === true || client.canBeAsked) && this.#twins.mayHave(upstream);
  }

  /** The one that all share, started where it does not run, or its twin. */
  async #sharedOf(upstream: Upstream, caller: Caller): Promise<Instance> {
    const running = upstream.isDormant === true ? await this.#fleet.wake(upstream.serverKey) : upstream;
    const twin = this.#mayHaveTwin(running, caller) ? await this.#twins.of(running) : undefined;
    return { upstream: twin ?? running, release() {} };
  }

  async #openTwin(server: Upstream): Promise<Apart | undefined> {
    const twin = await this.#fleet.openTwin(server, EVERYTHING, {
      request: (child, message, related) => this.#asked(child, message, related),
      notification: (child, message, related) =>
        this.#clients.forEach((client) => client.notified(child, message, related)),
    });
    if (twin === undefined) return undefined;
    if (this.#isHolding) twin.upstream.hold(true);
    this.#tellLogLevel(twin.upstream);
    return twin;
  }

  /** All servers that can be heard, in every conversation that clients share. */
  #talking(): Upstream[] {
    return [...this.#fleet.running(), ...this.#twins.running];
  }

  #tellLogLevel(child: Upstream): void {
    const asked = [...this.#clients, ...callsOf(child)].map(({ logLevel }) => logLevel);
    const most = LOG_LEVELS.find((level) => asked.includes(level));
    if (most !== undefined) this.#logLevels.tell(child, most);
  }

  #collided(kind: Kind, collision: Collision): void {
    const isNew = this.#collisions.note(kind, collision);
    if (!isNew || (!this.isSettled && !this.#options.keepGoing)) return;
    this.log.warn(`${Messages.namesCollide(collision)}. ${Messages.heldBack(collision)}.`);
  }

  #warnOfNames(): void {
    const warning = refusedNames(this.#directory.registry.tools.values(), this.#builder.books.tools.rules);
    if (warning !== undefined) this.log.warn(warning);
  }
}

function offered(child: Upstream): Kind[] {
  return ALL_KINDS.filter((kind) => child.catalogue[kind].items.length > 0);
}
