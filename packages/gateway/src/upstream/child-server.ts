import { now } from '../clock.ts';
import type { ServerConfig } from '../config/config.generated.ts';
import { ServerKind, serverKind } from '../config/server-entry.ts';
import { ChildServerError, ErrorPhase, Messages, RpcErrorCode, type RpcError } from '../errors.ts';
import { prefixed, type Log } from '../log.ts';
import type { Verdicts } from '../state/verdicts.ts';
import { requestLine } from '../wire/answer.ts';
import { envelopeMembers, type Era, type Implementation } from '../wire/era.ts';
import type { Message } from '../wire/message.ts';
import type { Peer } from '../wire/peer.ts';
import { encode } from '../wire/splice.ts';
import { ALL_KINDS, definitionOf, joinCatalogues, type Kind, type Listing } from './catalogue.ts';
import type { Connection, ConnectionOptions } from './connection.ts';
import type { Containers } from './container/containers.ts';
import { Deadline } from './deadline.ts';
import type { Guard } from './guard.ts';
import { readError, readResult, shakeHands, type Greeting } from './handshake.ts';
import type { Sharing } from './instances.ts';
import { isLauncher } from './launcher.ts';
import { LiveCatalogue } from './live-catalogue.ts';
import { ProcessConnection } from './process-connection.ts';
import { spawnServer } from './process.ts';
import type { ServerLogs } from './server-logs.ts';
import { ServerStatus, type ChildServerClient } from './server-status.ts';
import { startInTurn, type Slots } from './slots.ts';
import { reasonOf } from './unavailable.ts';
import type { Upstream } from './upstream.ts';
import { Watching } from './watching.ts';
import { within } from './within.ts';

/** What all children of a gateway share. */
export interface ChildContext {
  readonly guard: () => Guard;
  /** What servers in containers share; loaded with the first of them. */
  readonly containers: () => Promise<Containers>;
  readonly slots: Slots;
  readonly verdicts: Verdicts;
  readonly clientInfo: Implementation;
  /** What the client can do, as JSON; known once it has opened the conversation. */
  readonly capabilities: Promise<string>;
  readonly startupTimeout: number | undefined;
  readonly maxMessageSize: number;
  readonly environmentOf: (config: ServerConfig) => Record<string, string>;
  readonly log: Log;
  /** The last words of and about each server. */
  readonly logs: ServerLogs;
  readonly on: ChildEvents;
  /** How the server is greeted, where that is not to be found out. */
  readonly era?: Era | undefined;
  readonly isEraFixed?: boolean | undefined;
  /** Whether its one client is served better in the way of the earlier revisions, where the server knows both. */
  readonly prefersLegacy?: (() => boolean) | undefined;
  /** The working directory is the client's, not that of the config. */
  readonly isClientFolder?: boolean | undefined;
}

export interface ChildEvents {
  changed(child: ChildServer, kinds: readonly Kind[]): void;
  request(child: ChildServer, message: Message, related?: number): void;
  notification(child: ChildServer, message: Message, related?: number): void;
  /** It ran, and runs no more. */
  crashed(child: ChildServer): void;
  /** A client wants to hear from it. */
  isFollowed?(child: ChildServer): boolean;
}

/** How long a start and an unanswered probe may take, in milliseconds. */
const PATIENCE = { startup: 5000, probe: 2000 };
/** For programs that may have to download the server first. */
const LAUNCHER_PATIENCE = { startup: 60_000, probe: 30_000 };
/** For servers elsewhere, some of which are woken up by the first request. */
const REMOTE_PATIENCE = { startup: 30_000, probe: 10_000 };

const EMPTY: Listing = { items: [], ttlMs: 0, cacheScope: 'private' };
const NO_LISTS: Readonly<Record<Kind, Listing>> = {
  tools: EMPTY,
  prompts: EMPTY,
  resources: EMPTY,
  templates: EMPTY,
};

