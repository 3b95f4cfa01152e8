// The MCP tools of Google's Agent Development Kit.
import { MCPToolset } from '@google/adk';
import { headers, task, walk } from './walk.mjs';

const toolset = new MCPToolset(
  task.transport === 'stdio'
    ? { type: 'StdioConnectionParams', serverParams: task.stdio }
    : {
        type: 'StreamableHTTPConnectionParams',
        url: task.http.url,
        transportOptions: { requestInit: { headers } },
      },
);
let tools = [];
await walk({
  async names() {
    tools = await toolset.getTools();
    return tools.map(({ name }) => name);
  },
  call: (name, args) => tools.find((tool) => tool.name === name).runAsync({ args, toolContext: {} }),
});
