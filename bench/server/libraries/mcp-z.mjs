// A server written with @mcp-z/server, on Express as its own examples.
import { connectHttp, connectStdio, McpServer, registerTools } from '@mcp-z/server';
import express from 'express';
import * as z from 'zod';
import { announce, readOptions, SERVER_INFO } from '../options.mjs';
import { defineTools, resultOf } from '../tools.mjs';

const { port, ...options } = readOptions();
const ignore = () => {};
const logger = { debug: ignore, error: console.error, info: ignore, warn: ignore };
const tools = defineTools(z, options).map((tool) => {
  const { name, description, inputSchema, outputSchema } = tool;
  return {
    name,
    config: { description, inputSchema, outputSchema },
    handler: (args) => resultOf(tool, args),
  };
});

function factory() {
  const server = new McpServer(SERVER_INFO, { capabilities: { tools: {} } });
  registerTools(server, tools);
  return server;
}

if (port === undefined) await connectStdio(factory, { logger });
else {
  await connectHttp(factory, { app: express(), logger, port });
  announce(port);
}
