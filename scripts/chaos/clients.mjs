// @ts-check
// Clients that take errors as they come: raw lines on stdio, the SDK's client on HTTP.
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import {
  Client as SdkClient,
  ProtocolError,
  SSEClientTransport,
  StreamableHTTPClientTransport,
} from '@modelcontextprotocol/client';

/** No call takes longer than this to be answered, whatever happens to its server. */
export const LONGEST_S = 10;

/**
 * How a call ended: with a text, or with an error; one without an answer was lost with its connection, or nobody knows.
 * @typedef {{ text?: string; error?: string; isAnswered: boolean }} Answer
 */

/**
 * @typedef {object} Client
 * @property {() => Promise<string[]>} tools the names of all tools; none while there is no answer
 * @property {(name: string, args?: object, longestS?: number) => Promise<Answer>} call `longestS` on stdio only
 * @property {() => Promise<void>} close
 */

const clientInfo = { name: 'chaos', version: '1.0.0' };

/**
 * @param {import('node:child_process').ChildProcessWithoutNullStreams} child
 * @returns {Promise<Client>}
 */
export async function connectLines(child) {
  /** @type {Map<number, (message: any) => void>} */
  const waiting = new Map();
  let lastId = 0;
  createInterface({ input: child.stdout }).on('line', (line) => {
    const message = JSON.parse(line);
    // A server's question may have the id of a call.
    if (message.method !== undefined) return;
    waiting.get(message.id)?.(message);
    waiting.delete(message.id);
  });
  // What is written to a gateway that was killed is lost, as it should be.
  child.stdin.on('error', () => undefined);
  const send = (/** @type {object} */ message) =>
    child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  const request = (/** @type {string} */ method, /** @type {object} */ params = {}) => {
    const id = ++lastId;
    send({ id, method, params });
    return new Promise((resolve) => waiting.set(id, resolve));
  };
  await request('initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo });
  send({ method: 'notifications/initialized' });
  return {
    tools: async () => namesOf((await request('tools/list')).result.tools),
    async call(name, args = {}, longestS = LONGEST_S) {
      const message = await inTime(request('tools/call', { name, arguments: args }), longestS);
      if (message === undefined) return { isAnswered: false };
      return message.error === undefined
        ? fromResult(message.result)
        : { error: message.error.message, isAnswered: true };
    },
    close: async () => void child.stdin.end(),
  };
}

/**
 * @param {string} url
 * @param {{ isEvents?: boolean; token?: string | undefined }} [options] `isEvents` for HTTP+SSE
 * @returns {Promise<Client>}
 */
export async function connectHttp(url, { isEvents = false, token } = {}) {
  const requestInit = { headers: token === undefined ? {} : { authorization: `Bearer ${token}` } };
  const Transport = isEvents ? SSEClientTransport : StreamableHTTPClientTransport;
  const client = new SdkClient(clientInfo, { versionNegotiation: { mode: 'legacy' } });
  client.onerror = () => undefined;
  await client.connect(new Transport(new URL(url), { requestInit }));
  return {
    tools: () =>
      client.listTools().then(
        ({ tools }) => namesOf(tools),
        () => [],
      ),
    async call(name, args = {}) {
      const calling = client
        .callTool({ name, arguments: { ...args } }, { timeout: LONGEST_S * 2000 })
        .then(fromResult, fromError);
      return (await inTime(calling)) ?? { isAnswered: false };
    },
    close: () => client.close(),
  };
}

/** @param {{ name: string }[]} tools */
function namesOf(tools) {
  return tools.map(({ name }) => name);
}

/**
 * @template T
 * @param {Promise<T>} answer
 */
function inTime(answer, longestS = LONGEST_S) {
  return Promise.race([answer, delay(longestS * 1000, undefined, { ref: false })]);
}

/**
 * @param {any} result
 * @returns {Answer}
 */
function fromResult({ content, isError }) {
  const text = String(content?.[0]?.text ?? '');
  return isError === true ? { error: text, isAnswered: true } : { text, isAnswered: true };
}

/**
 * @param {unknown} error
 * @returns {Answer}
 */
function fromError(error) {
  const { message } = /** @type {Error} */ (error);
  return { error: message, isAnswered: error instanceof ProtocolError };
}
