import type { History } from '../call/history/history.ts';
import type { InvocationSource } from '../call/history/invocation.ts';
import { InProcessClient } from '../call/in-process-client.ts';
import { callsOf, questionsOf } from '../call/questions/ask.ts';
import type { Directory } from '../call/resolve.ts';
import type { McpConfig } from '../config/config.generated.ts';
import { didYouMean } from '../config/did-you-mean.ts';
import { describeChanges, isNoChange, type ConfigChanges } from '../config/diff.ts';
import type { LoadedConfig } from '../config/load.ts';
import { checkConfig } from '../config/prepare.ts';
import { isSwitchedOff } from '../config/server-kind.ts';
import { ConfigError, ConfigErrorCode, quoted, someOf, Texts } from '../errors.ts';
import { printable, silentLog, type Log } from '../log.ts';
import type { Implementation } from '../protocol/eras.ts';
import { DEFAULT_SEPARATOR } from '../registry/names.ts';
import type { ToolRegistry } from '../registry/tool-registry.ts';
import { stateProblem } from '../state/state-problem.ts';
import { createMemoryStores, openStores, type Stores } from '../state/stores.ts';
import { Deferred } from '../time/deferred.ts';
import { within } from '../time/timeouts.ts';
import type { ToolSchema } from '../upstream/catalogue/catalogue.ts';
import type { AppliedConfig } from '../upstream/fleet/fleet.ts';
import { Chain, CHAIN_VARIABLE, gatewayId } from '../upstream/gateway-chain.ts';
import type { UpstreamServer } from '../upstream/server.ts';
import type { LoggedLine } from '../upstream/supervision/server-logs.ts';
import type { Supervisor } from '../upstream/supervision/supervisor.ts';
import type { ChildServerClient } from '../upstream/upstream.ts';
import { Accounts } from '../wire/account.ts';
import type { Line } from '../wire/json/splice.ts';
import type { Client, Front } from './clients.ts';
import { createHistory } from './create-history.ts';
import type { GatewayEvent, GatewayListener } from './events.ts';
import type { GatewayOptions } from './options.ts';
import { reportOf, type ServerReport } from './report.ts';
import type { View } from './view.ts';
import { Parts } from './wiring.ts';

const DEFAULT_COMMAND = 'weir';
const CLIENT_NAME = 'mcp-aggregator-client';
/** Holds list_changed notifications back after a reload, so that clients get one for all changes. */
const ONE_NOTICE_MS = 2000;
const DEFAULT_MAX_MESSAGE_SIZE = 64 * 1024 * 1024;

export interface AggregatorServer {
  readonly server: Front;
  readonly children: Map<string, ChildServerClient>;
  readonly registry: ToolRegistry;
  readonly config: McpConfig;
}

/** The tools of one group, for a program. */
export interface GroupTools {
  listTools(): Promise<ToolSchema[]>;
  /** Calls a tool by its public name; the arguments and the source are those of `Gateway.callTool`. */
  callTool(tool: string, args?: Record<string, unknown>, source?: InvocationSource): Promise<unknown>;
}

interface ProgramCall {
  readonly tool: string;
  readonly args: Record<string, unknown> | undefined;
  readonly source: InvocationSource | undefined;
}

/** Checks the config as `loadConfig` does; throws a `ConfigError` that names every mistake. */
export function createGateway(config: McpConfig, options: GatewayOptions = {}): Gateway {
  return new Gateway(checkConfig(config, options.configPath), options);
}

/** Creates the gateway of a config file that `loadConfig` has read, and checked. */
export function gatewayFor(
  { config, path: configPath, unexpanded }: Pick<LoadedConfig, 'config' | 'path' | 'unexpanded'>,
  options: Omit<GatewayOptions, 'configPath' | 'unexpanded'> = {},
): Gateway {
  return new Gateway(config, { ...options, configPath, unexpanded });
}

