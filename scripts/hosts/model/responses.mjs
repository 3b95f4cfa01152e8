// @ts-check
// The Responses API of OpenAI. Codex puts the tools of a server into a namespace.
import { textOf } from './texts.mjs';

/** @typedef {{ type: string; name?: string; tools?: { name: string }[] }} Tool */

/**
 * What is read of a request.
 * @typedef {object} Body
 * @property {string} model
 * @property {boolean} [stream]
 * @property {Tool[]} [tools]
 * @property {unknown} [instructions]
 * @property {string | { type: string; output?: unknown }[]} input
 */

/** @type {import('./server.mjs').Dialect<Body>} */
export const responses = {
  speaks: (path) => path.endsWith('/responses'),
  read({ tools = [], instructions, input }) {
    const items = Array.isArray(input) ? input : [];
    return {
      tools: tools.flatMap(namesOf),
      text: JSON.stringify([instructions, input, tools.filter(({ type }) => type === 'namespace')]),
      results: items
        .filter(({ type }) => String(type).endsWith('_call_output'))
        .map(({ output }) => textOf(output)),
    };
  },
  events(body, move) {
    const item = itemOf(move);
    const response = responseOf(body, move);
    return [
      { type: 'response.created', response: { ...response, status: 'in_progress', output: [] } },
      { type: 'response.output_item.added', output_index: 0, item: { ...item, status: 'in_progress' } },
      ...deltas(move, item.id),
      { type: 'response.output_item.done', output_index: 0, item },
      { type: 'response.completed', response },
    ].map((event, sequence_number) => ({ ...event, sequence_number }));
  },
  whole: responseOf,
  isStreamed: ({ stream }) => stream === true,
};

/**
 * @param {Tool} tool
 * @returns {string[]}
 */
function namesOf({ type, name, tools = [] }) {
  if (type === 'namespace') return tools.map((tool) => `${name}${NAMESPACE}${tool.name}`);
  return [name ?? type];
}

/** Stands between a namespace and a tool in our own records. */
const NAMESPACE = '→';

/**
 * @param {Body} body
 * @param {import('./server.mjs').Move} move
 */
function responseOf({ model }, move) {
  const usage = {
    input_tokens: 1,
    input_tokens_details: { cached_tokens: 0 },
    output_tokens: 1,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: 2,
  };
  const common = { object: 'response', created_at: 1, model, parallel_tool_calls: false, tools: [] };
  return { id: `resp_${move.id}`, ...common, status: 'completed', output: [itemOf(move)], usage };
}

/** @param {import('./server.mjs').Move} move */
function itemOf({ call, args, id, text }) {
  const status = 'completed';
  if (call === undefined) {
    const content = [{ type: 'output_text', text, annotations: [] }];
    return { type: 'message', id: `msg_${id}`, role: 'assistant', status, content };
  }
  const [name, namespace] = call.split(NAMESPACE).reverse();
  const named = { name, ...(namespace !== undefined && { namespace }) };
  return {
    type: 'function_call',
    id: `fc_${id}`,
    call_id: id,
    ...named,
    arguments: JSON.stringify(args),
    status,
  };
}

/**
 * @param {import('./server.mjs').Move} move
 * @param {string} item_id
 */
function deltas({ call, args, text }, item_id) {
  const place = { item_id, output_index: 0 };
  if (call !== undefined) {
    const whole = JSON.stringify(args);
    return [
      { type: 'response.function_call_arguments.delta', ...place, delta: whole },
      { type: 'response.function_call_arguments.done', ...place, arguments: whole },
    ];
  }
  const part = { ...place, content_index: 0 };
  const content = { type: 'output_text', text, annotations: [] };
  return [
    { type: 'response.content_part.added', ...part, part: { ...content, text: '' } },
    { type: 'response.output_text.delta', ...part, delta: text },
    { type: 'response.output_text.done', ...part, text },
    { type: 'response.content_part.done', ...part, part: content },
  ];
}
