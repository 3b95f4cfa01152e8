#!/usr/bin/env node
// Dice: an MCP server of the protocol revision 2026-07-28 on stdio, whole and without a dependency.
// That revision has no handshake: every request says which revision it is, every result says that it is complete.
import { randomInt } from 'node:crypto';
import { createInterface } from 'node:readline';

const VERSION = '2026-07-28';
const META = 'io.modelcontextprotocol/';
const MOST_DICE = 100;

const dice = { type: 'string', description: 'How many dice of how many sides, such as "2d6" or "1d20+3"' };
const whole = { type: 'integer' };

const tools = [
  {
    name: 'roll',
    description: 'Rolls dice and adds them up.',
    inputSchema: { type: 'object', properties: { dice }, required: ['dice'] },
    outputSchema: {
      type: 'object',
      properties: { rolls: { type: 'array', items: whole }, total: whole },
      required: ['rolls', 'total'],
    },
  },
];

function roll({ dice: wanted }) {
  const [, count, sides, extra = '0'] = /^(\d{1,3})d(\d{1,4})([+-]\d{1,4})?$/.exec(wanted) ?? [];
  if (!(count >= 1 && count <= MOST_DICE && sides >= 2))
    return {
      content: [{ type: 'text', text: `"${wanted}" are no dice; write "2d6" or "1d20+3".` }],
      isError: true,
    };
  const rolls = Array.from({ length: Number(count) }, () => randomInt(1, Number(sides) + 1));
  const total = rolls.reduce((sum, one) => sum + one, Number(extra));
  const text = `${wanted}: ${rolls.join(' + ')}${extra === '0' ? '' : ` ${extra[0]} ${extra.slice(1)}`} = ${total}`;
  return { content: [{ type: 'text', text }], structuredContent: { rolls, total } };
}

// How long a client may keep what does not change, and that it may show it to anyone.
const cacheable = { ttlMs: 3_600_000, cacheScope: 'public' };

const methods = {
  'server/discover': () => ({ supportedVersions: [VERSION], capabilities: { tools: {} }, ...cacheable }),
  'tools/list': () => ({ tools, ...cacheable }),
  'tools/call'({ name, arguments: args = {} }) {
    if (name !== 'roll') throw rpcError(-32602, `Unknown tool: ${name}`);
    return roll(args);
  },
};

createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params = {} } = JSON.parse(line);
  if (id !== undefined) console.log(JSON.stringify({ jsonrpc: '2.0', id, ...answer(method, params) }));
});

function answer(method, params) {
  try {
    const requested = params._meta?.[`${META}protocolVersion`];
    if (requested !== VERSION)
      throw rpcError(-32022, 'Unsupported protocol version', { supported: [VERSION], requested });
    if (!Object.hasOwn(methods, method)) throw rpcError(-32601, `Method not found: ${method}`);
    const _meta = { [`${META}serverInfo`]: { name: 'dice', version: '1.0.0' } };
    return { result: { resultType: 'complete', ...methods[method](params), _meta } };
  } catch ({ code = -32603, message, data }) {
    return { error: { code, message, data } };
  }
}

function rpcError(code, message, data) {
  return Object.assign(new Error(message), { code, data });
}
