import type { Server } from 'node:http';
import type { Gateway } from '../../gateway/gateway.ts';
import type { Implementation } from '../../protocol/eras.ts';
import { Admission, bracketed, isLoopback } from './access.ts';
import type { HttpFront } from './http-front.ts';

export interface HttpOptions {
  /** Host to listen on; 127.0.0.1 by default. */
  readonly host?: string;
  /** 8808 by default; 0 takes any free port. */
  readonly port?: number;
  /** Bearer token of clients. Required unless the host is a loopback address. */
  readonly token?: string | undefined;
  /** Further values that the Host header may have, behind a proxy for example. */
  readonly allowedHosts?: readonly string[];
  readonly serverInfo: Implementation;
  /** Bytes; 4 MiB by default. */
  readonly maxBodySize?: number;
  readonly limits?: Partial<HttpLimits>;
  /** Serves /metrics without a token. */
  readonly metricsPublic?: boolean;
}

/** Times are milliseconds. */
export interface HttpLimits {
  readonly maxSessions: number;
  /** Without a request and without a stream a session is ended after this time. */
  readonly sessionIdle: number;
  /** For the headers of a request to arrive, and for the whole of it. */
  readonly headers: number;
  readonly request: number;
  /** For answers under way when the end has come. */
  readonly drain: number;
}

export const DEFAULT_PORT = 8808;
const DEFAULT_HOST = '127.0.0.1';
const DEFAULT_LIMITS: HttpLimits = {
  maxSessions: 1000,
  sessionIdle: 30 * 60 * 1000,
  headers: 10_000,
  request: 30_000,
  drain: 5000,
};
/** A little more than what load balancers allow, so that they close first. */
const KEEP_ALIVE_MS = 65_000;
const MOST_CONNECTIONS = 10_000;
/** All headers of a request together; it bounds their number, too. */
const MOST_HEADER_BYTES = 16 * 1024;

/** Serves clients of both eras at one address, and starts the servers; resolves once it listens. */
export async function serveHttp(gateway: Gateway, options: HttpOptions): Promise<HttpFront> {
  const { host = DEFAULT_HOST, port = DEFAULT_PORT, token } = options;
  if (token === undefined && !isLoopback(host))
    throw new Error(`Weir serves without a token only on this machine, not on ${host}: listen on 127.0.0.1`);
  // Loaded only here: together they take longer than the whole boot of the command on stdio.
  const [http, crypto, { composeFront }] = await Promise.all([
    import('node:http'),
    import('node:crypto'),
    import('./compose-front.ts'),
  ]);
  const limits = { ...DEFAULT_LIMITS, ...options.limits };
  const server = http.createServer({
    headersTimeout: limits.headers,
    requestTimeout: limits.request,
    keepAliveTimeout: KEEP_ALIVE_MS,
    connectionsCheckingInterval: Math.min(limits.headers / 2, 5000),
    maxHeaderSize: MOST_HEADER_BYTES,
  });
  // Node would drop the headers after the 2,000th without a word; an Origin among them has to be seen.
  server.maxHeadersCount = 0;
  server.maxConnections = MOST_CONNECTIONS;
  await gateway.fronts.lifecycle.prepare();
  const listensAt = await listen(server, host, port);
  const admission = new Admission({ ...options, host, port: listensAt, isSame: crypto.timingSafeEqual });
  return composeFront(gateway, {
    ...options,
    server,
    address: `http://${bracketed(host)}:${listensAt}`,
    admission,
    limits,
    createId: crypto.randomUUID,
  });
}

async function listen(server: Server, host: string, port: number): Promise<number> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.off('error', reject);
      resolve();
    });
  });
  return (server.address() as { port: number }).port;
}
