// The Vercel AI SDK: tools of an MCP client in a loop with the model.
import { createMCPClient } from '@ai-sdk/mcp';
import { Experimental_StdioMCPTransport as StdioTransport } from '@ai-sdk/mcp/mcp-stdio';
import { createOpenAI } from '@ai-sdk/openai';
import { generateText, isStepCount } from 'ai';
import { headers, task } from './walk.mjs';

const { transport, stdio, http, model, prompt } = task;
const client = await createMCPClient({
  transport: transport === 'stdio' ? new StdioTransport(stdio) : { type: 'http', url: http.url, headers },
});
const openai = createOpenAI({ baseURL: `${model}/v1`, apiKey: 'none' });
await generateText({
  model: openai.chat('scripted'),
  ...(client.instructions !== undefined && { instructions: client.instructions }),
  tools: await client.tools(),
  stopWhen: isStepCount(10),
  prompt,
});
await client.close();
process.exit();
