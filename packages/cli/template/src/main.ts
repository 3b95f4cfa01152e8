#!/usr/bin/env node
import { parseConfig, setupHttpServer, setupStdioServer } from '@weir/server';
import { createServer } from './server.ts';

const { transport } = parseConfig(process.argv.slice(2), process.env);
if (transport.type === 'stdio') {
  await setupStdioServer({ serverFactory: createServer });
} else {
  const { url } = await setupHttpServer({ ...transport, serverFactory: createServer });
  console.log(`Listening on ${url}`);
}
