// @ts-check
import { once } from 'node:events';
import { Agent, request } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { finding, highestMb, residentMb } from './common.mjs';
import { callDuring, unnoticed } from './load.mjs';
import { fixture, start } from './subjects.mjs';

const ANSWERS = 300;
const BYTES = 1024 * 1024;
/** On stdio the server waits; on HTTP it never does, and what is unread must be somewhere. */
const GROWTH_MB = { stdio: 64, http: ANSWERS };
const UNREAD_MS = 4000;
/** The promise is that all arrive, however long a busy machine takes for 300 MiB. */
const ARRIVAL_S = 60;

/** @typedef {Awaited<ReturnType<typeof start>>} Subject */

/** @type {import('../chaos.mjs').Fault} */
export const unreadAnswers = {
  title: `A client asks for ${ANSWERS} answers of 1 MiB and reads none`,
  subjects: ['weir serve', 'weir', 'mcp-hub', 'mcp-proxy'],
  differs: true,
  async run(name, { gateway }) {
    const subject = await start(name, { s0: fixture('big-results') }, { gateway });
    const big = subject.tool('s0', 'big');
    const next = () => ({ key: 's0', name: big, args: { bytes: 10 } });
    await subject.client.call(big, { bytes: BYTES });
    const before = residentMb(subject.pid);
    const stuck = name === 'weir' ? stopReading(subject, big) : askWithoutReading(subject, big);
    const seen = name === 'weir' ? undefined : callDuring(subject.client, stuck, { inFlight: 2, next });
    const highest = await highestMb(subject.pid, stuck);
    const unheard = await seen;
    const arrived = await stuck;
    await subject.end();
    const most = name === 'weir' ? GROWTH_MB.stdio : GROWTH_MB.http;
    return [
      finding(
        `memory grows by less than ${most} MB`,
        highest - before < most,
        `${before.toFixed(0)} MB before, at most ${highest.toFixed(0)} MB`,
      ),
      unheard === undefined
        ? finding('on stdio, all arrive once it reads again', arrived === ANSWERS, `${arrived} did`)
        : unnoticed(unheard, 'calls of other clients are not affected'),
    ];
  },
};

/**
 * @param {Subject} subject
 * @param {string} tool
 */
async function stopReading({ client, child }, tool) {
  child.stdout.pause();
  const calls = Array.from({ length: ANSWERS }, () => client.call(tool, { bytes: BYTES }, ARRIVAL_S));
  await delay(UNREAD_MS);
  child.stdout.resume();
  return (await Promise.all(calls)).filter(({ text }) => text?.length === BYTES).length;
}

/**
 * Resolves with nothing that it has read.
 * @param {Subject} subject
 * @param {string} tool
 */
async function askWithoutReading({ name, url, token }, tool) {
  const agent = new Agent({ maxSockets: Infinity });
  const headers = {
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    ...(token !== undefined && { authorization: `Bearer ${token}` }),
  };
  const post = openPost({ agent, headers });
  const { address, more } = name === 'mcp-hub' ? await openEvents(url, agent) : await openSession(url, post);
  if (name === 'mcp-hub') await post(address, opening).then((response) => response.resume());
  post(address, { method: 'notifications/initialized' }, more).catch(() => undefined);
  for (let id = 1; id <= ANSWERS; id++) {
    const call = { id, method: 'tools/call', params: { name: tool, arguments: { bytes: BYTES } } };
    post(address, call, more).catch(() => undefined);
  }
  await delay(UNREAD_MS);
  agent.destroy();
  return 0;
}

const opening = {
  id: 0,
  method: 'initialize',
  params: {
    protocolVersion: '2025-11-25',
    capabilities: {},
    clientInfo: { name: 'unread', version: '1.0.0' },
  },
};

/**
 * Posts a message; resolves with a response that nobody reads.
 * @param {{ agent: Agent; headers: Record<string, string> }} options
 */
function openPost({ agent, headers }) {
  return async (/** @type {string} */ address, /** @type {object} */ message, more = {}) => {
    const outgoing = request(address, { method: 'POST', agent, headers: { ...headers, ...more } });
    outgoing.on('error', () => undefined).end(JSON.stringify({ jsonrpc: '2.0', ...message }));
    const [response] = await once(outgoing, 'response');
    return response.on('error', () => undefined);
  };
}

/**
 * Streamable HTTP: each answer comes on a response of its own.
 * @param {string} url
 * @param {ReturnType<typeof openPost>} post
 */
async function openSession(url, post) {
  const response = await post(url, opening);
  response.resume();
  const session = String(response.headers['mcp-session-id']);
  return { address: url, more: { 'mcp-session-id': session, 'mcp-protocol-version': '2025-11-25' } };
}

/**
 * HTTP+SSE: all answers come on one stream, of which only the first event is read.
 * @param {string} url
 * @param {Agent} agent
 */
async function openEvents(url, agent) {
  const outgoing = request(url, { agent, headers: { accept: 'text/event-stream' } }).end();
  outgoing.on('error', () => undefined);
  const [response] = await once(outgoing, 'response');
  response.on('error', () => undefined);
  const [first] = await once(response, 'data');
  response.pause();
  return { address: new URL(/data: ?(\S+)/.exec(String(first))?.[1] ?? '', url).href, more: {} };
}
