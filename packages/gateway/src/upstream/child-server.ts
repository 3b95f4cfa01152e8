import type { ServerConfig } from '../config/config.generated.ts';
import { ChildServerError, ErrorPhase, Messages, RpcError, RpcErrorCode } from '../errors.ts';
import { prefixed, type Log } from '../log.ts';
import type { Verdicts } from '../state/verdicts.ts';
import { errorLine, resultLine } from '../wire/answer.ts';
import { envelopeMembers, type Era, type Implementation } from '../wire/era.ts';
import { openLink } from '../wire/link.ts';
import type { Message, Unusable } from '../wire/message.ts';
import type { Glimpse, Oversized } from '../wire/oversized.ts';
import { Peer } from '../wire/peer.ts';
import { encode } from '../wire/splice.ts';
import { ALL_KINDS, definitionOf, type Kind, type Listing } from './catalogue.ts';
import type { Guard } from './guard.ts';
import { readError, readResult, shakeHands } from './handshake.ts';
import { isLauncher } from './launcher.ts';
import { LiveCatalogue } from './live-catalogue.ts';
import { spawnServer, type Exit, type ServerProcess } from './process.ts';
import { startInTurn, type Slots } from './slots.ts';
import { escapeUnsafe } from './stderr-lines.ts';
import type { Upstream } from './upstream.ts';
import { Watching } from './watching.ts';
import { within } from './within.ts';

export const ServerStatus = {
  INITIALIZING: 'initializing',
  RUNNING: 'running',
  FAILED: 'failed',
  STOPPED: 'stopped',
} as const;
export type ServerStatus = (typeof ServerStatus)[keyof typeof ServerStatus];

/** One start of a configured server. */
export interface ChildServerClient {
  readonly serverKey: string;
  readonly client: Upstream;
  readonly config: ServerConfig;
  readonly status: ServerStatus;
  readonly error?: Error | undefined;
}

/** What all children of a gateway share. */
export interface ChildContext {
  readonly guard: () => Guard;
  readonly slots: Slots;
  readonly verdicts: Verdicts;
  readonly clientInfo: Implementation;
  /** What the client can do, as JSON; known once it has opened the conversation. */
  readonly capabilities: Promise<string>;
  readonly startupTimeout: number | undefined;
  readonly maxMessageSize: number;
  readonly environmentOf: (config: ServerConfig) => Record<string, string>;
  readonly log: Log;
  readonly on: ChildEvents;
}

export interface ChildEvents {
  changed(child: ChildServer, kinds: readonly Kind[]): void;
  request(child: ChildServer, message: Message): void;
  notification(child: ChildServer, message: Message): void;
  /** It ran, and runs no more. */
  crashed(child: ChildServer): void;
}

const PATIENCE = { startup: 5000, probe: 2000 };
const LAUNCHER_PATIENCE = { startup: 60_000, probe: 30_000 };
/** How much of what is no message is shown. */
const LONGEST_NOISE = 200;
const KEPT_NOISE = 5;
const EMPTY: Listing = { items: [], ttlMs: 0, cacheScope: 'private' };
const NO_LISTS: Readonly<Record<Kind, Listing>> = { tools: EMPTY, prompts: EMPTY, resources: EMPTY, templates: EMPTY };

/** A server that runs as a child process. */
export class ChildServer implements Upstream, ChildServerClient {
  readonly serverKey: string;
  readonly config: ServerConfig;
  readonly #context: ChildContext;
  readonly #log: Log;
  #status: ServerStatus = ServerStatus.INITIALIZING;
  #error: ChildServerError | undefined;
  #process: ServerProcess | undefined;
  #peer: Peer | undefined;
  #era: Era = 'legacy';
  #version = '';
  #capabilities: Readonly<Record<string, unknown>> = {};
  #catalogue: LiveCatalogue | undefined;
  #watching: Watching | undefined;
  #heard = false;
  #noise: readonly string[] = [];

