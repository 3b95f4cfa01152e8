import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ServerNotifier } from '@modelcontextprotocol/server';
import { createMcpEndpoint, type HttpServingOptions } from './mcp-endpoint.ts';
import { nodeExchange, type NodeRequest } from './node-exchange.ts';
import { type AllowedNames, createAccessDecision } from './request-access.ts';
import { requireFactory, type ServerFactory } from './server-factory.ts';

export interface HttpMcpRouterOptions extends HttpServingOptions, AllowedNames {
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

/** Makes a router that serves MCP at the path where it is mounted, and leaves paths beneath it to others. */
export function createHttpMcpRouter(options: HttpMcpRouterOptions): McpRouter {
  return createRouterAt(options);
}

/** The same for a server that listens on `host`, which is the name that clients call it by. */
export function createRouterAt({ mcpServer, ...options }: HttpMcpRouterOptions, host?: string): McpRouter {
  requireFactory(mcpServer, 'mcpServer');
  const endpoint = createMcpEndpoint({ ...options, serverFactory: mcpServer });
  const decide = createAccessDecision(options, host);
  const router = (req: NodeRequest, res: ServerResponse, next?: (error?: unknown) => void): void => {
    if (next !== undefined && !isRoot(req.url)) return next();
    const { localAddress, localPort } = req.socket;
    const { method = 'GET', headers } = req;
    const end = { localAddress, localPort, isEncrypted: 'encrypted' in req.socket };
    const access = decide({ method, host: headers.host, origin: headers.origin }, end);
    if (!access.isAllowed) return access.answer(nodeExchange(req, res));
    void endpoint.handle(nodeExchange(req, res, access.headers));
  };
  return Object.assign(router, { notify: endpoint.notify, close: endpoint.close });
}

function isRoot(url = '/'): boolean {
  return url === '/' || url === '' || url.startsWith('/?') || url.startsWith('?');
}
