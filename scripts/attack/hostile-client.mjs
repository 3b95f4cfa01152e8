// @ts-check
// A client on HTTP that attacks in one way until it is ended: `hostile-client.mjs URL TOKEN ATTACK`. `MODES` holds the attacks.
import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';

process.stdin.resume().once('end', () => process.exit());

const [url = '', token = '', mode = ''] = process.argv.slice(2);
const { host, hostname, port } = new URL(url);
const KIB = 1024;
const MIB = KIB * KIB;

/** @typedef {import('node:net').Socket} Socket */

/** @type {Record<string, () => Promise<unknown>>} */
const MODES = {
  /** H1: a subscription to 8,000 URIs, closed, and opened again. */
  listens: async () => {
    const resourceSubscriptions = Array.from({ length: 8000 }, (_, i) => `modern://${i}/${'x'.repeat(10)}`);
    const socket = await open(modern('subscriptions/listen', { notifications: { resourceSubscriptions } }));
    await delay(500);
    socket.destroy();
  },
  /** H6: names that do not exist, and other spellings of those that do. */
  names: async () => {
    const socket = await open('');
    for (let i = 0; i < 500; i++) socket.write(modern('tools/call', { name: i % 2 ? `nobody${i}` : 'ECHO' }));
    socket.resume();
    await delay(100);
    socket.destroy();
  },
  /** M3: requests without end behind one that lasts. */
  pipelines: async () => {
    const socket = await open(modern('subscriptions/listen', { notifications: { toolsListChanged: true } }));
    const requests = `GET /healthz HTTP/1.1\r\nHost: ${host}\r\n\r\n`.repeat(5000);
    for (let i = 0; i < 20; i++) await write(socket, requests);
    await delay(200);
    socket.destroy();
  },
  /** M5: errors of megabytes that nobody reads. */
  unread: async () => {
    const request = modern('resources/read', { uri: `x:${'y'.repeat(3 * MIB)}` }, 'x:');
    const sockets = await Promise.all(Array.from({ length: 30 }, () => open('')));
    for (const socket of sockets) {
      socket.pause();
      await write(socket, request);
    }
    await delay(1000);
    for (const socket of sockets) socket.destroy();
  },
  /** M6: calls that fail at length, if there is a server that does. */
  failures: async () => {
    const socket = await open('');
    socket.resume();
    for (let i = 0; i < 5; i++) socket.write(modern('tools/call', { name: 'errors__attack' }));
    await delay(500);
    socket.destroy();
  },
  /** M7: words for servers that do not read. */
  notices: async () => {
    const session = await openSession();
    const socket = await open('');
    socket.resume();
    const uri = 'x'.repeat(64 * KIB);
    for (let i = 0; i < 200; i++) {
      await write(socket, legacy(session, { method: 'notifications/roots/list_changed' }));
      await write(
        socket,
        legacy(session, { id: i, method: 'tools/call', params: { name: 'deaf__echo', arguments: { uri } } }),
      );
    }
    await delay(300);
    socket.destroy();
  },
  /** M9: sessions that are left without a word, each with a call to a server of its own. */
  sessions: async () => {
    const session = await openSession();
    const socket = await open(
      legacy(session, { id: 1, method: 'tools/call', params: { name: 'own__echo', arguments: {} } }),
    );
    await delay(200);
    socket.destroy();
  },
  /** Batches of a thousand, in the revision that has them. */
  batches: async () => {
    const session = await openSession('2025-03-26');
    const calls = Array.from({ length: 1000 }, (_, id) => ({ jsonrpc: '2.0', id, method: 'tools/list' }));
    const socket = await open('');
    socket.resume();
    for (let i = 0; i < 5; i++)
      await write(socket, post({ 'Mcp-Session-Id': session }, JSON.stringify(calls)));
    await delay(200);
    socket.destroy();
  },
  /** Lists that nobody reads, on many connections. */
  lists: async () => {
    const sockets = await Promise.all(Array.from({ length: 50 }, () => open('')));
    for (const socket of sockets) {
      socket.pause();
      for (let i = 0; i < 100; i++) socket.write(modern('tools/list', {}));
    }
    await delay(500);
    for (const socket of sockets) socket.destroy();
  },
  /** Calls that are cancelled by hanging up as soon as they were sent. */
  'hang-ups': async () => {
    const sockets = await Promise.all(Array.from({ length: 20 }, () => open('')));
    for (const socket of sockets)
      socket.write(modern('tools/call', { name: 'h0__echo', arguments: { text: 'x'.repeat(KIB) } }));
    for (const socket of sockets) socket.destroy();
  },
  /** Half a request on each of many connections. */
  halves: async () => {
    const sockets = await Promise.all(Array.from({ length: 100 }, () => open('')));
    for (const socket of sockets) socket.write(modern('tools/list', {}).slice(0, 150));
    await delay(1000);
    for (const socket of sockets) socket.destroy();
  },
};

const attack = MODES[mode];
if (attack === undefined)
  throw new Error(`There is no attack called ${mode}: ${Object.keys(MODES).join(', ')}`);
// The gateway may refuse, hang up or stop answering: that is its right, and the attack goes on.
for (;;) await Promise.race([attack().catch(() => delay(50)), delay(5000)]);

/**
 * @param {string} text what is written at once
 * @returns {Promise<Socket>}
 */
async function open(text) {
  const socket = connect(Number(port), hostname);
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  if (text !== '') await write(socket, text);
  return socket;
}

/**
 * Resolves when more may be written, or the connection has ended.
 * @param {Socket} socket
 * @param {string} text
 */
async function write(socket, text) {
  if (socket.destroyed) throw new Error('The gateway has hung up');
  if (!socket.write(text, 'latin1')) await Promise.race([once(socket, 'drain'), once(socket, 'close')]);
}

/**
 * @param {Record<string, string>} headers
 * @param {string} body
 */
function post(headers, body) {
  const all = {
    Host: host,
    Authorization: `Bearer ${token}`,
    'Content-Type': 'application/json',
    Accept: 'application/json, text/event-stream',
    ...headers,
    'Content-Length': Buffer.byteLength(body),
  };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  return `POST /mcp HTTP/1.1\r\n${lines.join('')}\r\n${body}`;
}

/**
 * @param {string} method
 * @param {{ name?: string; [key: string]: unknown }} params
 * @param {string} [name]
 */
function modern(method, params, name = params.name) {
  const prefix = 'io.modelcontextprotocol/';
  const _meta = {
    [`${prefix}protocolVersion`]: '2026-07-28',
    [`${prefix}clientInfo`]: { name: 'hostile', version: '1' },
    [`${prefix}clientCapabilities`]: {},
  };
  const headers = { 'MCP-Protocol-Version': '2026-07-28', 'Mcp-Method': method };
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: { ...params, _meta } });
  return post(name === undefined ? headers : { ...headers, 'Mcp-Name': name }, body);
}

/**
 * @param {string} session
 * @param {object} message
 */
function legacy(session, message) {
  return post({ 'Mcp-Session-Id': session }, JSON.stringify({ jsonrpc: '2.0', ...message }));
}

/** @param {string} [protocolVersion] */
async function openSession(protocolVersion = '2025-11-25') {
  const params = {
    protocolVersion,
    capabilities: { roots: {} },
    clientInfo: { name: 'hostile', version: '1' },
  };
  const socket = await open(
    post({}, JSON.stringify({ jsonrpc: '2.0', id: 0, method: 'initialize', params })),
  );
  const [answer] = await once(socket.setEncoding('latin1'), 'data');
  socket.destroy();
  return /mcp-session-id: (\S+)/i.exec(String(answer))?.[1] ?? '';
}
