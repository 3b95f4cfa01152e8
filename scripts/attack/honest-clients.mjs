// @ts-check
// Honest clients on HTTP, half of them of each era: `honest-clients.mjs URL TOKEN CLIENTS SECONDS TOOL…`. Each calls the tools in turn,
// with a text that nobody else sends, and waits a moment between two calls. Prints what became of the calls as JSON.
import { Agent, request } from 'node:http';
import { text } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';

/** @typedef {{ calls: number; errors: string[]; crossed: number; p50: number; p99: number; slowest: number }} Honest */

const [url = '', token = '', clients = '1', seconds = '1', ...tools] = process.argv.slice(2);
/** Leaves the machine to others for most of the time, so that what is measured is not this load. */
const PAUSE_MS = 10;
/** A call that takes longer counts as lost. */
const LONGEST_MS = 10_000;
const MOST_ERRORS = 20;
const META = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 'honest', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': {},
};

/** @type {number[]} */
const times = [];
/** @type {string[]} */
const errors = [];
let [calls, crossed] = [0, 0];

const until = performance.now() + Number(seconds) * 1000;
await Promise.all(
  Array.from({ length: Number(clients) }, (_, i) =>
    (i % 2 === 0 ? callAsModern(i) : callAsLegacy(i)).catch((/** @type {unknown} */ error) =>
      errors.push(String(error)),
    ),
  ),
);
times.sort((a, b) => a - b);
/** @type {Honest} */
const seen = {
  calls,
  errors: errors.slice(0, MOST_ERRORS),
  crossed,
  p50: quantile(0.5),
  p99: quantile(0.99),
  slowest: quantile(1),
};
process.stdout.write(JSON.stringify(seen));

/** @param {number} share */
function quantile(share) {
  return times[Math.min(times.length - 1, Math.floor(share * times.length))] ?? Number.NaN;
}

/** @param {number} client */
async function callAsModern(client) {
  const post = poster();
  await keepCalling(client, (params, id) =>
    post(
      { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/call', 'mcp-name': params.name },
      { id, method: 'tools/call', params: { ...params, _meta: META } },
    ),
  );
}

/** @param {number} client */
async function callAsLegacy(client) {
  const post = poster();
  const params = {
    protocolVersion: '2025-11-25',
    capabilities: {},
    clientInfo: { name: 'honest', version: '1' },
  };
  const { headers } = await post({}, { id: 0, method: 'initialize', params });
  const session = {
    'mcp-session-id': String(headers['mcp-session-id']),
    'mcp-protocol-version': '2025-11-25',
  };
  await post(session, { method: 'notifications/initialized' });
  await keepCalling(client, (call, id) => post(session, { id, method: 'tools/call', params: call }));
}

/**
 * @param {number} client
 * @param {(params: { name: string; arguments: object }, id: number) => Promise<{ body: string }>} call
 */
async function keepCalling(client, call) {
  for (let id = 1; performance.now() < until; id++) {
    const name = tools[(client + id) % tools.length] ?? '';
    const canary = `client ${client} call ${id} of ${process.pid}`;
    const began = performance.now();
    try {
      judge((await call({ name, arguments: { text: canary } }, id)).body, id, canary);
    } catch (error) {
      errors.push(`${name}: ${error instanceof Error ? error.message : String(error)}`);
    }
    times.push(performance.now() - began);
    calls++;
    await delay(PAUSE_MS);
  }
}

/**
 * @param {string} body JSON, or the events of a stream
 * @param {number} id
 * @param {string} canary
 */
function judge(body, id, canary) {
  const texts = body.startsWith('{')
    ? [body]
    : [...body.matchAll(/^data: (.+)$/gm)].map(([, data = '']) => data);
  const answer = texts.map((one) => JSON.parse(one)).find((message) => message.id === id);
  const said = answer?.result?.content?.[0]?.text;
  if (said === canary) return;
  if (typeof said === 'string' && said.startsWith('client ')) crossed++;
  throw new Error(body.slice(0, 300) || 'no answer');
}

function poster() {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  /**
   * @param {Record<string, string>} headers
   * @param {object} message
   * @returns {Promise<{ headers: import('node:http').IncomingHttpHeaders; body: string }>}
   */
  return (headers, message) =>
    new Promise((resolve, reject) => {
      const outgoing = request(url, {
        method: 'POST',
        agent,
        timeout: LONGEST_MS,
        headers: {
          authorization: `Bearer ${token}`,
          'content-type': 'application/json',
          accept: 'application/json, text/event-stream',
          ...headers,
        },
      });
      outgoing.once('error', reject);
      outgoing.once('timeout', () => outgoing.destroy(new Error(`no answer within ${LONGEST_MS} ms`)));
      outgoing.once('response', (response) => {
        text(response).then((body) => resolve({ headers: response.headers, body }), reject);
      });
      outgoing.end(JSON.stringify({ jsonrpc: '2.0', ...message }));
    });
}
