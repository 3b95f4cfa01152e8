import { bracketed, isLoopback } from '@weir/server/access';
import type { Gateway } from '../../gateway/gateway.ts';
import type { Implementation } from '../../protocol/eras.ts';
import { Admission } from './access.ts';
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
export const DEFAULT_LIMITS: HttpLimits = {
  maxSessions: 1000,
  sessionIdle: 30 * 60 * 1000,
  headers: 10_000,
  request: 30_000,
  drain: 5000,
};
/** Serves clients of both eras at one address, and starts the servers; resolves once it listens. */
export async function serveHttp(gateway: Gateway, options: HttpOptions): Promise<HttpFront> {
  const { host = DEFAULT_HOST, port = DEFAULT_PORT, token } = options;
  if (token === undefined && !isLoopback(host))
    throw new Error(`Weir serves without a token only on this machine, not on ${host}: listen on 127.0.0.1`);
  // Loaded only here: together they take longer than the whole boot of the command on stdio.
  const [crypto, { composeFront, HttpServer }] = await Promise.all([
    import('node:crypto'),
    import('./compose-front.ts'),
  ]);
  const limits = { ...DEFAULT_LIMITS, ...options.limits };
  const server = new HttpServer(limits);
  await gateway.fronts.lifecycle.prepare();
  const listensAt = await server.listen(host, port);
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
