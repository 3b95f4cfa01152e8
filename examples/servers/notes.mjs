#!/usr/bin/env node
// Notes that last as long as the server: tools to write and find them, and each note a resource to read.
// An MCP server on stdio, whole and without a dependency; it tells its client when the list of notes changes.
import { createInterface } from 'node:readline';

const VERSIONS = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05'];
const SCHEME = 'note:///';
const notes = new Map([['welcome', 'Notes live in memory and are gone when the server ends.']]);
const title = { type: 'string', description: 'The title of a note' };
const body = { type: 'string', description: 'The text of the note' };
const words = { type: 'string', description: 'Words in a note, or "" for all notes' };

const tools = [
  tool('write', 'Writes a note; an older one of that title is replaced.', { title, body }),
  tool('find', 'Finds notes by words in them.', { words }),
  tool('delete', 'Deletes a note.', { title }),
];

function tool(name, description, properties) {
  const inputSchema = { type: 'object', properties, required: Object.keys(properties) };
  return { name, description, inputSchema };
}

const calls = {
  write(note) {
    notes.set(note.title, note.body);
    send({ method: 'notifications/resources/list_changed' });
    return `Written: ${note.title}`;
  },
  find({ words: wanted }) {
    const found = [...notes].filter((note) => note.join('\n').toLowerCase().includes(wanted.toLowerCase()));
    return found.map(([name, text]) => `${name}: ${text}`).join('\n') || 'No note has these words.';
  },
  delete(note) {
    if (!notes.delete(note.title)) throw new Error(`There is no "${note.title}"; find tells the titles.`);
    send({ method: 'notifications/resources/list_changed' });
    return `Deleted: ${note.title}`;
  },
};

const methods = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion: VERSIONS.includes(protocolVersion) ? protocolVersion : VERSIONS[0],
    capabilities: { tools: {}, resources: { listChanged: true } },
    serverInfo: { name: 'notes', version: '1.0.0' },
  }),
  ping: () => ({}),
  'tools/list': () => ({ tools }),
  'tools/call'({ name, arguments: args = {} }) {
    if (!Object.hasOwn(calls, name)) throw rpcError(-32602, `Unknown tool: ${name}`);
    try {
      return { content: [{ type: 'text', text: calls[name](args) }] };
    } catch (error) {
      return { content: [{ type: 'text', text: error.message }], isError: true };
    }
  },
  'resources/list': () => ({
    resources: [...notes.keys()].map((name) => ({ name, uri: SCHEME + encodeURIComponent(name) })),
  }),
  'resources/read'({ uri }) {
    const text = notes.get(decodeURIComponent(uri.slice(SCHEME.length)));
    if (text === undefined) throw rpcError(-32602, `Resource not found: ${uri}`);
    return { contents: [{ uri, mimeType: 'text/plain', text }] };
  },
};

const send = (message) => console.log(JSON.stringify({ jsonrpc: '2.0', ...message }));
const rpcError = (code, message) => Object.assign(new Error(message), { code });

createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params = {} } = JSON.parse(line);
  if (id === undefined) return;
  try {
    if (!Object.hasOwn(methods, method)) throw rpcError(-32601, `Method not found: ${method}`);
    send({ id, result: methods[method](params) });
  } catch ({ code = -32603, message }) {
    send({ id, error: { code, message } });
  }
});
