// The MCP adapters of LangChain.
import { MultiServerMCPClient } from '@langchain/mcp-adapters';
import { headers, task, walk } from './walk.mjs';

let tell;
const changed = new Promise((resolve) => (tell = resolve));
const weir =
  task.transport === 'stdio'
    ? { transport: 'stdio', ...task.stdio }
    : { transport: 'http', url: task.http.url, headers };
const client = new MultiServerMCPClient({ mcpServers: { weir }, onToolsListChanged: tell });
let tools = [];
await walk({
  async names() {
    tools = await client.getTools();
    return tools.map(({ name }) => name);
  },
  call: (name, args) => tools.find((tool) => tool.name === name).invoke(args),
  instructions: async () => (await client.getClient('weir')).getInstructions(),
  changed,
});
