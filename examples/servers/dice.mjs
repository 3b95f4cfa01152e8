#!/usr/bin/env node
// Dice: an MCP server with a tool, whose answer is typed for programs and short for models, and a prompt.
// On stdio; with `--port 3000` at http://127.0.0.1:3000/mcp.
import { randomInt } from 'node:crypto';
import { McpServer } from '@modelcontextprotocol/server';
import { parseConfig } from '@weir/server/config';
import { definePrompt, defineTool, registerPrompts, registerTools } from '@weir/server/modules';
import { item, success } from '@weir/server/results';
import { setupHttpServer, setupStdioServer } from '@weir/server/transport';
import { z } from 'zod';

const DICE = /^([1-9]\d?|100)d([2-9]|[1-9]\d{1,3})([+-]\d{1,4})?$/;

const rollGet = defineTool({
  name: 'roll-get',
  description: 'Rolls dice and adds them up.',
  inputSchema: z.object({
    dice: z.string().regex(DICE, 'not dice: write "2d6" or "1d20+3"').describe('Such as "2d6" or "1d20+3"'),
  }),
  outputSchema: item(z.object({ dice: z.string(), rolls: z.array(z.int()), total: z.int() })),
  handler({ dice }) {
    const [, count, sides, extra = '+0'] = DICE.exec(dice);
    const rolls = Array.from({ length: Number(count) }, () => randomInt(1, Number(sides) + 1));
    const total = rolls.reduce((sum, roll) => sum + roll, Number(extra));
    const more = extra === '+0' ? '' : ` ${extra[0]} ${extra.slice(1)}`;
    // Without `content` the model would read the same as programs do: the JSON of the item.
    return success(
      { item: { dice, rolls, total } },
      { content: `${dice}: ${rolls.join(' + ')}${more} = ${total}` },
    );
  },
});

const decide = definePrompt({
  name: 'decide',
  description: 'Lets a die choose between options.',
  argsSchema: z.object({ options: z.string().describe('Such as "tea, coffee, water"') }),
  handler: ({ options }) =>
    `Number these options, roll one die of as many sides, and say which it chose: ${options}`,
});

function serverFactory() {
  const server = new McpServer({ name: 'dice', version: '1.0.0' });
  registerTools(server, [rollGet]);
  registerPrompts(server, [decide]);
  return server;
}

const { transport } = parseConfig(process.argv.slice(2), process.env);
if (transport.type === 'stdio') await setupStdioServer({ serverFactory });
else await setupHttpServer({ serverFactory, ...transport, logger: console });
