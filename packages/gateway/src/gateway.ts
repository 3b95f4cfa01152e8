import { availableParallelism } from 'node:os';
import type { Caller } from './call/caller.ts';
import { resolveTool, type Directory } from './call/resolve.ts';
import { childEnvironment } from './config/child-environment.ts';
import type { McpConfig, ServerConfig } from './config/config.generated.ts';
import { ConfigError, ConfigErrorCode, Messages, RpcError, RpcErrorCode, type ChildServerError } from './errors.ts';
import { silentLog, type Log } from './log.ts';
import { refusedNames } from './registry/hosts.ts';
import { DEFAULT_SEPARATOR, validateSeparator } from './registry/names.ts';
import type { Collision } from './registry/name-book.ts';
import { RegistryBuilder, type Registry } from './registry/registry.ts';
import type { ToolRegistry, ToolSchema } from './registry/tool-registry.ts';
import { noVerdicts, verdictsIn } from './state/verdicts.ts';
import { ALL_KINDS, KINDS, type Kind } from './upstream/catalogue.ts';
import { ChildServer, ServerStatus, type ChildServerClient } from './upstream/child-server.ts';
import { startGuard, type Guard } from './upstream/guard.ts';
import { createSlots } from './upstream/slots.ts';
import { startAll } from './upstream/start-all.ts';
import { stopServers } from './upstream/stop-servers.ts';
import { errorLine } from './wire/answer.ts';
import type { Message } from './wire/message.ts';

/** What the product calls itself towards the servers behind it. */
const CLIENT_NAME = 'mcp-aggregator-client';

/** Latecomers are waited for this long after the last server became ready. */
const LATECOMERS_MS = 1000;

/** So many names that two servers want are named; two servers of a kind may share dozens. */
const MOST_COLLISIONS = 5;

/** Several changes in a row are one notice. */
const NOTICE_DELAY_MS = 50;

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
  /** The environment that servers inherit their short safe list from. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly log?: Log;
}

export const DEFAULT_MAX_MESSAGE_SIZE: number = 64 * 1024 * 1024;

/** The kinds of lists that a client can be told about. */
export type ListName = (typeof KINDS)[Kind]['capability'];

/** A client of the gateway, as the servers' news reach it. */
export interface Client extends Caller {
  listsChanged(lists: ReadonlySet<ListName>): void;
  /** A notification of a server's that belongs to no request. */
  notified(child: ChildServer, message: Message): void;
  /** A request of a server's. */
  asked(child: ChildServer, message: Message): void;
}

/** The side that clients are on. */
export interface Front {
  readonly clients: ReadonlySet<Client>;
  attach(client: Client): void;
  detach(client: Client): void;
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
  readonly config: McpConfig;
  readonly maxMessageSize: number;
  readonly children: ReadonlyMap<string, ChildServer>;
  readonly server: Front;
  readonly log: Log;
  readonly #options: GatewayOptions;
  readonly #builder: RegistryBuilder;
  readonly #clients = new Set<Client>();
  readonly #opening = new Deferred<string>();
  readonly #settled = new Deferred<void>();
  #directory: Directory;
  readonly #collisions = new Map<string, Collision>();
  #guard: Guard | undefined;
  #starting: Promise<void> | undefined;
  #closing: Promise<void> | undefined;
  #logLevel: string | undefined;
  #news = new Set<ListName>();
  #newsTimer: NodeJS.Timeout | undefined;

