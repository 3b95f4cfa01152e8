#!/usr/bin/env node
import type { McpServer } from '@modelcontextprotocol/server';
import { createLogger, parseConfig, setupHttpServer, setupStdioServer } from '@weir/server';
import { createServer } from './server.ts';

try {
  const { transport, logLevel } = parseConfig(process.argv.slice(2), process.env);
  const logger = createLogger(process.stderr, logLevel);
  const serverFactory = (): McpServer => createServer({ logger });
  if (transport.type === 'stdio') {
    await setupStdioServer({ serverFactory, logger });
  } else {
    const { close } = await setupHttpServer({ ...transport, serverFactory, logger });
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void close());
  }
} catch (error) {
  // A wrong option or a port in use: the message says what to do, a stack would hide it.
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
