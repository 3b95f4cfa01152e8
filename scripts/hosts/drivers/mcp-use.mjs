// mcp-use as a client.
import { MCPClient } from 'mcp-use/client';
import { headers, task, walk } from './walk.mjs';

const weir = task.transport === 'stdio' ? task.stdio : { url: task.http.url, headers };
const client = new MCPClient({ mcpServers: { weir } });
const session = await client.createSession('weir');
await walk({
  names: async () => (await session.listTools()).map(({ name }) => name),
  call: (name, args) => session.callTool(name, args),
});
