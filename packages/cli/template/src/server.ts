import { McpServer } from '@modelcontextprotocol/server';
import { registerTools } from '@weir/server';
import { greetingGet } from './greeting-get.ts';

/** Makes a server for one request or one session: state that is to last longer belongs outside. */
export function createServer(): McpServer {
  const server = new McpServer({ name: '{{name}}', version: '0.1.0' });
  registerTools(server, [greetingGet]);
  return server;
}
