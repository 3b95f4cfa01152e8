// The MCP client of VoltAgent.
import { MCPConfiguration } from '@voltagent/core';
import { headers, task, walk } from './walk.mjs';

const weir =
  task.transport === 'stdio'
    ? { type: 'stdio', ...task.stdio }
    : { type: 'http', url: task.http.url, requestInit: { headers } };
const configuration = new MCPConfiguration({ servers: { weir } });
let tools = [];
await walk({
  async names() {
    tools = await configuration.getTools();
    return tools.map(({ name }) => name);
  },
  call: (name, args) => tools.find((tool) => tool.name === name).execute(args, {}),
});
