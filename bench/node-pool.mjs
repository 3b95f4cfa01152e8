// The same as http-pool, on Node's own HTTP client: what most programs call servers with.
import { Agent, request } from 'node:http';

export function createNodePool(url) {
  const agent = new Agent({ keepAlive: true });
  return {
    head: (method, headers) => ({ method, headers }),
    /** A head to which lines were added, as for a bare socket. */
    send({ method, headers }, subject, body, { received, failed }) {
      const outgoing = request(url, { method, agent, headers: { ...headers, ...subject } }, (response) => {
        const chunks = [];
        response.on('data', (chunk) => chunks.push(chunk));
        response.on('end', () => received(response, chunks));
      });
      outgoing.on('error', failed).end(body);
    },
    close: () => agent.destroy(),
  };
}
