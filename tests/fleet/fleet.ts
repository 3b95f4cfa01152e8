import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ensureInstalled } from '../../scripts/install.mjs';

/** A type and no interface, so that it passes for an entry of a config. */
export type FleetServer = {
  readonly command: string;
  readonly args: string[];
  readonly env?: Record<string, string>;
};

const folder = dirname(fileURLToPath(import.meta.url));

/**
 * Real servers from npm, by a short key, as a config file would list them; installed when they are not there yet.
 * Their files stay in `dir`.
 */
export function fleet(dir: string): Record<string, FleetServer> {
  ensureInstalled(folder, 'real MCP servers for the tests');
  return {
    everything: server('@modelcontextprotocol/server-everything', ['stdio']),
    filesystem: server('@modelcontextprotocol/server-filesystem', [dir]),
    memory: server('@modelcontextprotocol/server-memory', [], {
      MEMORY_FILE_PATH: join(dir, 'memory.jsonl'),
    }),
    thinking: server('@modelcontextprotocol/server-sequential-thinking'),
    playwright: server('@playwright/mcp', [
      '--headless',
      '--isolated',
      '--output-dir',
      join(dir, 'playwright'),
    ]),
    context7: server('@upstash/context7-mcp'),
    pdf: server('@modelcontextprotocol/server-pdf', ['--stdio']),
    react: server('@modelcontextprotocol/server-basic-react', ['--stdio']),
    map: server('@modelcontextprotocol/server-map', ['--stdio']),
    debug: server('@modelcontextprotocol/server-debug', ['--stdio']),
    threejs: server('@modelcontextprotocol/server-threejs', ['--stdio']),
    commands: server('mcp-server-commands'),
    hello: server('mcp-hello-world'),
    notion: server('@notionhq/notion-mcp-server'),
  };
}

// The caller's Node on the package's own script: no launcher stands between a test and the server.
function server(name: string, args: string[] = [], env?: Record<string, string>): FleetServer {
  const script = join(folder, 'node_modules', name, binOf(name));
  return { command: process.execPath, args: [script, ...args], ...(env === undefined ? {} : { env }) };
}

function binOf(name: string): string {
  const manifest = readFileSync(join(folder, 'node_modules', name, 'package.json'), 'utf8');
  const { bin } = JSON.parse(manifest) as { bin: string | Record<string, string> };
  const [first] = typeof bin === 'string' ? [bin] : Object.values(bin);
  if (first === undefined) throw new Error(`${name} has no command to run`);
  return first;
}
