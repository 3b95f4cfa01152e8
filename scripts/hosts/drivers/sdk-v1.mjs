// The client of the TypeScript SDK v1.
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { ElicitRequestSchema, ToolListChangedNotificationSchema } from '@modelcontextprotocol/sdk/types.js';

const { transport, stdio, http, greeting, added } = JSON.parse(process.argv[2]);
const headers = { Authorization: `Bearer ${http.token}` };

const client = new Client({ name: 'sdk-v1', version: '1.0.0' }, { capabilities: { elicitation: {} } });
client.setRequestHandler(ElicitRequestSchema, () => ({ action: 'accept', content: { colour: 'green' } }));
const changed = new Promise((resolve) => {
  client.setNotificationHandler(ToolListChangedNotificationSchema, () => resolve(true));
});
await client.connect(
  transport === 'stdio'
    ? new StdioClientTransport(stdio)
    : new StreamableHTTPClientTransport(new URL(http.url), { requestInit: { headers } }),
);

const names = async () => (await client.listTools()).tools.map(({ name }) => name);
const call = async (tool, args = {}) =>
  JSON.stringify(await client.callTool({ name: named(tool), arguments: args }));
const tools = await names();
const named = (tool) => tools.find((name) => name.endsWith(tool));

const seen = {
  tools,
  instructions: client.getInstructions() ?? '',
  echo: await call('echo', { text: greeting }),
  failure: await call('fail'),
  asked: await call('ask'),
};
await call('add_tool');
await Promise.race([changed, new Promise((resolve) => setTimeout(resolve, 3000))]);
seen.changed = (await names()).some((name) => name.endsWith(added));
await client.close();
console.log(`SEEN ${JSON.stringify(seen)}`);
process.exit();