/** Opens the state folder, unless other users may have written to it: such a gateway remembers nothing. */
function storesFor({ state }: GatewayOptions, log: Log): Stores {
  if (typeof state === 'object') return state;
  const problem = state === undefined ? undefined : stateProblem(state);
  if (problem !== undefined) log.warn(problem);
  return state === undefined || problem !== undefined ? createMemoryStores() : openStores(state);
}

/** The chain of a gateway that serves the config of this file, where it came from one. */
export function chainFor({ configPath, env }: Pick<GatewayOptions, 'configPath' | 'env'>): Chain {
  return new Chain(() => gatewayId(configPath), env?.[CHAIN_VARIABLE]);
}

/** Many servers as one, as fronts and programs use them: its life, and what it can be told. */
export class Gateway implements AggregatorServer {
  readonly maxMessageSize: number;
  /** Counts the bytes that are held for each client and server. */
  readonly accounts: Accounts;
  /** Name and version that servers get in the handshake. */
  readonly clientInfo: Implementation;
  /** The command that hints tell users to run. */
  readonly commandName: string;
  readonly server: Front;
  /** The gateways that this one stands behind, and itself. */
  readonly chain: Chain;
  readonly log: Log;
  /** Every call of a tool. */
  readonly history: History;
  readonly #options: GatewayOptions;
  readonly #parts: Parts;
  readonly #programs = new Map<InvocationSource, InProcessClient>();
  readonly #opening = new Deferred<string>();
  readonly #settled = new Deferred<void>();
  readonly #tried = new Deferred<void>();
  #config: McpConfig;
  #starting: Promise<void> | undefined;
  #reloading: Promise<unknown> = Promise.resolve();
  #closing: Promise<void> | undefined;

