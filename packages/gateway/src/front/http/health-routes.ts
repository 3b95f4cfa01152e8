import type { Gateway } from '../../gateway/gateway.ts';
import { respondEmpty } from './respond.ts';
import type { HttpRoute } from './routes.ts';

const METHODS = ['GET', 'HEAD'];

/** Returns the routes that load balancers ask: is the process alive, and have all servers been started or given up. */
export function healthRoutes(gateway: Pick<Gateway, 'isTried'>, isClosing: () => boolean): HttpRoute[] {
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
      handle: (_, res) => respondEmpty(res, gateway.isTried && !isClosing() ? 200 : 503),
    },
  ];
}