  constructor(serverKey: string, config: ServerConfig, context: ChildContext) {
    this.serverKey = serverKey;
    this.config = config;
    this.#context = context;
    this.#log = prefixed(context.log, serverKey);
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
    if (this.#peer === undefined) throw this.#failure(ErrorPhase.STARTUP, Messages.notStarted(this.serverKey));
    return this.#peer;
  }

  get era(): Era {
    return this.#era;
  }

  get capabilities(): Readonly<Record<string, unknown>> {
    return this.#capabilities;
  }

  get catalogue(): Readonly<Record<Kind, Listing>> {
    return this.#catalogue?.listings ?? NO_LISTS;
  }

  /** Resolves when the server has answered its handshake and its first list; rejects with a `ChildServerError`. */
  async start(): Promise<void> {
    const { command, args } = this.#command();
    const verdict = this.#context.verdicts.recall(command, args);
    try {
      const began = performance.now();
      const certain = await this.#connect(verdict);
      if (certain) this.#context.verdicts.remember(command, args, this.#era);
      this.#log.debug?.(`ready after ${Math.round(performance.now() - began)} ms: ${this.#describe()}`);
    } catch (error) {
      throw this.#giveUp(error as Error);
    }
  }

  /** Answers nobody any more; what remains is the process to stop, if there is one. */
  retire(): ServerProcess | undefined {
    if (this.#status !== ServerStatus.FAILED) this.#status = ServerStatus.STOPPED;
    this.#peer?.fail(this.#unavailable('has been stopped'));
    return this.#process;
  }

  async callTool(params: { name: string; arguments?: Record<string, unknown> }): Promise<unknown> {
    return this.#ask('tools/call', params);
  }

  async listTools(): Promise<{ tools: unknown[] }> {
    return { tools: this.catalogue.tools.items.map((tool) => JSON.parse(definitionOf(tool).toString('utf8')) as unknown) };
  }

  watch(uri: string): void {
    this.#watching?.watch(uri);
  }

  unwatch(uri: string): void {
    this.#watching?.unwatch(uri);
  }

  async #ask(method: string, params: Record<string, unknown>): Promise<unknown> {
    const meta = this.#era === 'modern' ? `,"_meta":{${await this.#meta()}}` : '';
    const answer = await this.peer.request(method, `${encode(params).slice(0, -1)}${meta}}`);
    if (answer.isError) throw readError(answer);
    return readResult(answer);
  }

  /** Starts the process and greets it; true where the era is certain. */
  async #connect(verdict: Era | undefined): Promise<boolean> {
    const { command, args } = this.#command();
    const patience = isLauncher(command, args) ? LAUNCHER_PATIENCE : PATIENCE;
    const { peer, exited } = await this.#launch();
    const capabilities = await Promise.race([this.#context.capabilities, exited]);
    // Nothing was asked yet that it could have died of.
    if (typeof capabilities !== 'string') throw this.#unavailable(describeExit(capabilities));
    const timeout = this.config.startupTimeout ?? this.#context.startupTimeout ?? patience.startup;
    const deadline = performance.now() + timeout;
    let isLate = false;
    const timer = setTimeout(() => {
      isLate = true;
      peer.fail(this.#tooSlow(timeout));
    }, timeout);
    try {
      const envelope = { clientInfo: this.#context.clientInfo, capabilities };
      const greeting = await shakeHands(peer, { envelope, verdict, patience: patience.probe });
      this.#era = greeting.era;
      this.#version = greeting.version;
      this.#capabilities = greeting.capabilities;
      await this.#readLists(peer, deadline);
      return greeting.certain;
    } catch (error) {
      const diedOfProbe = verdict === undefined && !this.#heard && peer.gone !== undefined && !isLate;
      if (!diedOfProbe || this.#isStopped()) throw error;
      this.#log.debug?.('ended when asked which protocol it speaks; starting it the old way');
      return await this.#connect('legacy');
    } finally {
      clearTimeout(timer);
    }
  }

  async #launch(): Promise<{ peer: Peer; exited: Promise<Exit> }> {
    const { command, args } = this.#command();
    const { cwd } = this.config;
    const { guard, slots, environmentOf, maxMessageSize } = this.#context;
    const spec = { command, args, env: environmentOf(this.config), cwd };
    const options = { guard: guard(), onStderrLine: (line: string) => this.#log.info(line) };
    const process = await startInTurn(slots, () => {
      if (this.#isStopped()) throw new Error('was stopped before its turn came');
      return spawnServer(spec, options);
    });
    this.#log.debug?.(`started as process ${process.pid}`);
    this.#process = process;
    this.#heard = false;
    this.#noise = [];
    if (this.#isStopped()) throw new Error('was stopped while it started');
    const link = openLink(process.stdout, process.stdin, maxMessageSize, {
      message: (message) => this.#receive(peer, message),
      unusable: (line) => this.#unusable(peer, line),
      oversized: (line) => this.#oversized(peer, line),
      ended: () => {},
    });
    const peer = new Peer(link);
    this.#peer = peer;
    void process.exited.then((exit) => this.#exited(peer, exit));
    return { peer, exited: process.exited };
  }

  /** The first list of tools decides; the other lists may come late or not at all. */
  async #readLists(peer: Peer, deadline: number): Promise<void> {
    const meta = this.#era === 'modern' ? await this.#meta() : '';
    const capabilities = this.#capabilities;
    const catalogue = new LiveCatalogue({
      capabilities,
      meta,
      request: (method, params) => peer.request(method, params),
      warn: (text) => this.#log.warn(text),
      changed: (kind) => this.#changed([kind]),
    });
    this.#catalogue = catalogue;
    const others = ALL_KINDS.filter((kind) => kind !== 'tools').map((kind) => this.#loadQuietly(catalogue, kind));
    await catalogue.load('tools');
    await within(deadline - performance.now(), Promise.all(others));
    this.#watching = new Watching(peer, { era: this.#era, meta, capabilities });
    if (this.#status === ServerStatus.INITIALIZING) this.#status = ServerStatus.RUNNING;
  }

  async #loadQuietly(catalogue: LiveCatalogue, kind: Kind): Promise<void> {
    try {
      await catalogue.load(kind);
      this.#changed([kind]);
    } catch (error) {
      // A server may have resources without templates; no capability tells.
      const isMissing = kind === 'templates' && (error as RpcError).code === RpcErrorCode.METHOD_NOT_FOUND;
      if (!isMissing) this.#log.warn(`could not list its ${kind}: ${(error as Error).message}`);
    }
  }

  /** Before the server runs its lists are nobody's news. */
  #changed(kinds: readonly Kind[]): void {
    if (this.#status === ServerStatus.RUNNING) this.#context.on.changed(this, kinds);
  }

  #receive(peer: Peer, message: Message): void {
    this.#heard = true;
    if (peer.take(message)) return;
    if (message.kind === 'response') return this.#log.debug?.(`answered ${message.id}, which nobody waits for`);
    if (message.kind === 'notification') {
      if (message.method.endsWith('/list_changed')) return this.#catalogue?.refresh(message.method);
      return this.#context.on.notification(this, message);
    }
    if (message.method === 'ping') return peer.send(resultLine(message.id, '{}'));
    this.#context.on.request(this, message);
  }

  #unusable(peer: Peer, { bytes, id, meant }: Unusable): void {
    const line = escapeUnsafe(bytes.toString('utf8', 0, LONGEST_NOISE)).trim();
    this.#log.debug?.(`wrote to stdout what is no message: ${line}`);
    if (line !== '') this.#noise = [...this.#noise, line].slice(-KEPT_NOISE);
    this.#refuse(peer, { id, meant }, 'sent something that is no JSON-RPC message');
  }

  #oversized(peer: Peer, { id, meant, size }: Oversized): void {
    const { maxMessageSize } = this.#context;
    const text = `sent a message of ${size} bytes, over the limit of ${maxMessageSize}; raise --max-message-size to let it pass`;
    this.#log.warn(text);
    this.#refuse(peer, { id, meant }, text);
  }

  /** The one call that it would have answered fails; a request of the server's is answered with why. */
  #refuse(peer: Peer, { id, meant }: Glimpse, why: string): void {
    if (id === undefined) return;
    if (meant === 'response') peer.lose(id, this.#unavailable(why));
    else if (meant === 'request') peer.send(errorLine(id, new RpcError(RpcErrorCode.INVALID_REQUEST, `The server ${why}`)));
  }

  #exited(peer: Peer, exit: Exit): void {
    peer.fail(this.#unavailable(describeExit(exit)));
    if (this.#peer !== peer || this.#status !== ServerStatus.RUNNING) return;
    this.#status = ServerStatus.FAILED;
    this.#error = this.#failure(ErrorPhase.RUNTIME, `${Messages.serverCrashed(this.serverKey)}: it ${describeExit(exit)}`);
    this.#context.on.crashed(this);
  }

  #giveUp(error: Error): ChildServerError {
    const phase = this.#process === undefined ? ErrorPhase.STARTUP : ErrorPhase.INITIALIZATION;
    const text = phase === ErrorPhase.STARTUP ? Messages.spawnFailed(this.serverKey, error.message) : Messages.startFailed(this.serverKey, reasonOf(error));
    if (!this.#isStopped()) this.#status = ServerStatus.FAILED;
    const failure = this.#failure(phase, [text, ...this.#lastWords()].join('\n'), error);
    this.#error = failure;
    // Whoever waits for the verdict need not wait for a process that is slow to end.
    void this.#process?.stop();
    return failure;
  }

  /** The end of its stderr, and of what it wrote to stdout that is no message: a usage text, an address it listens on. */
  #lastWords(): string[] {
    const stderr = this.#process?.stderrTail() ?? [];
    return [...stderr.map((line) => `  stderr | ${line}`), ...this.#noise.map((line) => `  stdout | ${line}`)];
  }

  #isStopped(): boolean {
    return this.#status === ServerStatus.STOPPED;
  }

  #tooSlow(timeout: number): RpcError {
    const what = this.#version === '' ? 'the handshake' : 'tools/list';
    return this.#unavailable(`did not answer ${what} within ${timeout / 1000} s; if it needs longer, set "startupTimeout" (in milliseconds) in its entry`);
  }

  #unavailable(what: string): Unavailable {
    return new Unavailable(this.serverKey, what);
  }

  #describe(): string {
    const counts = ALL_KINDS.map((kind) => `${this.catalogue[kind].items.length} ${kind}`);
    return `speaks ${this.#version}, lists ${counts.join(', ')}`;
  }

  #failure(phase: ErrorPhase, text: string, cause?: Error): ChildServerError {
    return new ChildServerError(text, this.serverKey, phase, cause);
  }

  async #meta(): Promise<string> {
    return envelopeMembers({ clientInfo: this.#context.clientInfo, capabilities: await this.#context.capabilities });
  }

  #command(): { command: string; args: readonly string[] } {
    return { command: this.config.command ?? '', args: this.config.args ?? [] };
  }
}

/** What became of a server, as those who wait for its answer hear it. */
class Unavailable extends RpcError {
  readonly what: string;

  constructor(serverKey: string, what: string) {
    super(RpcErrorCode.UNAVAILABLE, `Server '${serverKey}' ${what}`);
    this.what = what;
  }
}

/** Why a start failed, as the end of a sentence about the server; what it says itself may hold anything. */
function reasonOf(error: Error): string {
  if (error instanceof Unavailable) return error.what;
  return error instanceof RpcError ? `answered with the error ${error.code}: ${escapeUnsafe(error.message)}` : error.message;
}

function describeExit({ code, signal }: Exit): string {
  return signal === null ? `exited with code ${code}` : `was killed by ${signal}`;
}
