#!/usr/bin/env node
// Notes that last as long as the server: tools to find and write them, and each note is a resource.
// Clients hear of new notes. On stdio; with `--port 3000` at http://127.0.0.1:3000/mcp.
import { McpServer } from '@modelcontextprotocol/server';
import { parseConfig } from '@weir/server/config';
import { createHttpError } from '@weir/server/errors';
import { defineResource, defineTool, registerResources, registerTools } from '@weir/server/modules';
import { item, items, pageInput, paginate } from '@weir/server/results';
import { setupHttpServer, setupStdioServer } from '@weir/server/transport';
import { z } from 'zod';

const notes = new Map([['welcome', 'Notes live in memory and are gone when the server ends.']]);

const title = z.string().describe('The title of a note');
const note = z.object({ title, text: z.string() });

const noteSearch = defineTool({
  name: 'note-search',
  description: 'Finds notes by words in them.',
  inputSchema: z.object({ words: z.string().describe('"" finds all notes'), ...pageInput() }),
  outputSchema: items(note),
  handler(args) {
    const words = args.words.toLowerCase();
    const all = [...notes.keys()].map((name) => noteOf(name));
    const found = all.filter((one) => `${one.title}\n${one.text}`.toLowerCase().includes(words));
    return { type: 'success', ...paginate(found, args) };
  },
});

const noteGet = defineTool({
  name: 'note-get',
  description: 'Returns a note.',
  inputSchema: z.object({ title }),
  outputSchema: item(note),
  handler: (args) => ({ type: 'success', item: noteOf(args.title) }),
});

const noteAppend = defineTool({
  name: 'note-append',
  description: 'Adds a line to a note, or begins one.',
  inputSchema: z.object({ title, line: z.string() }),
  outputSchema: item(note),
  handler(args, _extra, { tellOfNewNote }) {
    const text = notes.get(args.title);
    notes.set(args.title, text === undefined ? args.line : `${text}\n${args.line}`);
    if (text === undefined) tellOfNewNote();
    return { type: 'success', item: noteOf(args.title) };
  },
});

function noteOf(name) {
  const text = notes.get(name);
  if (text === undefined) throw createHttpError(404, `There is no note "${name}": note-search lists them`);
  return { title: name, text };
}

const noteResource = defineResource({
  name: 'note',
  description: 'A note',
  template: 'note:///{title}',
  list: () => [...notes.keys()].map((name) => ({ name, uri: `note:///${encodeURIComponent(name)}` })),
  handler: ({ variables }) => notes.get(variables.title),
});

/** Makes a server for a client; `tellOfNewNote` tells all clients where there may be several. */
function createServer(tellOfNewNote) {
  const server = new McpServer({ name: 'notes', version: '1.0.0' });
  const context = { tellOfNewNote: tellOfNewNote ?? (() => server.sendResourceListChanged()) };
  registerTools(server, [noteSearch, noteGet, noteAppend], context);
  registerResources(server, [noteResource], context, { listChanged: true });
  return server;
}

const { transport } = parseConfig(process.argv.slice(2), process.env);
if (transport.type === 'stdio') await setupStdioServer({ serverFactory: () => createServer() });
else {
  const serverFactory = () => createServer(() => http.notify.resourcesChanged());
  const http = await setupHttpServer({ serverFactory, ...transport, logger: console });
}
