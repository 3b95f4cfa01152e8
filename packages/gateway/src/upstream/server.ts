import type { ServerConfig } from '../config/config.generated.ts';
import { ChildServerError, ErrorPhase } from '../errors.ts';
import { prefixed, quieted, type Log } from '../log.ts';
import type { Era } from '../protocol/eras.ts';
import { Method } from '../protocol/methods.ts';
import { now } from '../time/clock.ts';
import type { Account } from '../wire/account.ts';
import { encode } from '../wire/json/splice.ts';
import type { Peer } from '../wire/peer.ts';
import {
  countsOf,
  NO_LISTS,
  readTools,
  type Catalogue,
  type Kind,
  type ToolSchema,
} from './catalogue/catalogue.ts';
import type { Connection, Stoppable } from './connection.ts';
import type { Conversation } from './conversation.ts';
import { sharingOf, type Sharing } from './pool/instances.ts';
import { whileStarting } from './process/process-group.ts';
import type { ServerOptions } from './server-options.ts';
import { readError, readResult } from './start/negotiate.ts';
import { startFailure } from './start/start-failure.ts';
import { ServerStart } from './start/start-server.ts';
import { ServerUsage } from './supervision/server-usage.ts';
import { transportOf } from './transports.ts';
import { Unavailable } from './unavailable.ts';
import { ServerStatus, type ChildServerClient, type Upstream } from './upstream.ts';

/** One run of a server, from its start to its end: a child process, a container, or a session with a remote server. */
export class UpstreamServer implements Upstream, ChildServerClient {
  readonly serverKey: string;
  readonly config: ServerConfig;
  readonly isRemote: boolean;
  readonly sharing: Sharing;
  readonly cwdFromRoots: boolean;
  readonly client: Upstream = this;
  readonly usage: ServerUsage;
  /** Set once the server has failed. */
  declare error?: ChildServerError;
  readonly #options: ServerOptions;
  #ownLog: Log | undefined;
  #status: ServerStatus = ServerStatus.INITIALIZING;
  #start: ServerStart | undefined;
  #isEraOpen = false;
  /** Keeps the output of a start that is repeated out of the log, until it has succeeded. */
  #isQuiet: boolean;

