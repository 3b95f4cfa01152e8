// The MCP tools of LlamaIndex.
import { mcp } from '@llamaindex/tools';
import { headers, task, walk } from './walk.mjs';

const client = mcp(
  task.transport === 'stdio' ? task.stdio : { url: task.http.url, requestInit: { headers } },
);
let tools = [];
await walk({
  async names() {
    tools = await client.tools();
    return tools.map(({ metadata }) => metadata.name);
  },
  call: (name, args) => tools.find(({ metadata }) => metadata.name === name).call(args),
});
