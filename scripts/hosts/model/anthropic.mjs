// @ts-check
// The Messages API of Anthropic.
import { textOf } from './texts.mjs';

/**
 * What is read of a request.
 * @typedef {object} Body
 * @property {string} model
 * @property {boolean} [stream]
 * @property {{ name: string }[]} [tools]
 * @property {unknown} [system]
 * @property {{ content: string | { type: string; content?: unknown }[] }[]} messages
 */

/** @type {import('./server.mjs').Dialect<Body>} */
export const anthropic = {
  speaks: (path) => path.endsWith('/messages'),
  read({ tools = [], system, messages }) {
    const blocks = messages.flatMap(({ content }) => (Array.isArray(content) ? content : []));
    return {
      tools: tools.map(({ name }) => name),
      text: JSON.stringify([system, messages]),
      results: blocks.filter(({ type }) => type === 'tool_result').map(({ content }) => textOf(content)),
    };
  },
  events({ model }, move) {
    const block =
      move.call === undefined
        ? { type: 'text', text: '' }
        : { type: 'tool_use', id: move.id, name: move.call, input: {} };
    const delta =
      move.call === undefined
        ? { type: 'text_delta', text: move.text }
        : { type: 'input_json_delta', partial_json: JSON.stringify(move.args) };
    const stop_reason = move.call === undefined ? 'end_turn' : 'tool_use';
    const message = { ...envelope(model, move), content: [], stop_reason: null };
    return [
      { type: 'message_start', message },
      { type: 'content_block_start', index: 0, content_block: block },
      { type: 'content_block_delta', index: 0, delta },
      { type: 'content_block_stop', index: 0 },
      { type: 'message_delta', delta: { stop_reason, stop_sequence: null }, usage: { output_tokens: 1 } },
      { type: 'message_stop' },
    ];
  },
  whole({ model }, move) {
    const content =
      move.call === undefined
        ? { type: 'text', text: move.text }
        : { type: 'tool_use', id: move.id, name: move.call, input: move.args };
    const stop_reason = move.call === undefined ? 'end_turn' : 'tool_use';
    return { ...envelope(model, move), content: [content], stop_reason };
  },
  isStreamed: ({ stream }) => stream === true,
};

/**
 * @param {string} model
 * @param {import('./server.mjs').Move} move
 */
function envelope(model, { id }) {
  const usage = { input_tokens: 1, output_tokens: 1 };
  return { id: `msg_${id}`, type: 'message', role: 'assistant', model, stop_sequence: null, usage };
}