/** A server: a child process, a container, or one at an address. */
export class ChildServer implements Upstream, ChildServerClient {
  readonly serverKey: string;
  readonly config: ServerConfig;
  readonly isRemote: boolean;
  readonly #context: ChildContext;
  readonly #log: Log;
  #status: ServerStatus = ServerStatus.INITIALIZING;
  #error: ChildServerError | undefined;
  #connection: Connection | undefined;
  /** A container, from the moment on when it may have to be stopped. */
  #arriving: Pick<Connection, 'stop'> | undefined;
  #greeting: Greeting | undefined;
  #catalogue: LiveCatalogue | undefined;
  #watching: Watching | undefined;
  #twin: ChildServer | undefined;
  #diesOfOldWay = false;
  #isHeld = false;

  constructor(serverKey: string, config: ServerConfig, context: ChildContext) {
    this.serverKey = serverKey;
    this.config = config;
    this.isRemote = serverKind(config) === ServerKind.REMOTE;
    this.#context = context;
    this.#log = context.logs.keeping(serverKey, prefixed(context.log, serverKey));
  }

  get client(): Upstream {
    return this;
  }

  get status(): ServerStatus {
    return this.#status;
  }

  get error(): ChildServerError | undefined {
    return this.#error;
  }

  get peer(): Peer {
    if (this.#connection === undefined)
      throw this.#failure(ErrorPhase.STARTUP, Messages.notStarted(this.serverKey));
    return this.#connection.peer;
  }

  /** It can be spoken to. */
  get isConnected(): boolean {
    return this.#connection !== undefined;
  }

  get sharing(): Sharing {
    return this.config.sharing ?? 'shared';
  }

  get cwdFromRoots(): boolean {
    return this.sharing !== 'shared' && this.config.cwdFromRoots === true;
  }

  get era(): Era {
    return this.#greeting?.era ?? 'legacy';
  }

  get isModernOnly(): boolean {
    return this.#diesOfOldWay || this.#greeting?.isModernOnly === true;
  }

  /** The server keeps a session, in which it can ask and tell. */
  get keepsSession(): boolean {
    return this.#connection?.keepsSession ?? false;
  }

  get capabilities(): Readonly<Record<string, unknown>> {
    return this.#greeting?.capabilities ?? {};
  }

  get instructions(): string | undefined {
    return this.#greeting?.instructions;
  }

  /** What it lists, in whichever conversation. */
  get catalogue(): Readonly<Record<Kind, Listing>> {
    const twin = this.isRemote ? undefined : this.#twin;
    return twin === undefined ? this.ownCatalogue : joinCatalogues(this.ownCatalogue, twin.ownCatalogue);
  }

  /** What it lists in this one. */
  get ownCatalogue(): Readonly<Record<Kind, Listing>> {
    return this.#catalogue?.listings ?? NO_LISTS;
  }

  /** Resolves when the server has answered its handshake and its first list; rejects with a `ChildServerError`. */
  async start(): Promise<void> {
    const { command, args } = this.#identity();
    const { verdicts } = this.#context;
    const began = now();
    try {
      // HTTP+SSE is older than the probe.
      const isOldest = this.config.sseConfig !== undefined && this.config.url === undefined;
      const verdict = this.#context.era ?? (isOldest ? 'legacy' : verdicts.recall(command, args));
      const { certain, isModern } = await this.#connect(verdict);
      if (certain && this.#context.era === undefined)
        verdicts.remember(command, args, isModern ? 'modern' : 'legacy');
      this.#log.debug?.(`ready after ${Math.round(now() - began)} ms: ${this.#describe()}`);
    } catch (error) {
      throw this.#giveUp(error as Error);
    }
  }

  /** Answers nobody any more; what remains is to be stopped, if there is anything. */
  retire(what = 'has been stopped'): Pick<Connection, 'stop'> | undefined {
    if (this.#status !== ServerStatus.FAILED) this.#status = ServerStatus.STOPPED;
    this.#connection?.fail(what);
    return this.#arriving ?? this.#connection;
  }

  /** A second conversation with it, until that ends: what is asked and told there is its business too. */
  accompany(twin: ChildServer | undefined): void {
    this.#twin = twin;
    // Another process has to be told by itself what clients watch; another conversation with the same one has not.
    if (!this.isRemote) for (const uri of this.#watching?.watched ?? []) twin?.watch(uri);
  }

  /** How many answers clients wait for. */
  get inFlight(): number {
    return (this.#connection?.peer.inFlight ?? 0) + (this.#twin?.inFlight ?? 0);
  }

  /** How much clients have asked of it since it was started. */
  get asked(): number {
    return (this.#connection?.peer.asked ?? 0) + (this.#twin?.asked ?? 0);
  }

  /** Somebody waits for it, or wants to hear from it. */
  get isInUse(): boolean {
    if (this.inFlight > 0 || this.#watching?.isAsked === true) return true;
    return this.#context.on.isFollowed?.(this) === true;
  }

  get heard(): number {
    return this.#connection?.heard ?? 0;
  }

  get isExcused(): boolean {
    return this.#isHeld || this.peer.inFlight > 0;
  }

  ask(answered: () => void, failed: (reason: string) => void): () => void {
    const { peer } = this;
    const id = peer.expect({
      isOwn: true,
      answered,
      progressed() {},
      lost: (error) => failed(reasonOf(error)),
    });
    void this.#meta().then((meta) =>
      peer.send(
        meta === ''
          ? requestLine(id, 'ping', '{}')
          : requestLine(id, 'server/discover', `{"_meta":{${meta}}}`),
      ),
    );
    return () => {
      peer.forget(id);
      peer.notify('notifications/cancelled', { requestId: id });
    };
  }

  /** It runs, but does not answer any more: that is no better than a crash. */
  giveUpOn(how: string): void {
    const connection = this.#connection;
    if (connection === undefined || this.#status !== ServerStatus.RUNNING) return;
    connection.fail(how);
    this.#crashed(connection, how, Messages.serverLost(this.serverKey));
  }

  async callTool(params: { name: string; arguments?: Record<string, unknown> }): Promise<unknown> {
    const meta = await this.#meta();
    const envelope = meta === '' ? '' : `,"_meta":{${meta}}`;
    const answer = await this.peer.request('tools/call', `${encode(params).slice(0, -1)}${envelope}}`, false);
    if (answer.isError) throw readError(answer);
    return readResult(answer);
  }

  async listTools(): Promise<{ tools: unknown[] }> {
    return {
      tools: this.catalogue.tools.items.map(
        (tool) => JSON.parse(definitionOf(tool).toString('utf8')) as unknown,
      ),
    };
  }

  hold(hold: boolean): void {
    this.#isHeld = hold;
    this.#connection?.hold(hold);
  }

  watch(uri: string): void {
    this.#watching?.watch(uri);
    if (!this.isRemote) this.#twin?.watch(uri);
  }

  unwatch(uri: string): void {
    this.#watching?.unwatch(uri);
    if (!this.isRemote) this.#twin?.unwatch(uri);
  }

  /** Starts a process and greets it; one that dies of the greeting is started once more, the other way. */
  async #connect(verdict: Era | undefined): Promise<Greeting> {
    const connection = await this.#launch();
    // Nothing was asked yet that it could have died of.
    const capabilities = await connection.outlive(this.#context.capabilities);
    const deadline = this.#setDeadline(connection);
    try {
      return await this.#greet(connection, { verdict, capabilities, deadline });
    } catch (error) {
      const hasDied = connection.peer.gone !== undefined && !deadline.isOver && !this.#isStopped();
      if (!hasDied || verdict === 'legacy') throw error;
      if (connection.heard === 0) {
        this.#log.debug?.('ended when asked which protocol it speaks; starting it the old way');
        return await this.#connect('legacy');
      }
      // Only the probe was answered: it was the old greeting that it has died of.
      if (connection.heard > 1 || !this.#goesBack(connection)) throw error;
      this.#diesOfOldWay = true;
      return await this.#connect(verdict);
    } finally {
      deadline.cancel();
    }
  }

  async #launch(): Promise<Connection> {
    const connection = await this.#open();
    this.#connection = connection;
    if (this.#isStopped()) throw new Error('was stopped while it started');
    void connection.lost.then((how) => this.#crashed(connection, how));
    return connection;
  }

  #open(): Promise<Connection> {
    const kind = serverKind(this.config);
    if (kind === ServerKind.COMMAND) return this.#spawn();
    return kind === ServerKind.REMOTE ? this.#reach() : this.#contain();
  }

  async #spawn(): Promise<Connection> {
    const { guard, slots, environmentOf, isClientFolder } = this.#context;
    const env = environmentOf(this.config);
    const spec = { ...this.#command(), env, cwd: this.config.cwd, isClientFolder };
    const process = await startInTurn(slots, () => {
      if (this.#isStopped()) throw new Error('was stopped before its turn came');
      return spawnServer(spec, { guard: guard(), onStderrLine: (line) => this.#log.info(line) });
    });
    this.#log.debug?.(`started as process ${process.pid}`);
    return new ProcessConnection(process, this.#conversation());
  }

  /** What it needs is loaded here: most gateways have no server elsewhere. */
  async #reach(): Promise<Connection> {
    const { reachServer } = await import('./remote/remote-connection.ts');
    const { config } = this;
    return reachServer({ ...this.#conversation(), config, clientInfo: this.#context.clientInfo });
  }

  async #contain(): Promise<Connection> {
    const { clientInfo, environmentOf, guard, slots } = this.#context;
    const [{ startContainer }, containers] = await Promise.all([
      import('./container/start-container.ts'),
      this.#context.containers(),
    ]);
    if (this.#isStopped()) throw new Error('was stopped before it was started');
    const { config } = this;
    const patienceMs = this.#startupTime();
    const own = { config, clientInfo, containers, environmentOf, guard, patienceMs, slots };
    const container = startContainer({ ...this.#conversation(), ...own });
    this.#arriving = container;
    return container.connection;
  }

  #conversation(): ConnectionOptions {
    const { maxMessageSize, on } = this.#context;
    return {
      serverKey: this.serverKey,
      maxMessageSize,
      log: this.#log,
      request: (message, related) => on.request(this, message, related),
      notification: (message, related) => this.#notified(message, related),
      renewed: () => this.#catalogue?.refreshAll(),
      outdated: async () => this.#catalogue?.readAgain('tools'),
    };
  }

  async #greet(connection: Connection, { verdict, capabilities, deadline }: Opening): Promise<Greeting> {
    const { peer } = connection;
    const envelope = { clientInfo: this.#context.clientInfo, capabilities };
    // However short the time is, half of it is left for those that do not answer a probe.
    const patience = Math.min(this.#patience().probe, deadline.remaining() / 2);
    const isFixed = this.#context.isEraFixed ?? false;
    const prefersLegacy = this.#goesBack(connection);
    const greeting = await shakeHands(peer, { envelope, verdict, isFixed, patience, prefersLegacy });
    this.#greeting = greeting;
    // Before the lists are read: a change right after would go unheard.
    this.#watching = new Watching(peer, {
      era: greeting.era,
      meta: await this.#meta(),
      capabilities: greeting.capabilities,
      missed: () => this.#catalogue?.refreshAll(),
    });
    await this.#readLists(connection, deadline);
    if (this.#status === ServerStatus.INITIALIZING) this.#status = ServerStatus.RUNNING;
    return greeting;
  }

  /** Over HTTP another conversation is had for nothing; in a pipe there is only one. */
  #goesBack({ keepsSession }: Connection): boolean {
    return keepsSession && !this.#diesOfOldWay && this.#context.prefersLegacy?.() === true;
  }

  /** The first list of tools decides; the other lists may come late or not at all. */
  async #readLists({ peer, screen }: Connection, deadline: Deadline): Promise<void> {
    const catalogue = new LiveCatalogue({
      capabilities: this.capabilities,
      meta: await this.#meta(),
      request: (method, params) => peer.request(method, params),
      screen: this.era === 'modern' ? screen : undefined,
      warn: (text) => this.#log.warn(text),
      changed: (kind) => this.#changed(kind),
    });
    this.#catalogue = catalogue;
    const others = ALL_KINDS.filter((kind) => kind !== 'tools').map((kind) =>
      this.#loadQuietly(catalogue, kind),
    );
    await catalogue.load('tools');
    await within(deadline.remaining(), Promise.all(others));
  }

  async #loadQuietly(catalogue: LiveCatalogue, kind: Kind): Promise<void> {
    try {
      await catalogue.load(kind);
      this.#changed(kind);
    } catch (error) {
      // A server may have resources without templates; no capability tells.
      const isMissing = kind === 'templates' && (error as RpcError).code === RpcErrorCode.METHOD_NOT_FOUND;
      if (!isMissing) this.#log.warn(`could not list its ${kind}: ${(error as Error).message}`);
    }
  }

  #notified(message: Message, related?: number): void {
    if (message.method.endsWith('/list_changed')) return this.#catalogue?.refresh(message.method);
    if (message.method === 'notifications/subscriptions/acknowledged') this.#watching?.acknowledged();
    this.#context.on.notification(this, message, related);
  }

  /** Before the server runs its lists are nobody's news. */
  #changed(kind: Kind): void {
    if (this.#status === ServerStatus.RUNNING) this.#context.on.changed(this, [kind]);
  }

  #crashed(connection: Connection, how: string, what = Messages.serverCrashed(this.serverKey)): void {
    if (this.#connection !== connection || this.#status !== ServerStatus.RUNNING) return;
    this.#status = ServerStatus.FAILED;
    this.#error = this.#failure(ErrorPhase.RUNTIME, `${what}: it ${how}`);
    this.#context.on.crashed(this);
  }

  #giveUp(error: Error): ChildServerError {
    const connection = this.#connection;
    const failure =
      connection === undefined
        ? this.#failure(ErrorPhase.STARTUP, Messages.spawnFailed(this.serverKey, error.message), error)
        : this.#failure(
            ErrorPhase.INITIALIZATION,
            [Messages.startFailed(this.serverKey, reasonOf(error)), ...connection.lastWords()].join('\n'),
            error,
          );
    if (!this.#isStopped()) this.#status = ServerStatus.FAILED;
    this.#error = failure;
    // Whoever waits for the verdict need not wait for a process that is slow to end.
    void connection?.stop();
    return failure;
  }

  #isStopped(): boolean {
    return this.#status === ServerStatus.STOPPED;
  }

  /** From now on the server's time runs; when it is over, nobody waits for it any more. */
  #setDeadline(connection: Connection): Deadline {
    const milliseconds = this.#startupTime();
    return new Deadline(milliseconds, () => {
      const what = this.#greeting === undefined ? 'the handshake' : 'tools/list';
      const remedy = 'if it needs longer, set "startupTimeout" (in milliseconds) in its entry';
      connection.fail(`did not answer ${what} within ${milliseconds / 1000} s; ${remedy}`);
    });
  }

  #startupTime(): number {
    return this.config.startupTimeout ?? this.#context.startupTimeout ?? this.#patience().startup;
  }

  #patience(): typeof PATIENCE {
    if (this.config.command === undefined) return REMOTE_PATIENCE;
    const { command, args } = this.#command();
    return isLauncher(command, args) ? LAUNCHER_PATIENCE : PATIENCE;
  }

  #describe(): string {
    const listed = ALL_KINDS.filter((kind) => this.catalogue[kind].items.length > 0);
    const counts = listed.map((kind) => {
      const { length } = this.catalogue[kind].items;
      return `${length} ${length === 1 ? kind.slice(0, -1) : kind}`;
    });
    return `speaks ${this.#greeting?.version ?? ''}, lists ${counts.join(', ') || 'nothing'}`;
  }

  #failure(phase: ErrorPhase, text: string, cause?: Error): ChildServerError {
    return new ChildServerError(text, this.serverKey, phase, cause);
  }

  /** What a modern server wants to hear with every request; nothing for the others. */
  async #meta(): Promise<string> {
    if (this.era === 'legacy') return '';
    return envelopeMembers({
      clientInfo: this.#context.clientInfo,
      capabilities: await this.#context.capabilities,
    });
  }

  #command(): Command {
    return { command: this.config.command ?? '', args: this.config.args ?? [] };
  }

  /** What the server's era is remembered under: what is started, or where it is. */
  #identity(): Command {
    const { command, url, sseConfig, image, args = [], dockerConfig } = this.config;
    const inside = dockerConfig?.image ?? image;
    if (inside !== undefined) return { command: 'image', args: [inside, ...(dockerConfig?.command ?? args)] };
    return command === undefined ? { command: 'url', args: [url ?? sseConfig?.url ?? ''] } : this.#command();
  }
}

interface Command {
  readonly command: string;
  readonly args: readonly string[];
}

interface Opening {
  readonly verdict: Era | undefined;
  readonly capabilities: string;
  readonly deadline: Deadline;
}
