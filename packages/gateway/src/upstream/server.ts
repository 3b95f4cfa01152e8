import type { ServerConfig } from '../config/config.generated.ts';
import { ChildServerError, ErrorPhase, Texts } from '../errors.ts';
import { prefixed, quieted, type Log } from '../log.ts';
import { envelopeMembers, type Era } from '../protocol/eras.ts';
import { now } from '../time/clock.ts';
import { Deadline } from '../time/deadline.ts';
import { systemTimers } from '../time/schedule.ts';
import type { Account } from '../wire/account.ts';
import { encode } from '../wire/json/splice.ts';
import type { Message } from '../wire/message.ts';
import type { Peer } from '../wire/peer.ts';
import {
  countsOf,
  joinCatalogues,
  NO_LISTS,
  readTools,
  type Catalogue,
  type Kind,
  type ToolSchema,
} from './catalogue/catalogue.ts';
import { LiveCatalogue } from './catalogue/live-catalogue.ts';
import { ResourceSubscriptions } from './catalogue/resource-subscriptions.ts';
import type { Connection, Stoppable } from './connection.ts';
import { readError, readResult, shakeHands, type Greeting } from './negotiate.ts';
import type { Sharing } from './pool/instances.ts';
import { whileStarting } from './process/process-group.ts';
import type { ServerOptions } from './server-options.ts';
import { ServerStatus, type ChildServerClient } from './server-status.ts';
import { startFailure } from './start-failure.ts';
import { ping } from './supervision/ping.ts';
import { startupTimeouts, transportOf, type StartupTimeouts, type Transport } from './transports.ts';
import { Unavailable } from './unavailable.ts';
import type { Upstream } from './upstream.ts';

/** A server: a child process, a container, or one at an address. */
export class UpstreamServer implements Upstream, ChildServerClient {
  readonly serverKey: string;
  readonly config: ServerConfig;
  readonly client: Upstream = this;
  /** Set once the server has failed. */
  declare error?: ChildServerError;
  readonly #context: ServerOptions;
  readonly #transport: Transport;
  #ownLog: Log | undefined;
  #knownPatience: StartupTimeouts | undefined;
  #status: ServerStatus = ServerStatus.INITIALIZING;
  #connection: Connection | undefined;
  /** A container, from the moment on when it may have to be stopped. */
  #arriving: Stoppable | undefined;
  #greeting: Greeting | undefined;
  #catalogue: LiveCatalogue | undefined;
  #watching: ResourceSubscriptions | undefined;
  #legacyConnection: UpstreamServer | undefined;
  #diesOfOldWay = false;
  #isHeld = false;
  #beside = 0;
  /** Keeps the output of a start that is repeated out of the log, until it has succeeded. */
  #isQuiet: boolean;

