import type { Agent, ClientRequest, IncomingMessage, RequestOptions } from 'node:http';
import type { Socket } from 'node:net';
import { urlToHttpOptions } from 'node:url';
import { Holding, type Account } from '../../wire/account.ts';
import { inSlice, spend } from '../../wire/slices.ts';
import { Flow } from '../../wire/turns.ts';
import { CHAIN_HEADER } from '../chain.ts';
import {
  closedUnanswered,
  CONNECT_MS,
  connectTimeout,
  describeFailure,
  describeRedirect,
} from './http-errors.ts';
import { headerOf } from './response-header.ts';

/** The part of `node:http` or `node:https` that is needed, loaded when there is a server to reach. */
interface HttpModule {
  Agent: new (options: { keepAlive: boolean; maxSockets: number; scheduling: 'lifo' }) => Agent;
  request(options: RequestOptions): ClientRequest;
}

export interface HttpRequest {
  readonly method: 'GET' | 'POST' | 'DELETE';
  /** Where to, if not the server's own address. */
  readonly url?: URL | undefined;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Buffer;
  /** Small things that must get through while many calls are under way. */
  readonly isAside?: boolean;
}

/** What becomes of a request: exactly one of these is called, unless it is aborted. */
export interface HttpOutcome {
  response(response: IncomingMessage): void;
  /** `what` ends a sentence that begins with the server's name. */
  failed(what: string): void;
}

export interface Abortable {
  abort(): void;
}

/** Requests of one kind that are in flight to one server at once; more are queued. */
const MOST_IN_FLIGHT = 256;
/** A request that is handed to Node takes as long as so many elements of a slice, more where it needs a connection. */
const REQUEST_ELEMENTS = 16;
/** Memory that a queued request takes beside its body: objects, headers, listeners. */
const QUEUED_BYTES = 1024;
/** An unused connection is given up before the usual server does, so that no call meets one that is just being closed. */
const IDLE_MS = 4000;
const KEEP_ALIVE_MS = 30_000;
/** Larger bodies are not copied. */
const SMALL = 16 * 1024;

/** Loads what an address needs. */
export async function createHttpClient(url: URL, options: ClientContext): Promise<HttpClient> {
  const http = url.protocol === 'https:' ? await import('node:https') : await import('node:http');
  return new HttpClient(http, { url, ...options });
}

export interface ClientContext {
  readonly headers: Readonly<Record<string, string>>;
  /** The server is a gateway, and says which others it leads to. */
  readonly onChain: (reach: string) => void;
  /** An outcome could not be worked off, through a mistake of ours. */
  readonly failed: (error: Error) => void;
  /** Counts what waits for the server. */
  readonly account: Account;
}

interface ClientOptions extends ClientContext {
  readonly url: URL;
}

/** Requests that share connections. Those that cannot be sent yet wait here, because one that was handed to Node takes 6 KB. */
interface Lane {
  readonly agent: Agent;
  readonly queue: Set<Queued>;
  inFlight: number;
}

/** A request that waits until another one has ended. */
interface Queued {
  readonly bytes: number;
  start(): void;
}

/** Requests to one server. Nothing here ends a request that takes long, but for the time to connect. */
export class HttpClient {
  readonly #http: HttpModule;
  readonly #configured: readonly string[];
  readonly #onChain: ClientOptions['onChain'];
  readonly #failed: ClientOptions['failed'];
  readonly #calls: Lane;
  readonly #asides: Lane;
  readonly #account: Account;
  /** Bytes that no connection has taken yet. */
  readonly #unsent: Holding;
  #url: URL;
  #target: RequestOptions;
  #largest = 0;
  readonly #flow = new Flow();
  #wasReached = false;

  constructor(http: HttpModule, { url, headers, onChain, failed, account }: ClientOptions) {
    this.#http = http;
    this.#onChain = onChain;
    this.#failed = failed;
    this.#url = url;
    this.#target = urlToHttpOptions(url);
    this.#configured = configuredHeaders(url, headers);
    this.#account = account;
    this.#unsent = new Holding(account);
    this.#calls = { agent: createAgent(http), queue: new Set(), inFlight: 0 };
    this.#asides = { agent: createAgent(http), queue: new Set(), inFlight: 0 };
  }

  get url(): URL {
    return this.#url;
  }

  /** Counts what is held because of the server. */
  get account(): Account {
    return this.#account;
  }

