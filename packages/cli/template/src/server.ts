import { McpServer } from '@modelcontextprotocol/server';
import { type Logger, registerTools } from '@weir/server';
import { greetingGet } from './greeting-get.ts';

export interface ServerOptions {
  /** Gets what clients are not told: stacks of errors, refused arguments. */
  readonly logger?: Logger;
}

/** Makes a server for one request or one session: state that is to last longer belongs outside. */
export function createServer({ logger }: ServerOptions = {}): McpServer {
  const server = new McpServer({ name: '{{name}}', version: '0.1.0' });
  registerTools(server, [greetingGet], {}, { logger });
  return server;
}
