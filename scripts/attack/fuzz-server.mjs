// @ts-check
// A server on stdio of which nothing is sure: `fuzz-server.mjs SEED`. It answers most of the handshakes and lists, so that it is in
// use for most of the time, and says random things between.
import { createInterface } from 'node:readline';
import { Random } from './random.mjs';

const random = new Random(Number(process.argv[2]));
const isModern = random.chance(0.5);
const TOOLS = ['echo', 'other', 'b:echo', 'h0__echo'].map((name) => ({
  name,
  inputSchema: { type: 'object' },
}));
const capabilities = {
  tools: { listChanged: true },
  resources: { subscribe: true, listChanged: true },
  prompts: {},
  logging: {},
};
const serverInfo = { name: 'fuzz', version: '1.0.0' };

process.stdout.on('error', () => process.exit());
createInterface({ input: process.stdin }).on('line', (line) => receive(JSON.parse(line)));
speak();

/** @param {any} message */
function receive({ id, method, params }) {
  if (id === undefined || method === undefined) return;
  // Once in a while it dies in the middle of its work; more often it would be disabled for good.
  if (random.chance(0.0005)) process.exit(1);
  if (random.chance(method === 'tools/call' ? 0.5 : 0.05)) return write(random.line());
  const result = properAnswer(method, params ?? {});
  const message = result === undefined ? { error: { code: -32601, message: 'no' } } : { result };
  const bytes = Buffer.from(JSON.stringify({ jsonrpc: '2.0', id, ...message }));
  write(random.chance(0.02) ? random.damage(bytes) : bytes);
  if (random.chance(0.05)) write(bytes);
}

/**
 * @param {string} method
 * @param {any} params
 */
function properAnswer(method, params) {
  const modern = isModern ? { resultType: 'complete', ttlMs: 1, cacheScope: 'private' } : {};
  if (method === 'initialize' && !isModern)
    return {
      protocolVersion: random.pick(['2025-11-25', '2025-03-26', '2024-11-05']),
      capabilities,
      serverInfo,
    };
  if (method === 'server/discover' && isModern)
    return { ...modern, supportedVersions: ['2026-07-28'], capabilities, serverInfo };
  if (method === 'ping') return {};
  if (method === 'tools/list')
    return {
      ...modern,
      tools: random.chance(0.9) ? TOOLS : random.value(),
      ...(random.chance(0.1) && { nextCursor: `${random.below(100)}` }),
    };
  if (method === 'resources/list')
    return { ...modern, resources: random.chance(0.9) ? [{ uri: 'test://1', name: 'one' }] : random.value() };
  if (method === 'resources/templates/list')
    return {
      ...modern,
      resourceTemplates: random.chance(0.9) ? [{ uriTemplate: 'test://{+x}', name: 'all' }] : random.value(),
    };
  if (method === 'prompts/list')
    return { ...modern, prompts: random.chance(0.9) ? [{ name: 'p' }] : random.value() };
  if (method === 'tools/call')
    return {
      ...modern,
      content: [{ type: 'text', text: String(params.arguments?.text) }],
      ...random.object(),
    };
  return random.chance(0.5) ? { ...modern, ...random.object() } : undefined;
}

/** Says something unasked, now and then a lot at once. */
function speak() {
  const count = random.chance(0.02) ? 500 : random.below(5);
  for (let i = 0; i < count; i++) write(random.line());
  setTimeout(speak, random.below(20));
}

/** @param {Buffer} line */
function write(line) {
  process.stdout.write(Buffer.concat([line, Buffer.from('\n')]));
}