  /** True once the server's address has accepted a connection, whatever was said on it. */
  get wasReached(): boolean {
    return this.#wasReached;
  }

  /** Bytes that no connection has taken yet. The largest request is left out: it alone may be more than should wait. */
  get backlog(): number {
    const { bytes } = this.#unsent;
    if (bytes === 0) this.#largest = 0;
    return Math.max(0, bytes - this.#largest);
  }

  send(request: HttpRequest, outcome: HttpOutcome): Abortable {
    return new Sending(this, request, outcome);
  }

  close(): void {
    for (const { agent, queue } of [this.#calls, this.#asides]) {
      queue.clear();
      agent.destroy();
    }
  }

  /** Starts a request now, or when another one has ended. Returns how it leaves the queue; undefined where it was started. */
  enqueue({ isAside = false, body }: HttpRequest, start: () => void): (() => void) | undefined {
    const lane = isAside ? this.#asides : this.#calls;
    if (lane.inFlight < MOST_IN_FLIGHT) {
      start();
      return undefined;
    }
    const queued = { bytes: QUEUED_BYTES + (body?.length ?? 0), start };
    lane.queue.add(queued);
    this.#unsent.bytes += queued.bytes;
    return () => this.#dequeue(lane, queued);
  }

  #dequeue(lane: Lane, queued: Queued): void {
    if (lane.queue.delete(queued)) this.#unsent.bytes -= queued.bytes;
  }

  #ended(lane: Lane): void {
    lane.inFlight--;
    const [next] = lane.queue;
    if (next === undefined) return;
    this.#dequeue(lane, next);
    next.start();
  }

  /** Tells an outcome, whose reader may throw. */
  tell(outcome: () => void): void {
    try {
      inSlice('response', this.#flow, outcome);
    } catch (error) {
      this.#failed(error as Error);
    }
  }

  /** Throws where a configured header cannot be sent. */
  open({ method, url = this.#url, headers, body, isAside = false }: HttpRequest): ClientRequest {
    const lane = isAside ? this.#asides : this.#calls;
    const sent = this.#http.request({
      ...(url === this.#url ? this.#target : urlToHttpOptions(url)),
      method,
      agent: lane.agent,
      headers: this.#headersOf(url, headers, body),
    });
    lane.inFlight++;
    spend(REQUEST_ELEMENTS, 0);
    sent.once('close', () => this.#ended(lane));
    if (body === undefined) return sent.end();
    this.#count(sent, body.length);
    // As a text it leaves together with the headers, in one piece.
    return body.length < SMALL ? sent.end(body.toString('latin1'), 'latin1') : sent.end(body);
  }

  /** Name, value, name, value: Node takes them fastest so, but then adds no Host. */
  #headersOf({ host }: URL, headers: HttpRequest['headers'], body: Buffer | undefined): string[] {
    const list = ['host', host, ...this.#configured];
    for (const name of Object.keys(headers)) list.push(name, headers[name] as string);
    if (body !== undefined)
      list.push('content-type', 'application/json', 'content-length', String(body.length));
    return list;
  }

  reached(): void {
    this.#wasReached = true;
  }

  answered(response: IncomingMessage): void {
    if (headerOf(response, CHAIN_HEADER) === undefined) return;
    const reach = response.headers[CHAIN_HEADER];
    if (typeof reach === 'string') this.#onChain(reach);
  }

  movedTo(url: URL): void {
    this.#url = url;
    this.#target = urlToHttpOptions(url);
  }

  #count(sent: ClientRequest, bytes: number): void {
    this.#unsent.bytes += bytes;
    this.#largest = Math.max(this.#largest, bytes);
    let isTaken = false;
    const taken = (): void => {
      if (!isTaken) this.#unsent.bytes -= bytes;
      isTaken = true;
    };
    sent.once('finish', taken).once('close', taken);
  }
}

/** What a server's entry adds to every request; what the protocol says in headers of its own is not the entry's to say. */
function configuredHeaders(url: URL, headers: Readonly<Record<string, string>>): string[] {
  const own = Object.entries(headers).filter(([name]) => !OURS.test(name));
  const isAuthorized = own.some(([name]) => name.toLowerCase() === 'authorization');
  const { auth } = urlToHttpOptions(url);
  if (auth && !isAuthorized) own.push(['authorization', `Basic ${Buffer.from(auth).toString('base64')}`]);
  return own.flat();
}

const OURS = /^(?:host|accept|content-type|content-length|last-event-id|mcp-.*)$/iu;

/** All its connections lead to one server, and none is given up while it is used: Node's own looks after both for every request. */
function createAgent(http: HttpModule): Agent {
  class OneServerAgent extends http.Agent {
    override getName(): string {
      return '';
    }

    override keepSocketAlive(socket: Socket): boolean {
      // Its type forgets to say what it returns.
      const isKept = super.keepSocketAlive(socket) as unknown as boolean;
      socket.setTimeout(IDLE_MS);
      return isKept;
    }

    override reuseSocket(socket: Socket, request: ClientRequest): void {
      socket.setTimeout(0);
      super.reuseSocket(socket, request);
    }
  }
  return new OneServerAgent({ keepAlive: true, scheduling: 'lifo', maxSockets: MOST_IN_FLIGHT });
}

/** One request, with the one redirection that it may take. */
class Sending implements Abortable {
  readonly #client: HttpClient;
  readonly #outcome: HttpOutcome;
  #request: HttpRequest;
  #sent: ClientRequest | undefined;
  #leaveQueue: (() => void) | undefined;
  #isRedirected = false;
  #isOver = false;

