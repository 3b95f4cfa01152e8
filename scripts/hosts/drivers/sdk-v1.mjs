// The client of the TypeScript SDK v1.
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { ElicitRequestSchema, ToolListChangedNotificationSchema } from '@modelcontextprotocol/sdk/types.js';
import { headers, task, walk } from './walk.mjs';

const client = new Client({ name: 'sdk-v1', version: '1.0.0' }, { capabilities: { elicitation: {} } });
client.setRequestHandler(ElicitRequestSchema, () => ({ action: 'accept', content: { colour: 'green' } }));
const changed = new Promise((resolve) => {
  client.setNotificationHandler(ToolListChangedNotificationSchema, resolve);
});
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
