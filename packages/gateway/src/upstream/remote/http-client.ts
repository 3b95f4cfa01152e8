import { Holding, type Account } from '../../wire/account.ts';
import { inSlice, spend } from '../../wire/slices.ts';
import { Flow } from '../../wire/turns.ts';
import { CHAIN_HEADER } from '../gateway-chain.ts';
import {
  createSocketOpener,
  HttpConnection,
  type OpenSocket,
  type RequestHandlers,
  type HttpResponse,
} from './http-connection.ts';
import { describeFailure, describeRedirect, describeStatus } from './http-errors.ts';
import { commonLines, type HttpAuth } from './request-headers.ts';

export interface HttpRequest {
  readonly method: 'GET' | 'POST' | 'DELETE';
  /** Address, if not the server's own. */
  readonly url?: URL | undefined;
  /** Returns the lines of headers that this request alone has. Throws an `InvalidHeader` where one cannot be sent. */
  readonly headers?: () => string;
  readonly body?: Buffer;
  /** Small things that must get through while many calls are under way. */
  readonly isAside?: boolean;
}

/** Outcome of a request: exactly one of these is called, unless it is aborted. */
export interface HttpOutcome {
  response(response: HttpResponse): void;
  /** `what` ends a sentence that begins with the server's name. */
  failed(what: string): void;
}

export interface Abortable {
  abort(): void;
}

/** Requests of one kind that are in flight to one server at once; more are queued. */
const MOST_IN_FLIGHT = 256;
/** A request that is sent takes as long as so many elements of a slice, more where it needs a connection. */
const REQUEST_ELEMENTS = 16;
/** Memory that a queued request takes beside its body: objects, headers, listeners. */
const QUEUED_BYTES = 1024;

/** Loads what an address needs. */
export async function createHttpClient(url: URL, options: ClientContext): Promise<HttpClient> {
  return new HttpClient(await createSocketOpener(url), { url, ...options });
}

export interface ClientContext {
  readonly auth: HttpAuth;
  /** Headers of the gateway itself, by names in lower case. Those of `auth` replace the defaults. */
  readonly headers: Readonly<Record<string, string>>;
  readonly defaults?: Readonly<Record<string, string>>;
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

/** Requests that share connections. */
interface Lane {
  /** Connections without a request, the last used one last, which is the next one used. */
  readonly free: HttpConnection[];
  readonly busy: Set<HttpConnection>;
  readonly queue: Set<Queued>;
}

/** A request that waits until another one has ended. */
interface Queued {
  readonly bytes: number;
  start(): void;
}

/** Requests to one server. Nothing here ends a request that takes long, but for the time to connect. */
export class HttpClient {
  readonly #openSocket: OpenSocket;
  readonly #context: ClientContext;
  readonly #calls: Lane = createLane();
  readonly #asides: Lane = createLane();
  /** Bytes that no connection has taken yet. */
  readonly #unsent: Holding;
  readonly #flow = new Flow();
  #url: URL;
  /** The headers of `auth`, and the lines of every request made of them. */
  #authHeaders: Readonly<Record<string, string>> | undefined;
  #commonLines = '';
  /** The lines of a POST to the server's address that are always the same. */
  #postHead: string | undefined;
  #largest = 0;
  #wasReached = false;

  constructor(openSocket: OpenSocket, { url, ...context }: ClientOptions) {
    this.#openSocket = openSocket;
    this.#context = context;
    this.#url = url;
    this.#unsent = new Holding(context.account);
  }

  get url(): URL {
    return this.#url;
  }

  /** Counts what is held because of the server. */
  get account(): Account {
    return this.#context.account;
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
    for (const { free, busy, queue } of [this.#calls, this.#asides]) {
      queue.clear();
      for (const connection of [...free, ...busy]) connection.destroy();
    }
  }

  /** Starts a request now, or when another one has ended. Returns how it leaves the queue; undefined where it was started. */
  enqueue(request: HttpRequest, start: () => void): (() => void) | undefined {
    const lane = this.#laneOf(request);
    if (lane.busy.size < MOST_IN_FLIGHT) {
      start();
      return undefined;
    }
    const queued = { bytes: QUEUED_BYTES + (request.body?.length ?? 0), start };
    lane.queue.add(queued);
    this.#unsent.bytes += queued.bytes;
    return () => this.#dequeue(lane, queued);
  }

  #dequeue(lane: Lane, queued: Queued): void {
    if (lane.queue.delete(queued)) this.#unsent.bytes -= queued.bytes;
  }

