import type { Gateway } from '../../gateway/gateway.ts';
import type { Implementation } from '../../protocol/eras.ts';
import type { Admission } from './access.ts';
import { HttpFront } from './http-front.ts';
import { McpEndpoint, PATH } from './mcp-endpoint.ts';
import { healthRoutes, metricsRoute } from './monitoring-routes.ts';
import type { HttpLimits } from './serve-http.ts';
import { HttpServer } from './server/http-server.ts';

export { HttpServer };

export interface ComposeOptions {
  readonly server: HttpServer;
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
  const endpoint = new McpEndpoint(fronts, options);
  const front: HttpFront = new HttpFront(fronts, {
    url: `${address}${PATH}`,
    server,
    admission,
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
