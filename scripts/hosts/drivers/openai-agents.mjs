// The Agents SDK of OpenAI: an agent with an MCP server, in a loop with the model.
import { Agent, MCPServerStdio, MCPServerStreamableHttp, OpenAIProvider, Runner } from '@openai/agents';
import { headers, task } from './walk.mjs';

const server =
  task.transport === 'stdio'
    ? new MCPServerStdio({ name: 'weir', ...task.stdio })
    : new MCPServerStreamableHttp({ name: 'weir', url: task.http.url, requestInit: { headers } });
await server.connect();
const agent = new Agent({ name: 'scripted', model: 'scripted', mcpServers: [server] });
const modelProvider = new OpenAIProvider({ apiKey: 'none', baseURL: `${task.model}/v1` });
await new Runner({ modelProvider, tracingDisabled: true }).run(agent, task.prompt);
await server.close();
process.exit();
