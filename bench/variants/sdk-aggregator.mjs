// An aggregator made the plain way: one SDK `Client` per server, one SDK `Server` in front, a Map in between.
import { readFileSync } from 'node:fs';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { Server } from '@modelcontextprotocol/server';
import { StdioServerTransport } from '@modelcontextprotocol/server/stdio';

const { mcpServers } = JSON.parse(readFileSync(process.argv[process.argv.indexOf('--config') + 1], 'utf8'));
const clients = [];
const registry = new Map();

// Listed in the config's order, started all at once.
const catalogues = await Promise.all(Object.entries(mcpServers).map(([key, config]) => start(key, config)));
for (const { key, client, tools } of catalogues)
  for (const tool of tools) {
    const name = `${key}:${tool.name}`;
    registry.set(name, { client, originalName: tool.name, tool: { ...tool, name } });
  }

async function start(key, { command, args, env }) {
  const client = new Client({ name: 'sdk-aggregator', version: '1.0.0' });
  await client.connect(new StdioClientTransport({ command, args, env }));
  clients.push(client);
  const { tools } = await client.listTools();
  return { key, client, tools };
}

const server = new Server({ name: 'sdk-aggregator', version: '1.0.0' }, { capabilities: { tools: {} } });
server.setRequestHandler('tools/list', () => ({
  tools: Array.from(registry.values(), (entry) => entry.tool),
}));
server.setRequestHandler('tools/call', async ({ params }, { mcpReq }) => {
  const entry = registry.get(params.name);
  if (entry === undefined) throw new Error(`Tool not found: ${params.name}`);
  return await entry.client.callTool(
    { name: entry.originalName, arguments: params.arguments },
    { signal: mcpReq.signal },
  );
});
server.onclose = () => void Promise.all(clients.map((client) => client.close())).then(() => process.exit(0));
await server.connect(new StdioServerTransport());
