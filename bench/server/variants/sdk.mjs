// The plain SDK: an `McpServer` for each request or connection, as its examples make it.
// `--inside` makes the schemas in the factory, too; `--sessions` keeps one server for each legacy session.
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { NodeStreamableHTTPServerTransport, toNodeHandler, toWebRequest } from '@modelcontextprotocol/node';
import { createMcpHandler, isLegacyRequest, McpServer } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import * as z from 'zod';
import { announce, readOptions, SERVER_INFO } from '../options.mjs';
import { defineTools, resultOf } from '../tools.mjs';

const { port, inside, sessions, ...options } = readOptions();
const hoisted = inside ? undefined : defineTools(z, options);

function factory() {
  const server = new McpServer(SERVER_INFO, { capabilities: { tools: {} } });
  for (const tool of hoisted ?? defineTools(z, options)) {
    const { name, description, inputSchema, outputSchema } = tool;
    server.registerTool(name, { description, inputSchema, outputSchema }, (args) => resultOf(tool, args));
  }
  return server;
}

if (port === undefined) serveStdio(factory);
else {
  const handle = toNodeHandler(createMcpHandler(factory, { legacy: sessions ? 'reject' : 'stateless' }));
  const server = createServer((req, res) => void (sessions ? handleSession(req, res) : handle(req, res)));
  // Longer than any pause between rounds: no client meets a connection that is just being closed.
  server.keepAliveTimeout = 600_000;
  server.listen(port, '127.0.0.1', () => announce(port));

  const transports = new Map();

  async function handleSession(req, res) {
    const open = transports.get(req.headers['mcp-session-id']);
    if (open !== undefined) return open.handleRequest(req, res);
    const body = await bodyOf(req);
    if (!(await isLegacyRequest(await toWebRequest(req, body), body))) return handle(req, res, body);
    return (await openSession()).handleRequest(req, res, body);
  }

  async function openSession() {
    const transport = new NodeStreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (id) => void transports.set(id, transport),
      onsessionclosed: (id) => void transports.delete(id),
    });
    await factory().connect(transport);
    return transport;
  }
}

async function bodyOf(req) {
  let text = '';
  for await (const chunk of req.setEncoding('utf8')) text += chunk;
  return text === '' ? undefined : JSON.parse(text);
}
