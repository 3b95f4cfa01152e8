// @ts-check
// A client on HTTP of which nothing is sure: `fuzz-client.mjs URL TOKEN SEED`. Sends random requests of both eras and of none, reads
// or does not, and hangs up when it likes.
import { connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { Random } from './random.mjs';

process.stdin.resume().once('end', () => process.exit());

const [url = '', token = '', seed = '1'] = process.argv.slice(2);
const { host, hostname, port, pathname } = new URL(url);
const random = new Random(Number(seed));
const VERSIONS = ['2026-07-28', '2025-11-25', '2025-03-26', '2024-11-05', 'x'];
const AT_ONCE = 4;
/** Sessions that were opened, of which some have ended. */
const sessions = ['x'];

await Promise.all(Array.from({ length: AT_ONCE }, keepConversing));

async function keepConversing() {
  for (;;) {
    await converse();
    if (random.chance(0.2)) await delay(random.below(20));
  }
}

/** One connection with some requests. */
async function converse() {
  const socket = connect(Number(port), hostname);
  socket.on('error', () => undefined);
  if (random.chance(0.9))
    socket.on('data', (chunk) => {
      const session = /mcp-session-id: (\S+)/i.exec(chunk.toString('latin1'))?.[1];
      if (session !== undefined && sessions.push(session) > 20) sessions.shift();
    });
  for (let i = random.below(6); i >= 0; i--) {
    const bytes = request();
    socket.write(random.chance(0.05) ? random.damage(bytes) : bytes);
    if (random.chance(0.3)) await delay(random.below(10));
  }
  await delay(random.below(30));
  if (random.chance(0.5)) socket.destroy();
  else socket.end();
  socket.setTimeout(2000, () => socket.destroy());
}

function request() {
  const { body, method } = content();
  const headers = {
    Host: host,
    Authorization: `Bearer ${random.chance(0.97) ? token : 'x'}`,
    'Content-Type': 'application/json',
    Accept: random.pick(['application/json, text/event-stream', 'text/event-stream', '*/*']),
    ...(random.chance(0.7) && { 'MCP-Protocol-Version': random.pick(VERSIONS), 'Mcp-Method': method }),
    ...(random.chance(0.5) && { 'Mcp-Session-Id': random.pick(sessions) }),
    ...(random.chance(0.1) && { 'Last-Event-ID': `${random.below(100)}` }),
    ...(random.chance(0.3) && { 'Mcp-Name': random.pick(['f0__echo', 'h0__echo', 'test://1']) }),
    'Content-Length': String(body.length + (random.chance(0.02) ? 5 : 0)),
  };
  const verb = random.chance(0.9) ? 'POST' : random.pick(['GET', 'DELETE', 'OPTIONS', 'PUT']);
  const path = random.chance(0.95) ? pathname : random.pick(['/sse', '/messages', '/', '/healthz', '/%00']);
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return Buffer.concat([Buffer.from(`${verb} ${path} HTTP/1.1\r\n${lines.join('')}\r\n`), body]);
}

function content() {
  if (random.chance(0.4)) return { body: random.line(), method: random.method() };
  const method = random.chance(0.3) ? 'tools/call' : random.method();
  const meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientInfo': { name: 'fuzz', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': random.chance(0.5)
      ? {}
      : { elicitation: {}, sampling: {}, roots: {} },
    ...(random.chance(0.3) && { progressToken: random.below(100) }),
  };
  const names = {
    'tools/call': {
      name: random.pick(['f0__echo', 'f1__other', 'h0__echo', 'echo', 'f0__h0__echo']),
      arguments: { text: 'fuzz' },
    },
    'resources/read': { uri: random.pick(['test://1', 'test://2', 'modern://one']) },
    'resources/subscribe': { uri: 'test://1' },
    'subscriptions/listen': {
      notifications: { toolsListChanged: true, resourceSubscriptions: ['test://1', 'modern://one'] },
    },
    initialize: {
      protocolVersion: random.pick(VERSIONS),
      capabilities: random.object(),
      clientInfo: { name: 'fuzz', version: '1' },
    },
    'notifications/cancelled': { requestId: random.below(100) },
  };
  const params = /** @type {Record<string, object>} */ (names)[method] ?? random.object();
  const id = method.startsWith('notifications/') ? {} : { id: random.below(100) };
  return {
    body: Buffer.from(JSON.stringify({ jsonrpc: '2.0', ...id, method, params: { ...params, _meta: meta } })),
    method,
  };
}
