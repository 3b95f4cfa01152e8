// The server behind the gateway while a client is tried: a tool that answers, one that fails, one that changes the list, one
// that asks the user. Where the file of its first argument exists, it starts as many milliseconds late as stand in it.
import { existsSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { ask, notify, serve, text, tool } from '../../tests/fixtures/stdio.mjs';
import { ADDED, FAILURE, INSTRUCTIONS } from './kit-texts.mjs';

/** Leaves the new list time to reach the client before the model speaks again. */
const SETTLE_MS = 2000;
/** A host without a user may leave a question open for ever. */
const ANSWER_MS = 3000;

const string = { type: 'string' };
const tools = [
  tool('echo', { inputSchema: { type: 'object', properties: { text: string }, required: ['text'] } }),
  tool('fail'),
  tool('add_tool'),
  tool('ask'),
];
const form = {
  message: 'Which colour?',
  requestedSchema: { type: 'object', properties: { colour: string }, required: ['colour'] },
};

const delay = process.argv[2] ?? '';
if (existsSync(delay)) await sleep(Number(readFileSync(delay, 'utf8')));

serve({
  name: 'kit',
  instructions: INSTRUCTIONS,
  capabilities: { tools: { listChanged: true } },
  tools: () => tools,
  call: {
    echo: (args) => text(`echo: ${args.text}`),
    fail: () => text(FAILURE, { isError: true }),
    add_tool: addTool,
    ask: askUser,
    [ADDED]: () => text(`${ADDED} was called`),
  },
});

async function addTool() {
  tools.push(tool(ADDED));
  notify('notifications/tools/list_changed');
  await sleep(SETTLE_MS);
  return text('The list has one more tool');
}

async function askUser() {
  const silence = sleep(ANSWER_MS, { silence: true }, { ref: false });
  const { result, error, silence: isSilent } = await Promise.race([ask('elicitation/create', form), silence]);
  return text(isSilent ? 'no answer' : JSON.stringify(result ?? error));
}
