// A server written with `@weir/server`.
import { McpServer } from '@modelcontextprotocol/server';
import { registerTools, setupHttpServer, setupStdioServer } from '@weir/server';
import * as z from 'zod';
import { announce, readOptions, SERVER_INFO } from '../options.mjs';
import { defineTools, resultOf } from '../tools.mjs';

const { port, ...options } = readOptions();
const tools = defineTools(z, options).map((tool) => ({
  ...tool,
  handler: (args) => resultOf(tool, args),
}));

function serverFactory() {
  const server = new McpServer(SERVER_INFO);
  registerTools(server, tools, {});
  return server;
}

if (port === undefined) await setupStdioServer({ serverFactory });
else {
  await setupHttpServer({ serverFactory, port });
  announce(port);
}
