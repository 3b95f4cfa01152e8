import { existsSync, mkdtempSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { handshake, listTools } from '../client.mjs';
import { inRounds, middle } from '../statistics.mjs';
import { spawnVariant } from '../variants.mjs';

export const title = 'Start of ten real servers from npm: from the spawn to the whole list';
export const pinned = false;
const MODULES = fileURLToPath(new URL('../../tests/fleet/node_modules', import.meta.url));

export async function run({ variants, folder, quick }) {
  if (quick) return { skipped: 'only in the long run' };
  const servers = fleet(mkdtempSync(join(folder, 'fleet-')));
  if (servers === undefined) return { skipped: 'the servers of tests/fleet are not installed' };
  const items = variants.filter(({ single }) => !single);
  const rounds = await inRounds(items, { rounds: 3, seconds: 15 }, (variant) => start(variant, servers));
  const rows = items.map(({ name }) => [name, middle(rounds, name, (r) => r.seconds), rounds[0][name].tools]);
  return {
    tables: [{ columns: ['', 's', 'tools'], rows, note: `${rounds.length} rounds` }],
    figures: { 's until listed': middle(rounds, 'weir', (r) => r.seconds) },
  };
}

async function start(variant, servers) {
  const started = performance.now();
  const { client } = spawnVariant(variant, servers);
  await handshake(client);
  const tools = await listTools(client);
  const seconds = (performance.now() - started) / 1000;
  await client.close();
  return { seconds, tools: tools.length };
}

function fleet(folder) {
  const memory = { env: { MEMORY_FILE_PATH: join(folder, 'memory.json') } };
  const servers = {
    everything: server('@modelcontextprotocol/server-everything', ['stdio']),
    filesystem: server('@modelcontextprotocol/server-filesystem', [folder]),
    memory: server('@modelcontextprotocol/server-memory', [], memory),
    thinking: server('@modelcontextprotocol/server-sequential-thinking'),
    pdf: server('@modelcontextprotocol/server-pdf', ['--stdio']),
    map: server('@modelcontextprotocol/server-map', ['--stdio']),
    threejs: server('@modelcontextprotocol/server-threejs', ['--stdio']),
    debug: server('@modelcontextprotocol/server-debug', ['--stdio']),
    commands: server('mcp-server-commands'),
    playwright: server('@playwright/mcp', ['--headless']),
  };
  return Object.values(servers).includes(undefined) ? undefined : servers;
}

function server(name, args = [], more = {}) {
  const folder = join(MODULES, name);
  if (!existsSync(folder)) return undefined;
  const { bin } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const script = typeof bin === 'string' ? bin : Object.values(bin)[0];
  return { command: process.execPath, args: [join(folder, script), ...args], ...more };
}
