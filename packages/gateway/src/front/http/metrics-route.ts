import type { Gateway } from '../../gateway/gateway.ts';
import { Metrics } from '../../gateway/metrics.ts';
import type { HttpRoute } from './routes.ts';

const CONTENT_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

/** Returns the route that Prometheus reads. Unless it is public it needs the token, because it names the servers of the config. */
export function metricsRoute(gateway: Gateway, isPublic: boolean): HttpRoute {
  const metrics = new Metrics(gateway);
  return {
    path: '/metrics',
    methods: ['GET', 'HEAD'],
    needsToken: !isPublic,
    handle(req, res) {
      const text = metrics.text();
      res.writeHead(200, { 'Content-Type': CONTENT_TYPE, 'Content-Length': Buffer.byteLength(text) });
      res.end(req.method === 'HEAD' ? undefined : text);
    },
  };
}
