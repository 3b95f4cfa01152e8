#!/usr/bin/env node
import { parseConfig, setupHttpServer, setupStdioServer } from '@weir/server';
import { createServer as serverFactory } from './server.ts';

const { transport } = parseConfig(process.argv.slice(2), process.env);
if (transport.type === 'stdio') {
  await setupStdioServer({ serverFactory });
} else {
  const { url } = await setupHttpServer({ serverFactory, ...transport });
  console.log(`Listening on ${url}`);
}