  /** Tells an outcome, whose reader may throw. */
  tell(outcome: () => void): void {
    try {
      inSlice('response', this.#flow, outcome);
    } catch (error) {
      this.#context.failed(error as Error);
    }
  }

  /** Sends a request, which has a connection for itself until it is over. Throws an `InvalidHeader` where it cannot be sent. */
  open(request: HttpRequest, handlers: RequestHandlers): HttpConnection {
    const { body } = request;
    const head = this.#headOf(request);
    const lane = this.#laneOf(request);
    const connection = lane.free.pop() ?? this.#connect(lane);
    lane.busy.add(connection);
    spend(REQUEST_ELEMENTS, 0);
    const bytes = head.length + (body?.length ?? 0);
    this.#unsent.bytes += bytes;
    this.#largest = Math.max(this.#largest, bytes);
    connection.send(head, body, handlers, () => {
      this.#unsent.bytes -= bytes;
    });
    return connection;
  }

  /** Takes back the connection of a request that is over. */
  release(request: HttpRequest, connection: HttpConnection): void {
    const lane = this.#laneOf(request);
    lane.busy.delete(connection);
    if (connection.isUsable) lane.free.push(connection);
    for (const next of lane.queue) {
      if (lane.busy.size >= MOST_IN_FLIGHT) return;
      this.#dequeue(lane, next);
      next.start();
    }
  }

  #laneOf({ isAside = false }: HttpRequest): Lane {
    return isAside ? this.#asides : this.#calls;
  }

  #connect({ free }: Lane): HttpConnection {
    return new HttpConnection(this.#openSocket, this.#url.protocol === 'https:', {
      reached: () => {
        this.#wasReached = true;
      },
      closed: (connection) => {
        const place = free.indexOf(connection);
        if (place >= 0) free.splice(place, 1);
      },
    });
  }

  /** Returns the lines before the body. */
  #headOf({ method, url, headers, body }: HttpRequest): string {
    const common = this.#readAuth();
    const isUsual = method === 'POST' && url === undefined;
    const begin = isUsual
      ? (this.#postHead ??= begun(method, this.#url, common))
      : begun(method, url ?? this.#url, common);
    const own = headers === undefined ? begin : begin + headers();
    return body === undefined
      ? `${own}\r\n`
      : `${own}content-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n`;
  }

  #readAuth(): string {
    const { auth, defaults, headers } = this.#context;
    const current = auth.headers();
    if (current !== this.#authHeaders) {
      this.#commonLines = commonLines({ ...defaults, ...current, ...headers });
      this.#authHeaders = current;
      this.#postHead = undefined;
    }
    return this.#commonLines;
  }

  /** Describes a response that refuses a request, as the end of a sentence that begins with the server's name. */
  describeRefusal(response: HttpResponse, method: string): string {
    const { status } = response;
    const isRejected = status === 401 || status === 403;
    return describeStatus(status, method, isRejected ? this.#context.auth.rejected(response) : undefined);
  }

  answered({ headers }: HttpResponse): void {
    const reach = headers.get(CHAIN_HEADER);
    if (reach !== undefined) this.#context.onChain(reach);
  }

  movedTo(url: URL): void {
    this.#url = url;
    this.#postHead = undefined;
  }
}

function begun(method: string, url: URL, common: string): string {
  return `${method} ${url.pathname}${url.search} HTTP/1.1\r\nhost: ${url.host}\r\nconnection: keep-alive\r\n${common}`;
}

function createLane(): Lane {
  return { free: [], busy: new Set(), queue: new Set() };
}

/** One request, with the one redirection that it may take. */
class Sending implements Abortable, RequestHandlers {
  readonly #client: HttpClient;
  readonly #outcome: HttpOutcome;
  #request: HttpRequest;
  #connection: HttpConnection | undefined;
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
    this.#connection?.destroy();
  }

  #start(): void {
    try {
      this.#connection = this.#client.open(this.#request, this);
    } catch (error) {
      this.failed(error as Error);
    }
  }

  /** Reports the failure in a microtask, because `send` has to return first. */
  failed(error: Error): void {
    queueMicrotask(() => this.#fail(describeFailure(error, this.#address.origin)));
  }

  over(connection: HttpConnection): void {
    if (this.#connection === connection) this.#connection = undefined;
    this.#client.release(this.#request, connection);
  }

  get #address(): URL {
    return this.#request.url ?? this.#client.url;
  }

  #fail(what: string): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#client.tell(() => this.#outcome.failed(what));
  }

  started(response: HttpResponse): void {
    if (this.#isOver) return response.destroy();
    const { status } = response;
    if (status >= 300 && status < 400 && status !== 304)
      return this.#redirect(response, status, response.headers.get('location'));
    this.#isOver = true;
    this.#client.answered(response);
    this.#client.tell(() => this.#outcome.response(response));
  }

  /** Only within the same origin, only where the method stays, and only once: headers may hold secrets. */
  #redirect(response: HttpResponse, status: number, location: string | undefined): void {
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
