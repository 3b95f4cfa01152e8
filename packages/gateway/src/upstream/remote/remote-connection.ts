import type { ServerConfig } from '../../config/config.generated.ts';
import { quoted } from '../../errors.ts';
import type { Implementation } from '../../protocol/eras.ts';
import {
  InvalidAnnotation,
  mayHaveParameterHeaders,
  readParameterHeaders,
  type ParameterHeader,
} from '../../protocol/param-headers.ts';
import type { Account } from '../../wire/account.ts';
import { BATCH_VERSION } from '../../wire/batch.ts';
import { splice, type Line } from '../../wire/json/splice.ts';
import type { Link } from '../../wire/link.ts';
import type { Message } from '../../wire/message.ts';
import { Peer } from '../../wire/peer.ts';
import { definitionOf, type Listed, type Listing } from '../catalogue/catalogue.ts';
import {
  receive,
  refuseInvalid,
  refuseOversized,
  type Connection,
  type ConnectionOptions,
} from '../connection.ts';
import { CHAIN_HEADER, type Chain } from '../gateway-chain.ts';
import { Unavailable } from '../unavailable.ts';
import { createHttpClient, type HttpClient } from './http-client.ts';
import type { RemoteHandlers } from './remote-session.ts';
import { configuredAuth } from './request-headers.ts';
import { SseLink } from './sse-link.ts';
import { StreamableLink } from './streamable-link.ts';

export interface ReachOptions extends ConnectionOptions {
  readonly config: ServerConfig;
  readonly clientInfo: Implementation;
  readonly chain: Chain;
}

/** Clients of a server, one per kind of HTTP. */
interface RemoteClients {
  readonly streamable: HttpClient | undefined;
  readonly sse: HttpClient;
}

/** Gets ready to reach a server at an address; nothing is sent yet. */
export async function reachServer(options: ReachOptions): Promise<Connection> {
  const { url, sseConfig, headers = {} } = options.config;
  const { name, version } = options.clientInfo;
  const open = (address: string): Promise<HttpClient> =>
    createHttpClient(new URL(address), {
      auth: configuredAuth(new URL(address), headers),
      defaults: { 'user-agent': `${name}/${version}` },
      headers: { [CHAIN_HEADER]: options.chain.text },
      account: options.account,
      onChain: (reach) => options.chain.learn(options.serverKey, reach),
      failed: (error) => options.failed(error),
    });
  const streamable = url === undefined ? undefined : await open(url);
  const sseUrl = sseConfig?.url;
  const sse = sseUrl === undefined ? streamable : await open(sseUrl);
  if (sse === undefined) throw new Error('has no "url" in its entry');
  return new RemoteConnection(options, { streamable, sse });
}

/** The conversation with a server at an address. A request that fails is that request's misfortune: the server is not given up for it. */
class RemoteConnection implements Connection {
  readonly peer: Peer;
  /** A server elsewhere is never known to be gone for good. */
  readonly lost: Promise<string> = new Promise(() => {});
  readonly #options: ReachOptions;
  readonly #link: RemoteLink;
  #marked: ReadonlyMap<string, readonly ParameterHeader[]> = new Map();
  #heard = 0;

