// An HTTP server as the SDK makes them, in its cheapest form: its low-level `Server`, with one handler for each method.
// At /mcp the 2026 revision without sessions, at /sessions that of 2025 with one transport for each session.
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { NodeStreamableHTTPServerTransport, toNodeHandler } from '@modelcontextprotocol/node';
import { createMcpHandler, Server } from '@modelcontextprotocol/server';
import { createAnswers, SERVER_INFO } from '../answers.mjs';

const answer = createAnswers(process.argv);
const { tools } = answer('tools/list').result;
const transports = new Map();

function createServerOfOne() {
  const server = new Server(SERVER_INFO, { capabilities: { tools: {} } });
  server.setRequestHandler('tools/list', () => ({ tools }));
  server.setRequestHandler('tools/call', ({ params }) => answer('tools/call', params).result);
  return server;
}

const handleModern = toNodeHandler(createMcpHandler(createServerOfOne, { legacy: 'reject' }));

async function handleSession(req, res) {
  const transport = transports.get(req.headers['mcp-session-id']) ?? (await openSession());
  await transport.handleRequest(req, res);
}

async function openSession() {
  const transport = new NodeStreamableHTTPServerTransport({
    sessionIdGenerator: randomUUID,
    onsessioninitialized: (id) => void transports.set(id, transport),
    onsessionclosed: (id) => void transports.delete(id),
  });
  await createServerOfOne().connect(transport);
  return transport;
}

const server = createServer(
  (req, res) => void (req.url === '/sessions' ? handleSession : handleModern)(req, res),
);
// Longer than any pause between rounds: no client meets a connection that is just being closed.
server.keepAliveTimeout = 600_000;
server.listen(0, '127.0.0.1', () => console.log(`http://127.0.0.1:${server.address().port}/mcp`));
