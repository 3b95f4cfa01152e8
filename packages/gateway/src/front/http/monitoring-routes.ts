import type { Gateway } from '../../gateway/gateway.ts';
import { Metrics } from '../../gateway/metrics.ts';
import type { HttpRoute } from './request-target.ts';
import { respondEmpty } from './respond.ts';

const METHODS = ['GET', 'HEAD'];
const METRICS_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

/** Returns the routes that load balancers ask: is the process alive, and have all servers been started or given up. */
export function healthRoutes(
  gateway: Pick<Gateway, 'isAllAttempted'>,
  isClosing: () => boolean,
): HttpRoute[] {
  return [
    {
      path: '/healthz',
      methods: METHODS,
      needsToken: false,
      handle: (_, res) => respondEmpty(res, 200),
    },
    {
      path: '/readyz',
      methods: METHODS,
      needsToken: false,
      handle: (_, res) => respondEmpty(res, gateway.isAllAttempted && !isClosing() ? 200 : 503),
    },
  ];
}

/** Returns the route that Prometheus reads. Unless it is public it needs the token, because it names the servers of the config. */
export function metricsRoute(gateway: Gateway, isPublic: boolean): HttpRoute {
  const metrics = new Metrics(gateway);
  return {
    path: '/metrics',
    methods: METHODS,
    needsToken: !isPublic,
    handle(_, res) {
      res.send(200, ['Content-Type', METRICS_TYPE], [Buffer.from(metrics.text())]);
    },
  };
}
