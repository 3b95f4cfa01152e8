import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ServerNotifier } from '@modelcontextprotocol/server';
import { createMcpEndpoint, type HttpServingOptions } from './mcp-endpoint.ts';
import { nodeExchange, type NodeRequest } from './node-exchange.ts';
import { refuse, Refusals } from './refusals.ts';
import { type AllowedNames, createAccessDecision } from './request-access.ts';
import { requireFactory, type ServerFactory } from './server-factory.ts';

/** The limit for clients that do not read; with `fetch`, reading is the affair of the runtime. */
export interface StallLimit {
  /** Time after which a client that takes no byte of its answer is cut off; 30 s by default. */
  readonly stallMs?: number | undefined;
}

export interface HttpMcpRouterOptions extends HttpServingOptions, AllowedNames, StallLimit {
  /** Makes a server for each client; a server itself is refused. */
  readonly mcpServer: ServerFactory;
}

/** A request handler for `app.use('/mcp', router)` of Express, and for `http.createServer(router)`. */
export interface McpRouter {
  (req: IncomingMessage, res: ServerResponse, next?: (error?: unknown) => void): void;
  /** Tells clients that lists or resources have changed. */
  readonly notify: ServerNotifier;
  /** Answers requests in flight, and ends streams and sessions. */
  readonly close: () => Promise<void>;
}

const STALL_MS = 30_000;
/** Node's timers take no longer time. */
const MOST_MS = 2 ** 31 - 1;

/** Makes a router that serves MCP at the path where it is mounted, and leaves paths beneath it to others. */
export function createHttpMcpRouter(options: HttpMcpRouterOptions): McpRouter {
  return createRouterAt(options);
}

/** The same for a server that listens on `host`, which is the name that clients call it by. */
export function createRouterAt({ mcpServer, ...options }: HttpMcpRouterOptions, host?: string): McpRouter {
  requireFactory(mcpServer, 'mcpServer');
  const { stallMs = STALL_MS } = options;
  requireTime('stallMs', stallMs);
  const endpoint = createMcpEndpoint({ ...options, serverFactory: mcpServer });
  const decide = createAccessDecision(options, host);
  const router = (req: NodeRequest, res: ServerResponse, next?: (error?: unknown) => void): void => {
    if (next !== undefined && !isRoot(req.url)) return next();
    const { localAddress, localPort } = req.socket;
    const { method = 'GET', headers } = req;
    const end = { localAddress, localPort, isEncrypted: 'encrypted' in req.socket };
    if (hasTwoHosts(req.rawHeaders)) return refuse(nodeExchange(req, res, { stallMs }), Refusals.twoHosts());
    const access = decide({ method, host: headers.host, origin: headers.origin }, end);
    if (!access.isAllowed) return access.answer(nodeExchange(req, res, { stallMs }));
    void endpoint.handle(nodeExchange(req, res, { extraHeaders: access.headers, stallMs }));
  };
  return Object.assign(router, { notify: endpoint.notify, close: endpoint.close });
}

function isRoot(url = '/'): boolean {
  return url === '/' || url === '' || url.startsWith('/?') || url.startsWith('?');
}

/** Node takes the first of two Host headers, and a proxy in front may have taken the second. */
function hasTwoHosts(rawHeaders: readonly string[]): boolean {
  let count = 0;
  for (let at = 0; at < rawHeaders.length; at += 2)
    if (rawHeaders[at]?.length === 4 && rawHeaders[at]?.toLowerCase() === 'host') count++;
  return count > 1;
}

function requireTime(option: string, ms: number): void {
  if (ms >= 1 && ms <= MOST_MS) return;
  throw new RangeError(`${option} must be a number of milliseconds from 1 to ${MOST_MS}, not ${String(ms)}`);
}
