import { Texts, quoted, RpcError, RpcErrorCode } from '../../errors.ts';
import type { FrontServices } from '../../gateway/front-services.ts';
import { ALL_CAPABILITIES } from '../../protocol/capabilities.ts';
import { now } from '../../time/clock.ts';
import type { Admission } from './access.ts';
import { PATH, SSE_PATH, type McpEndpoint } from './mcp-endpoint.ts';
import { checkTarget, pathOf, type HttpRoute } from './request-target.ts';
import { methodNotAllowed, refuse, type HttpRefusal } from './respond.ts';
import type { ConnectionHandlers } from './server/client-connection.ts';
import type { HttpServer } from './server/http-server.ts';
import type { IncomingRequest } from './server/incoming-request.ts';
import type { OutgoingResponse } from './server/outgoing-response.ts';

/** Time for the first clients to read their lists from the cache, because spawning processes would delay them. */
const START_AFTER_MS = 200;
/** Time for clients to read the last responses before their connections are closed. */
const LAST_WRITE_MS = 500;

export interface FrontOptions {
  readonly url: string;
  readonly server: HttpServer;
  readonly admission: Admission;
  readonly endpoint: McpEndpoint;
  readonly routes: readonly HttpRoute[];
  /** Milliseconds for requests in flight at the shutdown. */
  readonly drainTime: number;
}

/** Serves a gateway over HTTP, and starts and stops it. */
export class HttpFront {
  readonly url: string;
  /** Milliseconds that the shutdown waits for requests in flight. */
  readonly drainTime: number;
  /** Settles when the front has closed; rejects where the start of the servers fails. */
  readonly ended: Promise<void>;
  readonly #gateway: FrontServices;
  readonly #server: HttpServer;
  readonly #admission: Admission;
  readonly #endpoint: McpEndpoint;
  readonly #routes: ReadonlyMap<string, HttpRoute>;
  #end: (failure?: Error) => void = () => {};
  #startTimer: NodeJS.Timeout | undefined;
  #closing: Promise<void> | undefined;

  constructor(gateway: FrontServices, { url, server, admission, endpoint, routes, drainTime }: FrontOptions) {
    this.url = url;
    this.drainTime = drainTime;
    this.#gateway = gateway;
    this.#server = server;
    this.#admission = admission;
    this.#endpoint = endpoint;
    this.#routes = new Map(routes.map((route) => [route.path, route]));
    this.ended = new Promise((resolve, reject) => {
      this.#end = (failure) => (failure === undefined ? resolve() : reject(failure));
    });
    this.ended.catch(() => {});
    const { log, accounts } = gateway;
    const handlers: ConnectionHandlers = {
      openAccount: (exceeded) =>
        accounts.open((reason) => {
          log.warn(Texts.clientDisconnected(reason));
          exceeded();
        }),
      request: (req, res) => this.#handle(req, res),
      refuse: (res, status, why) =>
        refuse(res, { status, error: new RpcError(RpcErrorCode.INVALID_REQUEST, why) }),
      failed: ({ stack, message }) =>
        log.error(`Internal error while handling an HTTP request: ${stack ?? message}`),
    };
    server.serve(handlers, ({ message }) => log.error(`HTTP server error: ${message}`));
    this.#open();
  }

  /** Open sessions, and streams and requests in flight. */
  get load(): McpEndpoint['load'] {
    return this.#endpoint.load;
  }

  /** Number of requests whose client waits for an answer. */
  get awaited(): number {
    return this.#endpoint.awaited;
  }

  get isClosing(): boolean {
    return this.#closing !== undefined;
  }

  /** Waits for requests in flight within `drainTime`, then ends clients and servers. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  /** Starts the servers at once, or a little later where their lists are cached. */
  #open(): void {
    // Clients differ, so servers may ask anything; a client that lacks a capability gets an error when it is asked.
    this.#gateway.lifecycle.declareCapabilities(ALL_CAPABILITIES);
    if (!this.#gateway.lifecycle.isReady) this.#start();
    else this.#startTimer = setTimeout(() => this.#start(), START_AFTER_MS);
  }

  #start(): void {
    this.#gateway.lifecycle.start().catch((error: unknown) => {
      this.#closing ??= this.#close(error as Error);
    });
  }

  async #close(failure?: Error): Promise<void> {
    clearTimeout(this.#startTimer);
    this.#endpoint.refuseNew();
    const closed = this.#server.close();
    await this.#drain();
    this.#endpoint.close();
    await Promise.race([closed, sleep(LAST_WRITE_MS)]);
    this.#server.destroy();
    await this.#gateway.lifecycle.close();
    this.#end(failure);
  }

  async #drain(): Promise<void> {
    const deadline = now() + this.drainTime;
    while (this.awaited > 0 && now() < deadline) await sleep(20);
  }

  #handle(req: IncomingRequest, res: OutgoingResponse): void {
    const refusal = checkTarget(req) ?? this.#admission.checkHostAndOrigin(req);
    if (refusal !== undefined) return refuse(res, refusal);
    const path = pathOf(req.url);
    const route = this.#routes.get(path) ?? this.#routes.get(path.slice(0, path.indexOf('/', 1) + 1));
    if (route === undefined) return refuse(res, notFound(path));
    const principal = route.needsToken ? this.#admission.identify(req) : '';
    if (typeof principal !== 'string') return refuse(res, principal);
    const { methods } = route;
    if (methods?.includes(req.method) === false)
      return refuse(res, methodNotAllowed(req.method, methods.join(', ')));
    route.handle(req, res, principal);
  }
}

function notFound(path: string): HttpRefusal {
  const text = `Nothing is served at ${quoted(path)}. Use ${PATH} (Streamable HTTP) or ${SSE_PATH} (HTTP+SSE).`;
  return { status: 404, error: new RpcError(RpcErrorCode.UNAVAILABLE, text) };
}

function sleep(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