  constructor(client: HttpClient, request: HttpRequest, outcome: HttpOutcome) {
    this.#client = client;
    this.#request = request;
    this.#outcome = outcome;
    this.#leaveQueue = client.enqueue(request, () => this.#start());
  }

  abort(): void {
    this.#isOver = true;
    this.#leaveQueue?.();
    this.#sent?.destroy();
  }

  #start(): void {
    try {
      const sent = this.#client.open(this.#request);
      this.#sent = sent;
      sent.on('error', (error) => this.#fail(describeFailure(error, this.#address.origin)));
      sent.once('socket', (socket) => this.#limitConnecting(sent, socket));
      sent.once('response', (response) => this.#receive(response));
      // A server that answers by changing the protocol makes neither an error nor a response.
      sent.once('close', () => this.#sent === sent && this.#fail(closedUnanswered(this.#address.origin)));
    } catch (error) {
      // Later, so that nobody hears of the end before the beginning.
      queueMicrotask(() =>
        this.#fail(`cannot be asked: ${(error as Error).message}; check "headers" in its entry`),
      );
    }
  }

  get #address(): URL {
    return this.#request.url ?? this.#client.url;
  }

  #fail(what: string): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#client.tell(() => this.#outcome.failed(what));
  }

  #limitConnecting(sent: ClientRequest, socket: Socket): void {
    if (!socket.connecting) return;
    // So that a stream on which nothing comes for hours is known to be alive.
    socket.setKeepAlive(true, KEEP_ALIVE_MS);
    const timer = setTimeout(() => {
      this.#fail(connectTimeout(this.#address.origin));
      sent.destroy();
    }, CONNECT_MS);
    const connected = this.#address.protocol === 'https:' ? 'secureConnect' : 'connect';
    // A connection outlives its first request, which its listeners would keep.
    const stop = (): void => {
      clearTimeout(timer);
      socket.off(connected, stop).off('close', stop);
    };
    socket.once('connect', () => this.#client.reached());
    socket.on(connected, stop).on('close', stop);
  }

  #receive(response: IncomingMessage): void {
    // What happens to a response after its head is its reader's; without a listener an error would end the process.
    response.on('error', () => {});
    if (this.#isOver) return void response.destroy();
    const { statusCode: status = 0 } = response;
    if (status >= 300 && status < 400 && status !== 304)
      return this.#redirect(response, status, response.headers.location);
    this.#isOver = true;
    this.#client.answered(response);
    this.#client.tell(() => this.#outcome.response(response));
  }

  /** Only within the same origin, only where the method stays, and only once: headers may hold secrets. */
  #redirect(response: IncomingMessage, status: number, location: string | undefined): void {
    response.resume();
    const from = this.#address;
    const to =
      location !== undefined && URL.canParse(location, from.href) ? new URL(location, from) : undefined;
    const isAllowed = (status === 307 || status === 308) && to?.origin === from.origin && !this.#isRedirected;
    if (to === undefined || !isAllowed) return this.#fail(describeRedirect(status, to, from.origin));
    this.#isRedirected = true;
    if (status === 308 && this.#request.url === undefined) this.#client.movedTo(to);
    this.#request = { ...this.#request, url: to };
    this.#start();
  }
}
