// The client of the TypeScript SDK v2, in the era that the task names.
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { headers, task, walk } from './walk.mjs';

const MODERN = '2026-07-28';
const mode = task.era === 'modern' ? { pin: MODERN } : 'legacy';
let tell;
const changed = new Promise((resolve) => (tell = resolve));
const client = new Client(
  { name: 'sdk-v2', version: '1.0.0' },
  {
    capabilities: { elicitation: {} },
    versionNegotiation: { mode },
    listChanged: { tools: { onChanged: tell } },
  },
);
client.setRequestHandler('elicitation/create', () => ({ action: 'accept', content: { colour: 'green' } }));
await client.connect(
  task.transport === 'stdio'
    ? new StdioClientTransport(task.stdio)
    : new StreamableHTTPClientTransport(new URL(task.http.url), { requestInit: { headers } }),
);
await walk({
  names: async () => (await client.listTools()).tools.map(({ name }) => name),
  call: (name, args) => client.callTool({ name, arguments: args }),
  instructions: () => client.getInstructions(),
  changed,
});