  constructor(serverKey: string, config: ServerConfig, options: ServerOptions) {
    this.serverKey = serverKey;
    this.config = config;
    this.isRemote = transportOf(config).isRemote;
    const { sharing, cwdFromRoots } = sharingOf(config);
    this.sharing = sharing;
    this.cwdFromRoots = cwdFromRoots;
    this.#options = options;
    this.#isQuiet = options.context.logs.failing.has(serverKey);
    this.usage = new ServerUsage(
      () => this.conversation,
      () => options.on.isFollowed?.(this) === true,
    );
    // An own property, so that a copy by spread has it.
    Object.defineProperty(this, 'status', { enumerable: true, get: () => this.#status });
  }

  get status(): ServerStatus {
    return this.#status;
  }

  /** Created with the first line: a start that recalls lists creates every server, and most have nothing to log yet. */
  get #log(): Log {
    const { log, logs } = this.#options.context;
    const quietLog = (): Log => quieted(prefixed(log, this.serverKey), () => this.#isQuiet);
    this.#ownLog ??= logs.keeping(this.serverKey, quietLog());
    return this.#ownLog;
  }

  /** Conversation with the server; undefined until there is a connection. */
  get conversation(): Conversation | undefined {
    return this.#start?.conversation;
  }

  get peer(): Peer {
    const { conversation } = this;
    if (conversation !== undefined) return conversation.peer;
    throw new ChildServerError(
      `Server '${this.serverKey}' has not started yet`,
      this.serverKey,
      ErrorPhase.STARTUP,
    );
  }

  get isConnected(): boolean {
    return this.conversation !== undefined;
  }

  /** True where the network is why a remote server does not run: no connection to it was ever made. */
  get isUnreachable(): boolean {
    return this.isRemote && this.conversation?.connection.isUnreachable === true;
  }

  get era(): Era {
    return this.conversation?.era ?? 'legacy';
  }

  get isModernOnly(): boolean {
    return this.#start?.isModernOnly === true;
  }

  get isEraOpen(): boolean {
    return this.#isEraOpen;
  }

  get capabilities(): Readonly<Record<string, unknown>> {
    return this.conversation?.handshake?.capabilities ?? {};
  }

  get instructions(): string | undefined {
    return this.conversation?.handshake?.instructions;
  }

  get catalogue(): Catalogue {
    return this.conversation?.catalogue ?? NO_LISTS;
  }

  readChanged(kind: Kind): Promise<void> | undefined {
    return this.conversation?.lists?.readChanged(kind);
  }

  /** Resolves when the server has answered its handshake and its first list; rejects with a `ChildServerError`. */
  async start(): Promise<void> {
    const began = now();
    const { startClock, logs } = this.#options.context;
    const started = startClock.begin();
    try {
      this.#start = this.#createStart();
      await this.#start.run();
      // The last list may have been the one that ended it.
      if (this.peer.gone !== undefined) throw this.peer.gone;
      this.#status = ServerStatus.RUNNING;
      this.#isEraOpen = this.#start.isEraOpen;
      this.#isQuiet = false;
      logs.failing.delete(this.serverKey);
      this.#log.debug?.(
        `ready after ${Math.round(now() - began)} ms: speaks ${this.peer.version}, lists ${countsOf(this.catalogue)}`,
      );
    } catch (error) {
      throw this.#giveUp(error as Error);
    } finally {
      started();
    }
  }

  /** Fails all calls; returns what remains to be stopped, if there is anything. `what` ends a sentence about the server. */
  retire(what = 'has been stopped'): Stoppable | undefined {
    const isStarting = this.#status === ServerStatus.INITIALIZING;
    if (this.#status !== ServerStatus.FAILED) this.#status = ServerStatus.STOPPED;
    this.conversation?.connection.fail(what);
    const remains = this.#start?.remains;
    return isStarting && remains ? { stop: (timing) => remains.stop(whileStarting(timing)) } : remains;
  }

  /** Treats a server that runs but does not answer as one that has crashed. */
  giveUpOn(how: string): void {
    const connection = this.conversation?.connection;
    if (connection === undefined || this.#status !== ServerStatus.RUNNING) return;
    connection.fail(how);
    this.#crashed(connection, how, `Weir stopped server '${this.serverKey}'`);
  }

  /** Keeps the era that the server is spoken to in: it has been used, and a restart would lose what it remembers. */
  keepEra(): void {
    this.#isEraOpen = false;
  }

  async callTool(params: { name: string; arguments?: Record<string, unknown> }): Promise<unknown> {
    this.keepEra();
    const { peer } = this;
    const meta = this.conversation?.meta ?? '';
    const envelope = meta === '' ? '' : `,"_meta":{${meta}}`;
    const answer = await peer.request(Method.CALL_TOOL, `${encode(params).slice(0, -1)}${envelope}}`, false);
    if (answer.isError) throw readError(answer);
    return readResult(answer);
  }

  async listTools(): Promise<{ tools: ToolSchema[] }> {
    return { tools: readTools(this.catalogue) };
  }

  hold(hold: boolean): void {
    this.conversation?.hold(hold);
  }

  watch(uri: string, isAsked = false): void {
    this.conversation?.resources?.watch(uri, isAsked);
  }

  unwatch(uri: string, isAsked = false): boolean {
    return this.conversation?.resources?.unwatch(uri, isAsked) ?? true;
  }

  watches(uri: string): boolean {
    return this.conversation?.resources?.watches(uri) ?? false;
  }

  #createStart(): ServerStart {
    const { on } = this.#options;
    return new ServerStart({
      ...this.#options,
      serverKey: this.serverKey,
      config: this.config,
      ownLog: this.#log,
      isStopped: () => this.#status === ServerStatus.STOPPED,
      opened: (connection) => void connection.lost.then((how) => this.#lost(connection, how)),
      repeated: () => {
        this.#isQuiet = true;
      },
      request: (message, related) => on.request(this, message, related),
      notification: (message, related) => {
        if (this.conversation?.take(message) !== true) on.notification(this, message, related);
      },
      prepare: (kind, listing) => on.prepare?.(this, kind, listing),
      // Lists of a server that starts are published when it runs.
      listChanged: (kind) => this.#status === ServerStatus.RUNNING && on.changed(this, [kind]),
      exceeded: (account, reason) => this.#end(account, reason),
      failed: (account, error) => this.#failed(account, error),
    });
  }

  /** Ends the calls in flight first: those that may be repeated wait for the restart before the crash is known. */
  #lost(connection: Connection, how: string): void {
    if (connection.peer.gone === undefined) connection.fail(how);
    this.#crashed(connection, how);
  }

  #crashed(
    connection: Connection,
    how: string,
    what = `Server '${this.serverKey}' crashed during operation`,
  ): void {
    if (this.conversation?.connection !== connection || this.#status !== ServerStatus.RUNNING) return;
    this.#status = ServerStatus.FAILED;
    const told = transportOf(this.config).hideSecrets(how, this.config);
    const cause = connection.peer.gone ?? new Unavailable(this.serverKey, told);
    this.error = new ChildServerError(`${what}: it ${told}`, this.serverKey, ErrorPhase.RUNTIME, cause);
    this.#options.on.crashed(this, this.error);
  }

  /** Ends the server after an exception in work for it: an unknown part of that work is not done. */
  #failed(account: Account, error: Error): void {
    this.#log.error(`is being stopped because of an internal error of Weir: ${error.stack ?? error.message}`);
    this.#end(account, 'was stopped because of an internal error of Weir, which the log describes');
  }

  /** Ends the server. While it starts, its start fails. */
  #end(account: Account, reason: string): void {
    const connection = this.conversation?.connection;
    if (connection?.peer.account !== account) return;
    this.giveUpOn(reason);
    connection.fail(reason);
    void connection.stop();
  }

  #giveUp(error: Error): ChildServerError {
    const { config, serverKey } = this;
    const { chain, logs } = this.#options.context;
    const connection = this.conversation?.connection;
    const failure = startFailure(serverKey, error, { connection, config, gateway: chain.id });
    if (this.#status !== ServerStatus.STOPPED) {
      this.#status = ServerStatus.FAILED;
      logs.failing.add(serverKey);
    }
    this.error = failure;
    // The error does not wait for a process that is slow to end.
    void connection?.stop();
    return failure;
  }
}
