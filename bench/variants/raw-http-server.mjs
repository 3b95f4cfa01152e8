// A server of the 2026 revision on bare node:http: about the least that an MCP server on HTTP can cost in Node.
import { createServer } from 'node:http';
import { createAnswers, SERVER_INFO } from '../answers.mjs';

const answer = createAnswers(process.argv);
const cached = { ttlMs: 60_000, cacheScope: 'public' };
const discovered = {
  supportedVersions: ['2026-07-28'],
  capabilities: { tools: {} },
  _meta: { 'io.modelcontextprotocol/serverInfo': SERVER_INFO },
};

const server = createServer((req, res) => {
  const chunks = [];
  req.on('data', (chunk) => chunks.push(chunk));
  req.on('end', () => respond(res, chunks.length === 1 ? chunks[0] : Buffer.concat(chunks)));
});
// Longer than any pause between rounds: no client meets a connection that is just being closed.
server.keepAliveTimeout = 600_000;
server.listen(0, '127.0.0.1', () => console.log(`http://127.0.0.1:${server.address().port}/mcp`));

function respond(res, body) {
  const { id, method, params } = body.length === 0 ? {} : JSON.parse(body);
  if (id === undefined) return void res.writeHead(method === undefined ? 405 : 202).end();
  const text = JSON.stringify({ jsonrpc: '2.0', id, ...modernAnswer(method, params) });
  res.writeHead(200, ['Content-Type', 'application/json', 'Content-Length', Buffer.byteLength(text)]);
  res.end(text);
}

function modernAnswer(method, params) {
  if (method === 'server/discover') return { result: { resultType: 'complete', ...discovered, ...cached } };
  const { result, error } = answer(method, params);
  if (result === undefined) return { error };
  const isList = method === 'tools/list';
  return { result: { resultType: 'complete', ...result, ...(isList && cached) } };
}