  constructor(config: McpConfig, options: GatewayOptions) {
    const { separator = DEFAULT_SEPARATOR, noPrefix = false, log = silentLog } = options;
    validateSeparator(separator);
    this.config = config;
    this.#options = options;
    this.log = log;
    this.maxMessageSize = options.maxMessageSize ?? DEFAULT_MAX_MESSAGE_SIZE;
    const order = Object.keys(config.mcpServers);
    this.#builder = new RegistryBuilder({ separator, noPrefix, order }, (kind, found) => this.#collided(kind, found));
    this.#directory = this.#directoryOf(this.#builder.build([]));
    this.children = this.#createChildren();
    this.server = {
      clients: this.#clients,
      attach: (client) => void this.#clients.add(client),
      detach: (client) => void this.#clients.delete(client),
    };
    // Whoever waits for the start hears of its failure; nobody has to.
    this.#settled.promise.catch(() => {});
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
  async callTool(name: string, args: Record<string, unknown> = {}): Promise<unknown> {
    await this.start();
    const target = resolveTool(this.directory, name);
    if (target instanceof RpcError) throw target;
    return target.client.callTool({ name: JSON.parse(Buffer.from(target.originalText, 'latin1').toString()) as string, arguments: args });
  }

  async listTools(): Promise<ToolSchema[]> {
    await this.start();
    return Array.from(this.#directory.registry.tools.values(), (route) => route.schema);
  }

  /** A client has stopped (or begun again) to read: the servers wait for it. */
  holdServers(hold: boolean): void {
    for (const { peer } of this.#directory.registry.upstreams.values()) {
      if (hold) peer.pause();
      else peer.resume();
    }
  }

  /** The level as JSON; servers of the modern era learn it with each request instead. */
  setLogLevel(level: string): void {
    this.#logLevel = level;
    for (const child of this.children.values()) this.#tellLogLevel(child);
  }

  #createChildren(): Map<string, ChildServer> {
    const { env = {}, state, startupTimeout, version = '0.0.0' } = this.#options;
    const context = {
      guard: () => this.#guardian(),
      slots: createSlots(2 * availableParallelism()),
      verdicts: state === undefined ? noVerdicts : verdictsIn(state),
      clientInfo: { name: CLIENT_NAME, version },
      capabilities: this.#opening.promise,
      startupTimeout,
      maxMessageSize: this.maxMessageSize,
      environmentOf: (config: ServerConfig) => childEnvironment(config, env, process.platform),
      log: this.log,
      on: {
        changed: (_child: ChildServer, kinds: readonly Kind[]) => this.#rebuild(kinds),
        request: (child: ChildServer, message: Message) => this.#asked(child, message),
        notification: (child: ChildServer, message: Message) => {
          for (const client of this.#clients) client.notified(child, message);
        },
        crashed: (child: ChildServer) => this.#crashed(child),
      },
    };
    const local = Object.entries(this.config.mcpServers).filter(([key, server]) => this.#isLocal(key, server));
    return new Map(local.map(([key, server]) => [key, new ChildServer(key, server, context)]));
  }

  #isLocal(key: string, { command, enabled, disabled }: ServerConfig): boolean {
    if (enabled === false || disabled === true) return false;
    if (command === undefined) this.log.warn(Messages.notLocalYet(key));
    return command !== undefined;
  }

  async #start(): Promise<void> {
    const { separator = DEFAULT_SEPARATOR, noPrefix = false } = this.#options;
    this.log.debug?.(noPrefix ? 'names have no prefix' : `the separator is ${JSON.stringify(separator)}`);
    try {
      await startAll(this.children.values(), {
        keepGoing: this.#options.keepGoing ?? false,
        latecomersMs: LATECOMERS_MS,
        ready: (child) => this.#ready(child),
        failed: (_child, error) => this.#failed(error as ChildServerError),
      });
      this.#publish(this.#builder.build(this.#running()));
      if (this.#collisions.size > 0 && !this.#options.keepGoing) throw this.#collisionError();
      this.#settled.resolve();
      this.#warnOfNames();
    } catch (error) {
      this.#settled.reject(error as Error);
      await this.close();
      throw error;
    }
  }

  #warnOfNames(): void {
    const warning = refusedNames(this.#directory.registry.tools.values(), this.#builder.books.tools.rules);
    if (warning !== undefined) this.log.warn(warning);
  }

  async #close(): Promise<void> {
    clearTimeout(this.#newsTimer);
    this.#opening.resolve('{}');
    const processes = Array.from(this.children.values(), (child) => child.retire()).filter((process) => process !== undefined);
    if (this.#guard !== undefined) await stopServers(processes, this.#guard);
  }

  #guardian(): Guard {
    this.#guard ??= startGuard({
      path: this.#options.env?.['PATH'],
      onLost: (reason) => this.log.warn(`The guard that cleans up after a crash is gone: ${reason}`),
    });
    return this.#guard;
  }

