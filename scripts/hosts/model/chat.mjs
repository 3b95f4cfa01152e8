// @ts-check
// The Chat Completions API of OpenAI, which most providers offer, too.
import { textOf } from './texts.mjs';

const USAGE = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };

/**
 * What is read of a request.
 * @typedef {object} Body
 * @property {string} model
 * @property {boolean} [stream]
 * @property {{ function: { name: string } }[]} [tools]
 * @property {{ role: string; content: unknown }[]} messages
 */

/** @type {import('./server.mjs').Dialect<Body>} */
export const chat = {
  speaks: (path) => path.endsWith('/chat/completions'),
  read({ tools = [], messages }) {
    return {
      tools: tools.map((tool) => tool.function.name),
      text: JSON.stringify(messages),
      results: messages.filter(({ role }) => role === 'tool').map(({ content }) => textOf(content)),
    };
  },
  events(body, move) {
    const chunk = (/** @type {object} */ delta, /** @type {string | null} */ finish_reason) => ({
      ...envelope(body.model, move, 'chat.completion.chunk'),
      choices: [{ index: 0, delta, finish_reason }],
    });
    const { content, tool_calls } = message(move);
    const calls = tool_calls?.map((call, index) => ({ index, ...call }));
    return [
      chunk({ role: 'assistant', content, ...(calls && { tool_calls: calls }) }, null),
      chunk({}, reason(move)),
      { ...envelope(body.model, move, 'chat.completion.chunk'), choices: [], usage: USAGE },
    ];
  },
  whole: (body, move) => ({
    ...envelope(body.model, move, 'chat.completion'),
    choices: [{ index: 0, message: { role: 'assistant', ...message(move) }, finish_reason: reason(move) }],
    usage: USAGE,
  }),
  isStreamed: ({ stream }) => stream === true,
  end: '[DONE]',
};

/** @param {import('./server.mjs').Move} move */
function message({ call, args, id, text }) {
  if (call === undefined) return { content: text };
  const tool_calls = [{ id, type: 'function', function: { name: call, arguments: JSON.stringify(args) } }];
  return { content: null, tool_calls };
}

/** @param {import('./server.mjs').Move} move */
function reason({ call }) {
  return call === undefined ? 'stop' : 'tool_calls';
}

/**
 * @param {string} model
 * @param {import('./server.mjs').Move} move
 * @param {string} object
 */
function envelope(model, { id }, object) {
  return { id: `chatcmpl-${id}`, object, created: 1, model };
}
