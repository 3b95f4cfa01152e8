// The MCP client of Mastra.
import { MCPClient } from '@mastra/mcp';
import { headers, task, walk } from './walk.mjs';

const weir =
  task.transport === 'stdio' ? task.stdio : { url: new URL(task.http.url), requestInit: { headers } };
const client = new MCPClient({ servers: { weir } });
let tools = await client.listTools();
const changed = new Promise((resolve) => {
  void client.tools.onListChanged('weir', resolve);
});
await walk({
  async names() {
    tools = await client.listTools();
    return Object.keys(tools);
  },
  call: (name, args) => tools[name].execute(args, {}),
  instructions: () => client.getServerInstructions().weir,
  changed,
});
