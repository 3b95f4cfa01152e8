// The MCP client of Genkit.
import { createMcpHost } from '@genkit-ai/mcp';
import { genkit } from 'genkit';
import { headers, task, walk } from './walk.mjs';

const weir = task.transport === 'stdio' ? task.stdio : { url: task.http.url, requestInit: { headers } };
const host = createMcpHost({ name: 'scripted', mcpServers: { weir } });
const ai = genkit({});
let tools = [];
await walk({
  async names() {
    tools = await host.getActiveTools(ai);
    return tools.map(({ __action }) => __action.name);
  },
  call: (name, args) => tools.find(({ __action }) => __action.name === name)(args),
});
