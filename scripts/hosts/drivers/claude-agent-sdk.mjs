// The Claude Agent SDK: Claude Code as a library, in a loop with the model.
import { query } from '@anthropic-ai/claude-agent-sdk';
import { headers, task } from './walk.mjs';

const weir =
  task.transport === 'stdio'
    ? { type: 'stdio', ...task.stdio }
    : { type: 'http', url: task.http.url, headers };
const options = {
  mcpServers: { weir },
  allowedTools: ['mcp__weir__*', 'mcp__weir'],
  maxTurns: 10,
  settingSources: [],
};
for await (const message of query({ prompt: task.prompt, options })) if (message.type === 'result') break;
process.exit();
