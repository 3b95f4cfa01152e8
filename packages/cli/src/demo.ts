import { existsSync, readdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { McpConfig, ServerConfig, ToolRegistry } from '@weir/gateway';
import type { Served } from './output/announce.ts';

/** Returns a config of the small servers in the folder `demo` beside the command, and of server-everything if it is installed. */
export function demoConfig(home: string): McpConfig {
  const folder = join(home, 'demo');
  const files = existsSync(folder) ? readdirSync(folder).filter((file) => file.endsWith('.mjs')) : [];
  const entries = files.map((file): [string, ServerConfig] => [
    file.slice(0, -'.mjs'.length),
    { command: process.execPath, args: [join(folder, file)] },
  ]);
  return { mcpServers: { ...Object.fromEntries(entries), ...wellKnown(home) } };
}

function wellKnown(home: string): Record<string, ServerConfig> {
  try {
    const file = createRequire(join(home, 'demo')).resolve(
      '@modelcontextprotocol/server-everything/dist/index.js',
    );
    return { everything: { command: process.execPath, args: [file, 'stdio'] } };
  } catch {
    return {};
  }
}

/** Lists the servers of the demo and shows how to use them. */
export function welcome(registry: ToolRegistry, { url, token, program }: Served): string {
  const header = token === undefined ? '' : ` -H 'Authorization: Bearer ${token}'`;
  const host = token === undefined ? '' : ` --header 'Authorization: Bearer ${token}'`;
  const name = [...registry.keys()].find((key) => key.endsWith('time-get')) ?? '';
  return `
${toolCounts(registry).join('\n')}

Add them all to a host, for example:
  claude mcp add --transport http weir '${url}'${host}

Or call a tool by hand:
  curl '${url}'${header} -H 'Content-Type: application/json' \\
    -H 'Accept: application/json, text/event-stream' -H 'MCP-Protocol-Version: 2026-07-28' \\
    -H 'Mcp-Method: tools/call' -H 'Mcp-Name: ${name}' -d '${exampleCall(name)}'

The same with your own servers: ${program.name} serve --config FILE

`;
}

function toolCounts(registry: ToolRegistry): string[] {
  const counts = new Map<string, number>();
  for (const { serverKey } of registry.values()) counts.set(serverKey, (counts.get(serverKey) ?? 0) + 1);
  const width = Math.max(...Array.from(counts.keys(), (key) => key.length));
  return Array.from(
    counts,
    ([key, count]) => `  ${key.padEnd(width)}  ${count} ${count === 1 ? 'tool' : 'tools'}`,
  );
}

function exampleCall(name: string): string {
  const prefix = 'io.modelcontextprotocol/';
  const meta = { [`${prefix}protocolVersion`]: '2026-07-28', [`${prefix}clientCapabilities`]: {} };
  const params = { name, arguments: { zone: 'Asia/Tokyo' }, _meta: meta };
  return JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params });
}