  constructor(serverKey: string, config: ServerConfig, context: ServerOptions) {
    this.serverKey = serverKey;
    this.config = config;
    this.#transport = transportOf(config);
    this.#context = context;
    // An own property, so that a copy by spread has it.
    Object.defineProperty(this, 'status', { enumerable: true, get: () => this.#status });
    this.#isQuiet = context.logs.failing.has(serverKey);
  }

  get isRemote(): boolean {
    return this.#transport.isRemote;
  }

  get status(): ServerStatus {
    return this.#status;
  }

  /** Made with the first line: a start that recalls lists creates every server, and most have nothing to log yet. */
  get #log(): Log {
    this.#ownLog ??= this.#context.logs.keeping(
      this.serverKey,
      quieted(prefixed(this.#context.log, this.serverKey), () => this.#isQuiet),
    );
    return this.#ownLog;
  }

  get peer(): Peer {
    if (this.#connection === undefined)
      throw new ChildServerError(Texts.notStarted(this.serverKey), this.serverKey, ErrorPhase.STARTUP);
    return this.#connection.peer;
  }

  /** It can be spoken to. */
  get isConnected(): boolean {
    return this.#connection !== undefined;
  }

  /** True where the network is why a server at an address does not run: no connection to it was ever made. */
  get isUnreachable(): boolean {
    return this.isRemote && this.#connection?.isUnreachable === true;
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
  get catalogue(): Catalogue {
    const legacyConnection = this.isRemote ? undefined : this.#legacyConnection;
    return legacyConnection === undefined
      ? this.ownCatalogue
      : joinCatalogues(this.ownCatalogue, legacyConnection.ownCatalogue);
  }

  /** What it lists in this one. */
  get ownCatalogue(): Catalogue {
    return this.#catalogue?.listings ?? NO_LISTS;
  }

  readNews(kind: Kind): Promise<void> | undefined {
    return this.#catalogue?.readNews(kind);
  }

  /** Resolves when the server has answered its handshake and its first list; rejects with a `ChildServerError`. */
  async start(): Promise<void> {
    const { command, args } = this.#transport.identity(this.config);
    const { startClock, eraCache } = this.#context;
    const began = now();
    const started = startClock.begin();
    try {
      const verdict =
        this.#context.era ?? this.#transport.era?.(this.config) ?? (await eraCache.recall(command, args));
      const { certain, isModern } = await this.#connect(verdict);
      const era = isModern ? 'modern' : 'legacy';
      if (certain && this.#context.era === undefined && era !== verdict)
        eraCache.remember(command, args, era);
      this.#log.debug?.(
        `ready after ${Math.round(now() - began)} ms: speaks ${this.#greeting?.version ?? ''}, lists ${countsOf(this.catalogue)}`,
      );
    } catch (error) {
      throw this.#giveUp(error as Error);
    } finally {
      started();
    }
  }

  /** Answers nobody any more; what remains is to be stopped, if there is anything. */
  retire(what = 'has been stopped'): Stoppable | undefined {
    const isStarting = this.#status === ServerStatus.INITIALIZING;
    if (this.#status !== ServerStatus.FAILED) this.#status = ServerStatus.STOPPED;
    this.#connection?.fail(what);
    const rest = this.#arriving ?? this.#connection;
    return isStarting && rest ? { stop: (timing) => rest.stop(whileStarting(timing)) } : rest;
  }

  /** Somebody waits for what is done beside it: until that is over, it is in use. */
  async busyWith(something: Promise<unknown>): Promise<void> {
    this.#beside++;
    try {
      await something;
    } finally {
      this.#beside--;
    }
  }

  /** A second conversation with it, until that ends: what is asked and told there is its business too. */
  setLegacyConnection(legacyConnection: UpstreamServer | undefined): void {
    this.#legacyConnection = legacyConnection;
    // Another process has to be told by itself what clients watch; another conversation with the same one has not.
    if (!this.isRemote) for (const uri of this.#watching?.watched ?? []) legacyConnection?.watch(uri);
  }

  /** How many answers clients wait for. */
  get inFlight(): number {
    return (this.#connection?.peer.inFlight ?? 0) + (this.#legacyConnection?.inFlight ?? 0);
  }

  /** How much clients have asked of it since it was started. */
  get asked(): number {
    return (this.#connection?.peer.asked ?? 0) + (this.#legacyConnection?.asked ?? 0);
  }

  /** It has asked something itself, and waits for the answer. */
  get isAsking(): boolean {
    return (this.#connection?.peer.trackedCount ?? 0) > 0 || this.#legacyConnection?.isAsking === true;
  }

  /** Somebody waits for it, or is about to. */
  get isAwaited(): boolean {
    return this.inFlight > 0 || this.#beside > 0;
  }

  /** Somebody waits for it or is asked by it, or wants to hear from it. */
  get isInUse(): boolean {
    if (this.isAwaited || this.isAsking || this.#watching?.isAsked === true) return true;
    return this.#context.on.isFollowed?.(this) === true;
  }

  get heard(): number {
    return this.#connection?.heard ?? 0;
  }

  get isExcused(): boolean {
    return this.#isHeld || this.peer.inFlight > 0;
  }

  ask(answered: () => void, failed: (reason: string) => void): () => void {
    return ping(this.peer, this.#meta(), { answered, failed });
  }

  /** It runs, but does not answer any more: that is no better than a crash. */
  giveUpOn(how: string): void {
    const connection = this.#connection;
    if (connection === undefined || this.#status !== ServerStatus.RUNNING) return;
    connection.fail(how);
    this.#crashed(connection, how, Texts.serverLost(this.serverKey));
  }

  async callTool(params: { name: string; arguments?: Record<string, unknown> }): Promise<unknown> {
    const meta = await this.#meta();
    const envelope = meta === '' ? '' : `,"_meta":{${meta}}`;
    const answer = await this.peer.request('tools/call', `${encode(params).slice(0, -1)}${envelope}}`, false);
    if (answer.isError) throw readError(answer);
    return readResult(answer);
  }

  async listTools(): Promise<{ tools: ToolSchema[] }> {
    return { tools: readTools(this.catalogue) };
  }

  hold(hold: boolean): void {
    this.#isHeld = hold;
    this.#connection?.hold(hold);
  }

  watch(uri: string, isAsked = false): void {
    // Another process may have come later than some who watch: it is told of the first and of the last of them.
    if (!this.isRemote && !this.watches(uri)) this.#legacyConnection?.watch(uri);
    this.#watching?.watch(uri, isAsked);
  }

  unwatch(uri: string, isAsked = false): boolean {
    const isLast = this.#watching?.unwatch(uri, isAsked) ?? true;
    if (!this.isRemote && isLast) this.#legacyConnection?.unwatch(uri);
    return isLast;
  }

  watches(uri: string): boolean {
    return this.#watching?.watches(uri) ?? false;
  }

  /** Starts a process and greets it; one that dies of the greeting is started once more, the other way. */
  async #connect(verdict: Era | undefined): Promise<Greeting> {
    const connection = await this.#launch();
    // Nothing was asked yet that it could have died of.
    const capabilities = await connection.raceExit(this.#context.capabilities);
    const deadline = this.#setDeadline(connection);
    try {
      return await this.#greet(connection, { verdict, capabilities, deadline });
    } catch (error) {
      const hasDied = connection.peer.gone !== undefined && !deadline.isOver && !this.#isStopped();
      if (!hasDied || verdict === 'legacy') throw error;
      this.#isQuiet = true;
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
    const { config, serverKey } = this;
    const context = this.#context;
    const account = context.accounts.open((reason) => this.#end(account, reason));
    const connection = await this.#transport.open({
      ...context,
      config,
      serverKey,
      log: this.#log,
      maxMessageSize: context.maxMessageSize,
      account,
      listenTimeoutMs: this.#patience.startup,
      request: (message, related) => context.on.request(this, message, related),
      notification: (message, related) => this.#notified(message, related),
      failed: (error) => this.#failed(account, error),
      renewed: () => this.#catalogue?.refreshAll(),
      outdated: async () => this.#catalogue?.readNow('tools'),
      isStopped: () => this.#isStopped(),
      arriving: (container) => {
        this.#arriving = container;
      },
    });
    this.#connection = connection;
    if (this.#isStopped()) throw new Error('was stopped while it started');
    void connection.lost.then((how) => this.#crashed(connection, how));
    return connection;
  }

  async #greet(connection: Connection, { verdict, capabilities, deadline }: Opening): Promise<Greeting> {
    const { peer } = connection;
    const envelope = { clientInfo: this.#context.clientInfo, capabilities };
    // However short the time is, half of it is left for those that do not answer a probe.
    const timeouts = Math.min(this.#patience.probe, deadline.remaining() / 2);
    const isFixed = this.#context.isEraFixed ?? false;
    const prefersLegacy = this.#goesBack(connection);
    const greeting = await shakeHands(peer, {
      serverKey: this.serverKey,
      envelope,
      verdict,
      isFixed,
      patience: timeouts,
      prefersLegacy,
    });
    this.#greeting = greeting;
    peer.version = greeting.version;
    // Before the lists are read: a change right after would go unheard.
    this.#watching = new ResourceSubscriptions(peer, {
      era: greeting.era,
      meta: await this.#meta(),
      capabilities: greeting.capabilities,
      missed: () => this.#catalogue?.refreshAll(),
    });
    await this.#readLists(connection, deadline);
    // The last list may have been the one that ended it.
    if (peer.gone !== undefined) throw peer.gone;
    if (this.#status === ServerStatus.INITIALIZING) this.#runs();
    return greeting;
  }

  #runs(): void {
    this.#status = ServerStatus.RUNNING;
    this.#isQuiet = false;
    this.#context.logs.failing.delete(this.serverKey);
  }

  /** Over HTTP another conversation is had for nothing; in a pipe there is only one. */
  #goesBack({ keepsSession }: Connection): boolean {
    return keepsSession && !this.#diesOfOldWay && this.#context.prefersLegacy?.() === true;
  }

  async #readLists({ peer, screen }: Connection, deadline: Deadline): Promise<void> {
    this.#catalogue = new LiveCatalogue({
      capabilities: this.capabilities,
      era: this.era,
      meta: await this.#meta(),
      earlier: this.#context.earlierLists?.(this.serverKey) ?? NO_LISTS,
      timers: systemTimers,
      request: (method, params) => peer.request(method, params),
      isGone: () => peer.gone !== undefined,
      account: peer.account,
      screen: this.era === 'modern' ? screen : undefined,
      warn: (text) => this.#log.warn(this.#transport.hideSecrets(text, this.config)),
      prepare: (kind, listing) => this.#context.on.prepare?.(this, kind, listing),
      changed: (kind) => this.#changed(kind),
    });
    await this.#catalogue.loadAll(() => deadline.remaining());
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

  #crashed(connection: Connection, how: string, what = Texts.serverCrashed(this.serverKey)): void {
    if (this.#connection !== connection || this.#status !== ServerStatus.RUNNING) return;
    this.#status = ServerStatus.FAILED;
    const told = this.#transport.hideSecrets(how, this.config);
    const cause = connection.peer.gone ?? new Unavailable(this.serverKey, told);
    this.error = new ChildServerError(`${what}: it ${told}`, this.serverKey, ErrorPhase.RUNTIME, cause);
    this.#context.on.crashed(this);
  }

  /** Ends the server after an exception in work for it: an unknown part of that work is not done. */
  #failed(account: Account, error: Error): void {
    this.#log.error(`failed through a mistake of Weir's own: ${error.stack ?? error.message}`);
    this.#end(account, "was ended after a mistake of Weir's own, which the log describes");
  }

  /** Ends the server. While it starts, its start fails. */
  #end(account: Account, reason: string): void {
    const connection = this.#connection;
    if (connection?.peer.account !== account) return;
    this.giveUpOn(reason);
    connection.fail(reason);
    void connection.stop();
  }

  #giveUp(error: Error): ChildServerError {
    const connection = this.#connection;
    const failure = startFailure(this.serverKey, error, {
      connection,
      config: this.config,
      gateway: this.#context.chain.id,
    });
    if (!this.#isStopped()) {
      this.#status = ServerStatus.FAILED;
      this.#context.logs.failing.add(this.serverKey);
    }
    this.error = failure;
    // Whoever waits for the verdict need not wait for a process that is slow to end.
    void connection?.stop();
    return failure;
  }

  #isStopped(): boolean {
    return this.#status === ServerStatus.STOPPED;
  }

  /** Found out when it starts: the first list goes before. */
  get #patience(): StartupTimeouts {
    this.#knownPatience ??= startupTimeouts(this.config, this.#context.startupTimeout);
    return this.#knownPatience;
  }

  /** From now on the server's time runs; when it is over, nobody waits for it any more. */
  #setDeadline(connection: Connection): Deadline {
    return new Deadline(this.#patience, this.#context.startClock, (limitMs) => {
      const what = this.#greeting === undefined ? 'the handshake' : 'tools/list';
      const remedy = 'if it needs longer, set "startupTimeout" (in milliseconds) in its entry';
      connection.fail(`did not answer ${what} within ${Math.round(limitMs) / 1000} s; ${remedy}`);
    });
  }

  /** What a modern server wants to hear with every request; nothing for the others. */
  async #meta(): Promise<string> {
    if (this.era === 'legacy') return '';
    return envelopeMembers({
      clientInfo: this.#context.clientInfo,
      capabilities: await this.#context.capabilities,
    });
  }
}

interface Opening {
  readonly verdict: Era | undefined;
  readonly capabilities: string;
  readonly deadline: Deadline;
}
