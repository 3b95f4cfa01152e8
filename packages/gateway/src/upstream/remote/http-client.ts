import { urlToHttpOptions } from 'node:url';
import { quoted } from '../../errors.ts';
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
import { describeFailure, describeRedirect, InvalidHeader } from './http-errors.ts';
import { headerLine } from './request-headers.ts';

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
  readonly #headers: Readonly<Record<string, string>>;
  readonly #onChain: ClientOptions['onChain'];
  readonly #failed: ClientOptions['failed'];
  readonly #calls: Lane = createLane();
  readonly #asides: Lane = createLane();
  readonly #account: Account;
  /** Bytes that no connection has taken yet. */
  readonly #unsent: Holding;
  readonly #flow = new Flow();
  readonly #configured: URL;
  #url: URL;
  /** The lines that the server's entry adds to every request. */
  #ownLines: string | undefined;
  /** The lines of a POST to the server's address that are always the same. */
  #postHead: string | undefined;
  #largest = 0;
  #wasReached = false;

  constructor(openSocket: OpenSocket, { url, headers, onChain, failed, account }: ClientOptions) {
    this.#openSocket = openSocket;
    this.#headers = headers;
    this.#onChain = onChain;
    this.#failed = failed;
    this.#configured = url;
    this.#url = url;
    this.#account = account;
    this.#unsent = new Holding(account);
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
      this.#failed(error as Error);
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
    return new HttpConnection(this.#openSocket(), this.#url.protocol === 'https:', {
      reached: () => {
        this.#wasReached = true;
      },
      closed: (connection) => {
        const place = free.indexOf(connection);
        if (place >= 0) free.splice(place, 1);
      },
    });
  }

  /** The lines before the body. */
  #headOf({ method, url, headers, body }: HttpRequest): string {
    const isUsual = method === 'POST' && url === undefined;
    let head = isUsual
      ? (this.#postHead ??= this.#begin(method, this.#url))
      : this.#begin(method, url ?? this.#url);
    for (const name of Object.keys(headers)) head += headerLine(name, headers[name] as string);
    if (body !== undefined) head += `content-type: application/json\r\ncontent-length: ${body.length}\r\n`;
    return `${head}\r\n`;
  }

  #begin(method: string, url: URL): string {
    this.#ownLines ??= ownLines(this.#configured, this.#headers);
    return `${method} ${url.pathname}${url.search} HTTP/1.1\r\nhost: ${url.host}\r\nconnection: keep-alive\r\n${this.#ownLines}`;
  }

  answered({ headers }: HttpResponse): void {
    const reach = headers.get(CHAIN_HEADER);
    if (reach !== undefined) this.#onChain(reach);
  }

  movedTo(url: URL): void {
    this.#url = url;
    this.#postHead = undefined;
  }
}

function createLane(): Lane {
  return { free: [], busy: new Set(), queue: new Set() };
}

/** The lines that a server's entry adds to every request; headers that the protocol defines are not the entry's to set. */
function ownLines(url: URL, headers: Readonly<Record<string, string>>): string {
  const own = Object.entries(headers).filter(([name]) => !OURS.test(name));
  const isAuthorized = own.some(([name]) => name.toLowerCase() === 'authorization');
  const { auth } = urlToHttpOptions(url);
  if (auth && !isAuthorized) own.push(['authorization', `Basic ${Buffer.from(auth).toString('base64')}`]);
  const wrong = own.find(([name]) => !TOKEN.test(name));
  if (wrong !== undefined)
    throw new InvalidHeader(`${JSON.stringify(quoted(wrong[0]))} is no name of a header`);
  return own.map(([name, value]) => headerLine(name, value)).join('');
}

const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/u;
const OURS =
  /^(?:host|connection|transfer-encoding|accept|content-type|content-length|last-event-id|mcp-.*)$/iu;

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

  /** Tells it later, so that nobody hears of the end before the beginning. */
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