  constructor(options: ReachOptions, clients: RemoteClients) {
    this.#options = options;
    this.#link = new RemoteLink({
      ...clients,
      maxMessageSize: options.maxMessageSize,
      account: options.account,
      markedIn: (tool) => this.#marked.get(tool),
      handlers: {
        message: (message, related) => {
          this.#heard++;
          receive(message, this.peer, options, related);
        },
        invalid: (line, how) => refuseInvalid(this.peer, options, line, how),
        oversized: (line) => refuseOversized(this.peer, options, line),
        suspended: (id, pause) => this.peer.suspend(id, pause),
        lost: (id, what) => this.#lose(String(id), what),
        renewed: () => options.renewed(),
        outdated: () => options.outdated(),
        takesBatches: () => this.peer.version === BATCH_VERSION,
        failed: (error) => options.failed(error),
        debug: (text) => options.log.debug?.(text),
      },
    });
    this.peer = new Peer(this.#link, (error) => options.failed(error));
  }

  get heard(): number {
    return this.#heard;
  }

  get isUnreachable(): boolean {
    return !this.#link.wasReached;
  }

  get keepsSession(): boolean {
    return this.#link.keepsSession;
  }

  fail(what: string): void {
    this.peer.fail(new Unavailable(this.#options.serverKey, what));
  }

  hold(hold: boolean): void {
    if (hold) this.peer.pause();
    else this.peer.resume();
  }

  raceExit<T>(promised: Promise<T>): Promise<T> {
    return promised;
  }

  outputTail(): string[] {
    return [];
  }

  stop(): Promise<void> {
    this.#options.chain.forget(this.#options.serverKey);
    this.#options.account.close();
    return this.#link.end();
  }

  /** Notes which tools want arguments in headers, and leaves out those that want it in a way that is not allowed. */
  readonly screen = (tools: Listing): Listing => {
    const marked = new Map<string, readonly ParameterHeader[]>();
    const items = tools.items.filter((tool) => this.#isUsable(tool, marked));
    this.#marked = marked;
    return items.length === tools.items.length ? tools : { ...tools, items };
  };

  #isUsable(tool: Listed, marked: Map<string, readonly ParameterHeader[]>): boolean {
    const definition = definitionOf(tool);
    if (!mayHaveParameterHeaders(definition)) return true;
    try {
      marked.set(tool.key, readParameterHeaders(definition));
      return true;
    } catch (error) {
      if (!(error instanceof InvalidAnnotation)) throw error;
      this.#options.log.warn(
        `tool ${JSON.stringify(quoted(tool.key))} is left out: it ${quoted(error.message)}`,
      );
      return false;
    }
  }

  #lose(id: string, what: string): void {
    this.peer.failRequest(id, new Unavailable(this.#options.serverKey, what));
  }
}

interface RemoteLinkOptions {
  /** Client for Streamable HTTP; undefined where only HTTP+SSE is configured. */
  readonly streamable: HttpClient | undefined;
  /** Client for HTTP+SSE. */
  readonly sse: HttpClient;
  readonly maxMessageSize: number;
  readonly account: Account;
  readonly handlers: RemoteHandlers;
  readonly markedIn: (tool: string) => readonly ParameterHeader[] | undefined;
}

/** A link to a server at an address: Streamable HTTP, or HTTP+SSE where the server knows only that. */
class RemoteLink implements Link {
  readonly #options: RemoteLinkOptions;
  #link: StreamableLink | SseLink;

  constructor(options: RemoteLinkOptions) {
    this.#options = options;
    this.#link =
      options.streamable === undefined
        ? this.#olderKind(options.handlers)
        : this.#newerKind(options.streamable);
  }

  /** The older kind is nothing but sessions. */
  get keepsSession(): boolean {
    return this.#link instanceof SseLink || this.#link.keepsSession;
  }

  get wasReached(): boolean {
    const { streamable, sse } = this.#options;
    return sse.wasReached || streamable?.wasReached === true;
  }

  get account(): Account {
    return this.#options.account;
  }

  get backlog(): number {
    return this.#link.backlog;
  }

  send(line: Line): void {
    this.#link.send(line);
  }

  pause(): void {
    this.#link.pause();
  }

  resume(): void {
    this.#link.resume();
  }

  close(): void {
    this.#link.close();
  }

  async end(): Promise<void> {
    await this.#link.end();
    this.#options.streamable?.close();
    this.#options.sse.close();
  }

  #newerKind(client: HttpClient): StreamableLink {
    const { maxMessageSize, account, handlers, markedIn } = this.#options;
    const refusedOpening = (opening: Message, what: string): void => this.#fallBack(opening, what);
    return new StreamableLink({ client, maxMessageSize, account, handlers, markedIn, refusedOpening });
  }

  #olderKind(handlers: RemoteHandlers): SseLink {
    const { sse: client, maxMessageSize, account } = this.#options;
    return new SseLink({ client, url: client.url, maxMessageSize, account, handlers });
  }

  /** If that fails as well, what the server said first is told too. */
  #fallBack(opening: Message, what: string): void {
    const { handlers } = this.#options;
    const lost = (id: number, then: string): void =>
      handlers.lost(id, id === Number(opening.id) ? `${what}; and as an HTTP+SSE server it ${then}` : then);
    this.#link = this.#olderKind({ ...handlers, lost });
    this.#link.send(splice(opening.bytes, []));
  }
}
