import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { ServerNotifier } from '@modelcontextprotocol/server';
import { isLoopback, urlOf } from '../access/addresses.ts';
import { createRouterAt, type McpRouter, type StallLimit } from './http-router.ts';
import { explainListenError } from './listen-error.ts';
import { CLOSE_TIMEOUT_MS, type HttpServingOptions } from './mcp-endpoint.ts';
import type { AllowedNames } from './request-access.ts';
import { requireFactory, type ServerFactory } from './server-factory.ts';
import { createStderrLogger } from './stderr-logger.ts';

/** An Express application, or anything else that mounts handlers and answers requests. */
export interface HttpApp {
  (request: IncomingMessage, response: ServerResponse): unknown;
  use(path: string, handler: McpRouter): unknown;
}

export interface SetupHttpServerOptions extends HttpServingOptions, AllowedNames, StallLimit {
  /** Makes a server for each request since 2026-07-28, and for each session before. */
  readonly serverFactory: ServerFactory;
  /** Application at which `/mcp` is mounted; without one, the server answers nothing else. */
  readonly app?: HttpApp | undefined;
  /** Port to listen on; 0 takes any free one. */
  readonly port: number;
  /** Address to listen on; 127.0.0.1 by default. */
  readonly host?: string | undefined;
}

/** A listening server. */
export interface HttpServerHandle {
  readonly httpServer: Server;
  /** URL of the endpoint, as clients of this machine need it. */
  readonly url: string;
  /** Tells clients that lists or resources have changed. */
  readonly notify: ServerNotifier;
  /** Stops listening, answers requests in flight, and ends streams and sessions. A second call waits for the first. */
  readonly close: () => Promise<void>;
}

const ENDPOINT = '/mcp';
const HOST = '127.0.0.1';
const MOST_PORT = 65_535;
/** Time for all headers of a request: against slow loris. */
const HEADERS_TIMEOUT_MS = 10_000;
/** Time for a whole request, a body of some megabytes over a slow line included. */
const REQUEST_TIMEOUT_MS = 60_000;
/** Time between two looks for idle connections while the server closes. */
const SWEEP_MS = 20;
/** Time for bytes that are written but not yet sent. */
const LAST_BYTES_MS = 250;
/** More than the 60 s for which load balancers keep connections, because the end that closes first must be theirs. */
const CONNECTION_IDLE_MS = 65_000;

/** Serves MCP over HTTP at `/mcp`, to clients of both eras; resolves when it listens. */
export async function setupHttpServer(options: SetupHttpServerOptions): Promise<HttpServerHandle> {
  const { serverFactory, app, port, host = HOST, closeTimeoutMs = CLOSE_TIMEOUT_MS } = options;
  const { logger = createStderrLogger() } = options;
  requirePort(port);
  requireFactory(serverFactory, 'serverFactory');
  const router = createRouterAt({ ...options, logger, mcpServer: serverFactory }, host);
  app?.use(ENDPOINT, router);
  const httpServer = createServer(app ?? atEndpoint(router));
  const connections = connectionsOf(httpServer);
  httpServer.headersTimeout = HEADERS_TIMEOUT_MS;
  httpServer.requestTimeout = REQUEST_TIMEOUT_MS;
  httpServer.keepAliveTimeout = CONNECTION_IDLE_MS;
  await listen(httpServer, port, host);
  const url = `${urlOf(host, (httpServer.address() as AddressInfo).port)}${ENDPOINT}`;
  logger.info(`MCP server listens at ${url}`);
  if (!isLoopback(host))
    logger.warn(
      `The server listens on ${host}: every machine that reaches it may call it, unless you check tokens`,
    );
  let closing: Promise<void> | undefined;
  return {
    httpServer,
    url,
    notify: router.notify,
    close: () => (closing ??= close(httpServer, connections, router, closeTimeoutMs)),
  };
}

function requirePort(port: number | undefined): void {
  if (port === undefined) throw new Error('Port is required for HTTP transport');
  if (!Number.isInteger(port) || port < 0 || port > MOST_PORT)
    throw new RangeError(
      `port must be a whole number from 1 to ${MOST_PORT}, or 0 for any free one, not ${String(port)}`,
    );
}

/** Answers at the endpoint and nowhere else. */
function atEndpoint(router: McpRouter): RequestListener {
  return (req: IncomingMessage, res: ServerResponse) => {
    const path = req.url?.split('?', 1)[0];
    if (path === ENDPOINT || path === `${ENDPOINT}/`) return router(req, res);
    res.writeHead(404, { 'Content-Type': 'application/json' });
    res.end(JSON.stringify({ error: `There is nothing at this path: the MCP endpoint is ${ENDPOINT}` }));
  };
}

function listen(server: Server, port: number, host: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error) => reject(explainListenError(error, host, port)));
    server.listen(port, host, () => {
      server.removeAllListeners('error');
      resolve();
    });
  });
}

/** Open connections, whatever came over them. */
function connectionsOf(server: Server): ReadonlySet<Socket> {
  const connections = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    connections.add(socket);
    socket.on('close', () => connections.delete(socket));
  });
  return connections;
}

async function close(
  server: Server,
  connections: ReadonlySet<Socket>,
  router: McpRouter,
  timeoutMs: number,
): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  const closeIdle = (): void => {
    server.closeIdleConnections();
    // Node takes those for busy, and some clients open connections in advance.
    for (const socket of connections) if (socket.bytesRead === 0) socket.destroy();
  };
  closeIdle();
  // A connection that is kept open becomes idle when its last answer is sent.
  const sweep = setInterval(closeIdle, SWEEP_MS);
  const limit = setTimeout(() => server.closeAllConnections(), timeoutMs + LAST_BYTES_MS);
  await router.close();
  closeIdle();
  await closed;
  clearInterval(sweep);
  clearTimeout(limit);
}