  #running(): ChildServer[] {
    return [...this.children.values()].filter(({ status }) => status === ServerStatus.RUNNING);
  }

  #ready(child: ChildServer): void {
    this.#tellLogLevel(child);
    if (this.isSettled) this.#rebuild(ALL_KINDS.filter((kind) => child.catalogue[kind].items.length > 0));
  }

  #failed(error: ChildServerError): void {
    if (this.#options.keepGoing) this.log.error(error.message);
  }

  #crashed(child: ChildServer): void {
    this.log.error(child.error?.message ?? Messages.serverCrashed(child.serverKey));
    if (!this.isSettled) return;
    this.#publish(this.#builder.without(this.#directory.registry, child.serverKey));
    this.#announce(ALL_KINDS.filter((kind) => child.catalogue[kind].items.length > 0));
  }

  #rebuild(kinds: readonly Kind[]): void {
    if (!this.isSettled) return;
    this.#publish(this.#builder.build(this.#running()));
    this.#announce(kinds);
  }

  #publish(registry: Registry): void {
    this.#directory = this.#directoryOf(registry);
  }

  #directoryOf(registry: Registry): Directory {
    return { registry, builder: this.#builder, trace: this.log.debug };
  }

  #announce(kinds: readonly Kind[]): void {
    for (const kind of kinds) this.#news.add(KINDS[kind].capability);
    this.#newsTimer ??= setTimeout(() => {
      const news = this.#news;
      this.#news = new Set();
      this.#newsTimer = undefined;
      for (const client of this.#clients) client.listsChanged(news);
    }, NOTICE_DELAY_MS);
  }

  /** A question needs exactly one client to go to. */
  #asked(child: ChildServer, message: Message): void {
    const [client, ...others] = this.#clients;
    if (client !== undefined && others.length === 0) return client.asked(child, message);
    child.peer.send(errorLine(message.id, new RpcError(RpcErrorCode.UNAVAILABLE, Messages.nobodyToAsk(message.method))));
  }

  #tellLogLevel(child: ChildServer): void {
    const isToldByRequest = child.era === 'modern' || child.capabilities['logging'] === undefined;
    if (this.#logLevel === undefined || child.status !== ServerStatus.RUNNING || isToldByRequest) return;
    child.peer.request('logging/setLevel', `{"level":${this.#logLevel}}`).catch(() => {});
  }

  /** Told of every collision at every build; each is news once. */
  #collided(kind: Kind, collision: Collision): void {
    const id = JSON.stringify([kind, collision.publicName, collision.heldBack]);
    if (this.#collisions.has(id)) return;
    this.#collisions.set(id, collision);
    if (!this.isSettled && !this.#options.keepGoing) return;
    this.log.warn(`${Messages.namesCollide(collision)}. ${Messages.heldBack(collision)}.`);
  }

  #collisionError(): ConfigError {
    const collisions = [...this.#collisions.values()];
    const named = collisions.slice(0, MOST_COLLISIONS).map((collision) => Messages.namesCollide(collision));
    const more = collisions.length > MOST_COLLISIONS ? [`… and ${collisions.length - MOST_COLLISIONS} more`] : [];
    const text = [...named, ...more, Messages.collisionRemedy(this.#options.noPrefix ?? false)].join('\n');
    return new ConfigError(text, ConfigErrorCode.INVALID_SCHEMA, { collisions });
  }
}

/** A promise that is settled from outside, once. */
class Deferred<T> {
  readonly promise: Promise<T>;
  isResolved = false;
  #resolve: (value: T) => void = () => {};
  #reject: (error: Error) => void = () => {};

  constructor() {
    this.promise = new Promise<T>((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
  }

  resolve(value: T): void {
    this.isResolved = true;
    this.#resolve(value);
  }

  reject(error: Error): void {
    this.#reject(error);
  }
}