  constructor(config: McpConfig, given: GatewayOptions, chain: Chain = chainFor(given)) {
    this.#config = config;
    this.chain = chain;
    this.log = printable(given.log ?? silentLog);
    const options = { ...given, stores: storesFor(given, this.log) };
    this.#options = options;
    this.commandName = options.commandName ?? DEFAULT_COMMAND;
    this.clientInfo = { name: CLIENT_NAME, version: options.version ?? '0.0.0' };
    this.maxMessageSize = options.maxMessageSize ?? DEFAULT_MAX_MESSAGE_SIZE;
    this.accounts = new Accounts(this.maxMessageSize, config.limits);
    this.history = createHistory(options, this.log, () => this.config);
    this.#parts = new Parts(config, {
      ...options,
      log: this.log,
      history: this.history,
      clientInfo: this.clientInfo,
      chain: this.chain,
      commandName: this.commandName,
      maxMessageSize: this.maxMessageSize,
      accounts: this.accounts,
      env: options.env ?? {},
      capabilities: this.#opening.promise,
    });
    this.server = this.#parts.clients;
    // Throws where the config has no such group.
    this.view(options.group);
    // Prevents an unhandled rejection where no caller waits for the start.
    this.#settled.promise.catch(() => {});
  }

  /** The one that counts now. */
  get config(): McpConfig {
    return this.#config;
  }

  /** A copy, like `registry`: a change of it changes nothing here. */
  get children(): Map<string, UpstreamServer> {
    return new Map(this.#parts.fleet.servers.byKey);
  }

  /** True for a server that the config does not leave out. */
  hasServer(serverKey: string): boolean {
    return this.#parts.fleet.servers.byKey.has(serverKey);
  }

  /** True for a server of the config that never runs here, because the group of this gateway has nothing of it. */
  isOutside(serverKey: string): boolean {
    return this.#parts.fleet.isOutside(serverKey);
  }

  /** Number of servers that the config does not switch off. */
  get serverCount(): number {
    return this.#parts.fleet.servers.byKey.size;
  }

  /** The current directory of all servers, without a group. */
  get directory(): Directory {
    return this.view().directory;
  }

  /** Returns the view of a group, or that of all; undefined where the config has no such group. */
  findView(group?: string): View | undefined {
    const { publication } = this.#parts;
    return group === undefined ? publication.whole : publication.viewOf(group);
  }

  /** Returns the same; throws a `ConfigError` that names the nearest group where there is none. */
  view(group?: string): View {
    const view = this.findView(group);
    if (view !== undefined) return view;
    const text = noSuchGroup(group ?? '', Object.keys(this.config.groups ?? {}));
    throw new ConfigError(text, ConfigErrorCode.INVALID_SCHEMA);
  }

  get registry(): ToolRegistry {
    return new Map(this.directory.registry.tools);
  }

  get isSettled(): boolean {
    return this.#settled.isResolved;
  }

  /** Resolves when the first list can be answered; rejects where the start has failed. */
  get settled(): Promise<void> {
    return this.#settled.promise;
  }

  /** True once every server has either started or failed. */
  get isTried(): boolean {
    return this.isSettled && this.#tried.isResolved;
  }

  /** Resolves when every server has been tried; rejects where the start has failed. */
  get tried(): Promise<void> {
    return this.settled.then(() => this.#tried.promise);
  }

  /** Sets the client's capabilities, as JSON. Only the first call counts, because each server gets one handshake. */
  open(capabilities: string): void {
    this.#opening.resolve(capabilities);
    this.recall(capabilities);
  }

  /** Finds out which servers are disabled. After that, `recall` can use the cached catalogues of the others. */
  prepare(): Promise<void> {
    return this.#parts.fleet.prepare();
  }

  /** Lets clients that can do this read what is remembered, until the servers run. */
  recall(capabilities: string): void {
    if (this.isSettled || this.#closing !== undefined) return;
    const { fleet, publication } = this.#parts;
    const isAllKnown = fleet.recall(capabilities);
    if (isAllKnown && this.#options.keepGoing === true) this.#settle();
    else publication.preview();
  }

  /** Starts every server; rejects with the `ChildServerError` of the first that fails, all others stopped. */
  start(): Promise<void> {
    this.#starting ??= this.#start();
    return this.#starting;
  }

  /**
   * Ends every server and whatever it started. Servers that do not end by themselves get SIGTERM after half of this time
   * (in milliseconds, 4000 unless given) and SIGKILL after all of it.
   */
  close(killAfterMs?: number): Promise<void> {
    this.#closing ??= this.#close(killAfterMs);
    return this.#closing;
  }

  /** Calls a tool by its public name. The first use from inside a program starts the servers. */
  async callTool(name: string, args?: Record<string, unknown>, source?: InvocationSource): Promise<unknown> {
    return this.#callTool(undefined, { tool: name, args, source });
  }

  async listTools(): Promise<ToolSchema[]> {
    return this.#listTools(undefined);
  }

  /** Lets a program see and call what one group of the config has, and nothing else. Throws where there is no such group. */
  group(name: string): GroupTools {
    this.view(name);
    return {
      listTools: () => this.#listTools(name),
      callTool: (tool, args, source) => this.#callTool(name, { tool, args, source }),
    };
  }

  /** Calls `listener` with every event of these types, or of all, until what is returned is called. */
  subscribe(listener: GatewayListener, types?: readonly GatewayEvent['type'][]): () => void {
    return this.#parts.events.subscribe(listener, types);
  }

  /** Returns the state of each server that the config does not switch off. */
  reports(): ServerReport[] {
    const { fleet } = this.#parts;
    return [...fleet.servers.byKey.keys()].flatMap(
      (serverKey) => reportOf(serverKey, fleet.supervisor) ?? [],
    );
  }

  /** The last lines that a server wrote to stderr, and what was said of it; undefined where there is no such server. */
  logsOf(serverKey: string): readonly LoggedLine[] | undefined {
    const { servers, logs } = this.#parts.fleet;
    return servers.byKey.has(serverKey) ? logs.of(serverKey) : undefined;
  }

  /** Lets a server run again and forgets what was held against it; resolves when it runs, or has turned out not to. */
  async enable(serverKey: string): Promise<void> {
    const supervisor = await this.#supervisorOf(serverKey);
    await supervisor.enable(serverKey);
    await this.#keep(serverKey);
  }

  /** Ends a server, until it is enabled; also over restarts of the gateway. */
  async disable(serverKey: string): Promise<void> {
    const supervisor = await this.#supervisorOf(serverKey);
    await supervisor.disable(serverKey);
    await this.#keep(serverKey);
  }

  /** Ends a server and starts it anew. */
  async restart(serverKey: string): Promise<void> {
    const supervisor = await this.#supervisorOf(serverKey);
    await supervisor.restart(serverKey);
  }

  /**
   * Goes over to another config, of which `unexpanded` holds the entries before variables were replaced. Starts new and
   * changed servers, drains removed ones (within 5 s), and leaves the rest alone. A server that does not start is tried
   * again like one that was lost. Resolves when all that is new runs, or has turned out not to.
   */
  async reload(config: McpConfig, unexpanded: GatewayOptions['unexpanded'] = {}): Promise<ConfigChanges> {
    const checked = checkConfig(config, this.#options.configPath);
    const applied = this.#reloading.then(() => this.#reload(checked, unexpanded));
    this.#reloading = applied.catch(() => {});
    const { changes, settled } = await applied;
    await settled;
    return changes;
  }

  /** Refuses calls from now on and calls off those under way; their clients are told. */
  stopCalls(): void {
    const { fleet, limits, suspendedCalls, restartWaiters } = this.#parts;
    limits.stop();
    this.#parts.publish();
    restartWaiters.close();
    const calls = fleet.connected().flatMap((child) => {
      const underWay = callsOf(child);
      // With a call ends the way on which its client is asked: what it is asked is withdrawn first.
      return underWay.length === 0 ? [] : [...questionsOf(child), ...underWay];
    });
    for (const call of new Set([...calls, ...suspendedCalls.inRounds])) limits.revoke(call);
  }

  /** Calls are made again. */
  resumeCalls(): void {
    this.#parts.limits.resume();
    this.#parts.publish();
  }

  /** `stopCalls` holds. */
  get isStopped(): boolean {
    return this.#parts.limits.refusal !== undefined;
  }

  /**
   * Returns true where a call would be made at once: its server runs, and no limit refuses the call or lets it wait.
   * `source` names the session of a program, as in `callTool`; without a server or a session only the rest is asked.
   */
  canExecute(serverKey?: string, source?: InvocationSource): boolean {
    if (serverKey !== undefined && !this.directory.registry.upstreams.has(serverKey)) return false;
    const program = source === undefined ? undefined : this.#programs.get(source);
    return this.#parts.limits.canExecute(serverKey, program);
  }

  /** Sends what a client tells unasked to all servers that understand it, but to none that has yet to read much. */
  tellServers(client: Client, line: () => Line): void {
    for (const upstream of this.#parts.audienceOf(client))
      if (upstream.era === client.era && !upstream.peer.isSlow) upstream.peer.send(line());
  }

  /** A client has stopped (or begun again) to read: the servers wait for it. */
  holdServers(hold: boolean): void {
    this.#parts.wishes.hold(hold);
  }

  /** Sets the most verbose level that any client asked for on all servers. */
  logLevelChanged(): void {
    this.#parts.wishes.logLevelChanged();
  }

  async #callTool(
    group: string | undefined,
    { tool, args = {}, source = 'program' }: ProgramCall,
  ): Promise<unknown> {
    await this.start();
    const program = this.#programs.get(source) ?? new InProcessClient(source, this.clientInfo);
    this.#programs.set(source, program);
    return program.callTool(this.view(group).directory, tool, args);
  }

  async #listTools(group: string | undefined): Promise<ToolSchema[]> {
    await this.start();
    return Array.from(this.view(group).registry.tools.values(), (route) => route.schema);
  }

  async #start(): Promise<void> {
    const { separator = DEFAULT_SEPARATOR, noPrefix = false, keepGoing = false } = this.#options;
    const { clients, fleet, publication } = this.#parts;
    this.log.debug?.(noPrefix ? 'names have no prefix' : `the separator is ${JSON.stringify(separator)}`);
    if (this.serverCount === 0) this.log.warn(Texts.noServers());
    try {
      if (this.chain.refusal !== undefined) throw this.chain.refusal;
      await fleet.prepare();
      // A program without a client cannot answer a server's questions, so it declares no capabilities.
      if (clients.clients.size === 0) this.open('{}');
      // Clients get one notification for all differences from the cached catalogues.
      if (this.isSettled) publication.hold(within(ONE_NOTICE_MS, this.#tried.promise));
      await fleet.start(() => this.#tried.resolve());
      if (this.#closing !== undefined) throw new Error(Texts.gatewayEnds());
      const crashed = keepGoing ? undefined : fleet.servers.firstError();
      if (crashed !== undefined) throw crashed;
      this.#settle();
    } catch (error) {
      this.#settled.reject(error as Error);
      await this.close();
      throw error;
    }
  }

  /** The first list can be answered. Throws where names collide that must not. */
  #settle(): void {
    if (this.isSettled) return;
    this.#parts.publication.open();
    this.#settled.resolve();
  }

  async #reload(
    config: McpConfig,
    unexpanded: NonNullable<GatewayOptions['unexpanded']>,
  ): Promise<AppliedConfig> {
    await this.#decided();
    const { fleet, limits, publication, restartWaiters, tasks } = this.#parts;
    this.#config = config;
    limits.use(config);
    this.accounts.use(config.limits);
    this.#parts.publish();
    const groups = this.#parts.setGroups(config);
    const isFilterChanged = publication.builder.filter(config.mcpServers);
    const applied = fleet.apply(config, unexpanded);
    publication.builder.setServers(Object.keys(config.mcpServers));
    tasks.setServers(fleet.servers.byKey.keys());
    restartWaiters.setServers(fleet.servers.byKey);
    publication.hold(within(ONE_NOTICE_MS, applied.settled));
    this.log.info(describeChanges(applied.changes, groups));
    this.#parts.events.publish({ type: 'config-reloaded', at: Date.now(), changes: applied.changes });
    if (this.serverCount === 0) this.log.warn(Texts.noServers());
    // Names that have become free may be wanted by others.
    if (!isNoChange(applied.changes)) publication.rebuild(isFilterChanged ? ['tools'] : []);
    return applied;
  }

  async #close(killAfterMs: number | undefined): Promise<void> {
    const { fleet, suspendedCalls, publication, restartWaiters } = this.#parts;
    publication.close();
    restartWaiters.close();
    suspendedCalls.close();
    this.open('{}');
    // Requests that wait for a start get this answer; where it is over, it has been settled before.
    this.#settled.reject(new Error(Texts.gatewayEnds()));
    await fleet.stop(killAfterMs);
    await this.history.close();
  }

  /** Looks after it, unless the file or the group leaves it out. */
  async #supervisorOf(serverKey: string): Promise<Supervisor> {
    if (this.isOutside(serverKey)) throw new Error(Texts.outsideGroup(serverKey, this.#options.group));
    const entry = this.config.mcpServers[serverKey];
    if (entry !== undefined && isSwitchedOff(entry)) throw new Error(Texts.offInFile(serverKey));
    await this.#decided();
    return this.#parts.fleet.supervisor;
  }

  /** Throws where the state was not saved, because the caller expects it to survive a restart. */
  async #keep(serverKey: string): Promise<void> {
    const reason = await this.#parts.fleet.memory.persistError(serverKey);
    if (reason !== undefined) throw new Error(Texts.notKept(serverKey, reason));
  }

  /** A start that is under way decides first which servers there are. */
  async #decided(): Promise<void> {
    await this.#starting?.catch(() => {});
    if (this.#closing !== undefined) throw new Error(Texts.gatewayEnds());
  }
}

function noSuchGroup(group: string, known: readonly string[]): string {
  const nearest = didYouMean(group, known);
  const hint =
    nearest === undefined ? `"groups" in the config has ${someOf(known)}` : `did you mean '${nearest}'?`;
  return `There is no group '${quoted(group)}'; ${hint}`;
}
