import type { Server } from 'node:http';
import type { Gateway } from '../../gateway/gateway.ts';
import type { Implementation } from '../../protocol/eras.ts';
import type { Admission } from './access.ts';
import { HttpFront } from './http-front.ts';
import { McpEndpoint, PATH } from './mcp-endpoint.ts';
import { healthRoutes, metricsRoute } from './monitoring-routes.ts';
import { RequestTurns } from './request-turns.ts';
import type { HttpLimits } from './serve-http.ts';

export interface ComposeOptions {
  readonly server: Server;
  /** Scheme, host and port that the server listens on. */
  readonly address: string;
  readonly admission: Admission;
  readonly limits: HttpLimits;
  readonly serverInfo: Implementation;
  readonly maxBodySize?: number;
  readonly createId: () => string;
  readonly metricsPublic?: boolean;
}

/** Mounts all routes of the HTTP front. */
export function composeFront(gateway: Gateway, options: ComposeOptions): HttpFront {
  const { server, address, admission, limits, metricsPublic = false } = options;
  const { fronts } = gateway;
  const turns = new RequestTurns(fronts.log);
  const endpoint = new McpEndpoint(fronts, { ...options, turns });
  const front: HttpFront = new HttpFront(fronts, {
    url: `${address}${PATH}`,
    server,
    admission,
    turns,
    endpoint,
    routes: [
      ...endpoint.routes,
      ...healthRoutes(gateway, () => front.isClosing),
      metricsRoute(gateway, metricsPublic),
    ],
    drainTime: limits.drain,
  });
  return front;
}
