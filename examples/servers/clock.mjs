#!/usr/bin/env node
// A clock for every time zone: an MCP server on stdio, whole and without a dependency.
// A message is one line of JSON; nothing else may go to stdout, what people should read goes to stderr.
import { createInterface } from 'node:readline';

const VERSIONS = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05'];
const zone = { type: 'string', description: 'A time zone such as "Europe/Paris" or "UTC"' };
const time = { type: 'string', description: 'A time of day such as "09:30"' };

const tools = [
  tool('now', 'Tells date and time in a time zone.', { zone }),
  tool('convert', 'Tells what time it is elsewhere, given a time here.', { time, from: zone, to: zone }),
];

function tool(name, description, properties) {
  const inputSchema = { type: 'object', properties, required: Object.keys(properties) };
  return { name, description, inputSchema };
}

const calls = {
  now: ({ zone: timeZone }) => show(new Date(), { timeZone, dateStyle: 'full', timeStyle: 'long' }),
  convert({ time: given, from, to }) {
    const [date] = new Date().toISOString().split('T');
    const moment = Date.parse(`${date}T${given}Z`) - minutesAhead(from) * 60_000;
    if (Number.isNaN(moment)) throw new Error(`"${given}" is no time of day such as "09:30".`);
    const there = show(moment, { timeZone: to, weekday: 'long', hour: '2-digit', minute: '2-digit' });
    return `When it is ${given} in ${from}, it is ${there} in ${to}.`;
  },
};

function show(moment, options) {
  return new Intl.DateTimeFormat('en-GB', options).format(moment);
}

/** How far a zone is ahead of UTC today. */
function minutesAhead(timeZone) {
  const offset = show(new Date(), { timeZone, timeZoneName: 'longOffset' });
  const [, sign, hours, minutes] = /([+-])(\d\d):(\d\d)/.exec(offset) ?? [offset, '+', 0, 0];
  return Number(`${sign}1`) * (Number(hours) * 60 + Number(minutes));
}

const methods = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion: VERSIONS.includes(protocolVersion) ? protocolVersion : VERSIONS[0],
    capabilities: { tools: {} },
    serverInfo: { name: 'clock', version: '1.0.0' },
  }),
  ping: () => ({}),
  'tools/list': () => ({ tools }),
  'tools/call'({ name, arguments: args = {} }) {
    if (!Object.hasOwn(calls, name)) throw rpcError(-32602, `Unknown tool: ${name}`);
    try {
      return { content: [{ type: 'text', text: calls[name](args) }] };
    } catch (error) {
      // A tool that fails says so in its result, where the model reads it and can do better.
      return { content: [{ type: 'text', text: error.message }], isError: true };
    }
  },
};

const rpcError = (code, message) => Object.assign(new Error(message), { code });

createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params = {} } = JSON.parse(line);
  // What has no id is a notification and wants no answer.
  if (id !== undefined) console.log(JSON.stringify({ jsonrpc: '2.0', id, ...answer(method, params) }));
});

function answer(method, params) {
  try {
    if (!Object.hasOwn(methods, method)) throw rpcError(-32601, `Method not found: ${method}`);
    return { result: methods[method](params) };
  } catch ({ code = -32603, message }) {
    return { error: { code, message } };
  }
}
