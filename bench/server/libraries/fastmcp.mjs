// A server written with fastmcp, which has sessions for legacy clients and no modern era.
import { FastMCP } from 'fastmcp';
import * as z from 'zod';
import { announce, readOptions, SERVER_INFO } from '../options.mjs';
import { defineTools } from '../tools.mjs';

const { port, ...options } = readOptions();
const ignore = () => {};
// Its own logger would write a line to stdout for each session.
const logger = { debug: ignore, error: console.error, info: ignore, log: ignore, warn: ignore };
const server = new FastMCP({ ...SERVER_INFO, logger });

for (const { name, description, inputSchema, outputSchema, answer } of defineTools(z, options)) {
  const execute =
    outputSchema === undefined
      ? (args) => Promise.resolve(JSON.stringify(answer(args)))
      : (args) => Promise.resolve(answer(args));
  server.addTool({ name, description, parameters: inputSchema, outputSchema, execute });
}

if (port === undefined) await server.start({ transportType: 'stdio' });
else {
  await server.start({ transportType: 'httpStream', httpStream: { port, host: '127.0.0.1' } });
  announce(port);
}
