// What the bench's servers say, however they are reached: `--tools=N --output-schema`. It is little, so that the hop shows.

/** Returns the function that answers a request with `result` or `error`. */
export function createAnswers(argv) {
  const count = Number(argv.find((arg) => arg.startsWith('--tools='))?.split('=')[1] ?? 10);
  const withSchema = argv.includes('--output-schema');
  // Clients that check results want one wherever a schema was promised.
  const structure = withSchema ? { structuredContent: { path: '/' } } : {};
  return (method, params) => {
    if (method === 'tools/call')
      return { result: { content: [{ type: 'text', text: textOf(params.arguments) }], ...structure } };
    if (method === 'tools/list') return { result: { tools: toolList(count, withSchema) } };
    if (method === 'ping') return { result: {} };
    if (method !== 'initialize') return { error: { code: -32601, message: `Method not found: ${method}` } };
    const { protocolVersion } = params;
    return { result: { protocolVersion, capabilities: { tools: {} }, serverInfo: SERVER_INFO } };
  };
}

export const SERVER_INFO = { name: 'bench', version: '1.0.0' };

const texts = new Map();

function textOf({ bytes = 64 } = {}) {
  if (!texts.has(bytes)) texts.set(bytes, 'x'.repeat(bytes));
  return texts.get(bytes);
}

const toolList = (count, withSchema) => Array.from({ length: count }, (_, i) => tool(i, withSchema));

function tool(index, withSchema) {
  const property = (name) => ({
    type: 'string',
    description: `What to use as ${name}, a hundred characters at most`,
  });
  const schema = {
    type: 'object',
    properties: { path: property('path'), query: property('query') },
    required: ['path'],
  };
  const name = `tool_${String(index).padStart(5, '0')}`;
  const description = `Tool number ${index}. ${'It does useful things. '.repeat(6)}`;
  const outputSchema = { ...schema, title: name };
  return {
    name,
    description,
    inputSchema: schema,
    ...(withSchema && { outputSchema }),
  };
}
