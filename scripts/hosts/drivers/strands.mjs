// The MCP client of the Strands Agents SDK.
import { McpClient } from '@strands-agents/sdk';
import { headers, task, walk } from './walk.mjs';

const weir = task.transport === 'stdio' ? task.stdio : { url: task.http.url, headers };
const [client] = await McpClient.loadServers(
  { weir },
  { elicitationCallback: () => ({ action: 'accept', content: { colour: 'green' } }) },
);
await client.connect();
let tools = [];
const changed = new Promise((resolve) => (client.onToolsChanged = resolve));
await walk({
  async names() {
    tools = await client.listTools();
    return tools.map(({ name }) => name);
  },
  call: (name, args) =>
    client.callTool(
      tools.find((tool) => tool.name === name),
      args,
    ),
  instructions: () => client.serverInstructions,
  changed,
});
