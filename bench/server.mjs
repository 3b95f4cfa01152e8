// The server behind every variant: `server.mjs [--tools=N] [--output-schema]`. It does little, so that the hop shows.
import { splitLines } from './lines.mjs';

const option = (name) => process.argv.find((arg) => arg.startsWith(`--${name}=`))?.split('=')[1];
const count = Number(option('tools') ?? 10);
const withSchema = process.argv.includes('--output-schema');
// Clients that check results want one wherever a schema was promised.
const structure = withSchema ? { structuredContent: { path: '/' } } : {};
const texts = new Map();
let pending = '';

process.stdin.on(
  'data',
  splitLines((line) => {
    const { id, method, params } = JSON.parse(line);
    if (id !== undefined) write(JSON.stringify({ jsonrpc: '2.0', id, ...answer(method, params) }));
  }),
);

function answer(method, params) {
  if (method === 'tools/call')
    return { result: { content: [{ type: 'text', text: textOf(params.arguments) }], ...structure } };
  if (method === 'tools/list') return { result: { tools: Array.from({ length: count }, (_, i) => tool(i)) } };
  if (method === 'ping') return { result: {} };
  if (method !== 'initialize') return { error: { code: -32601, message: `Method not found: ${method}` } };
  const { protocolVersion } = params;
  return {
    result: { protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'bench', version: '1.0.0' } },
  };
}

function textOf({ bytes = 64 } = {}) {
  if (!texts.has(bytes)) texts.set(bytes, 'x'.repeat(bytes));
  return texts.get(bytes);
}

function tool(index) {
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

// One write per tick, as a careful server does it; big answers go out at once.
function write(line) {
  if (pending === '') queueMicrotask(flush);
  pending += `${line}\n`;
  if (pending.length > 65_536) flush();
}

function flush() {
  const text = pending;
  pending = '';
  if (text === '' || process.stdout.write(text) || process.stdin.isPaused()) return;
  // A server that read on while nobody takes its answers would fill the machine instead of the gateway.
  process.stdin.pause();
  process.stdout.once('drain', () => process.stdin.resume());
}
