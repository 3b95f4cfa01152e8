// What is compared: the same server, reached directly and through each kind of hop.
import { randomUUID } from 'node:crypto';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { connect, handshake, listTools } from './client.mjs';
import { ownProcesses, SERVER } from './processes.mjs';

const path = (relative) => fileURLToPath(new URL(relative, import.meta.url));
export const WEIR = path('../packages/cli/dist/weir.cjs');
const node = process.execPath;

/** A configured server of the bench; its tools are called tool_00000, tool_00001 … */
function benchServer({ tools = 10, outputSchema = false } = {}) {
  return { command: node, args: [SERVER, `--tools=${tools}`, ...(outputSchema ? ['--output-schema'] : [])] };
}

export const benchServers = (count, options) =>
  Object.fromEntries(Array.from({ length: count }, (_, i) => [`s${i}`, benchServer(options)]));

/** `command(servers)` is the command line; `prefix` stands before the tools' names; `single`: knows only one server. */
export function createVariants({ folder, gateway = WEIR }) {
  const config = (servers, more = {}) => {
    const file = join(mkdtempSync(join(folder, 'config-')), 'mcp.json');
    writeFileSync(file, JSON.stringify({ mcpServers: servers, ...more }));
    return ['--config', file];
  };
  // One state folder for all starts: from the second one on it is known which era a server speaks.
  const state = ['--state', mkdtempSync(join(folder, 'state-'))];
  const variants = [
    { name: 'direct', single: true, prefix: '', command: ({ s0 }) => [s0.command, ...s0.args] },
    {
      name: 'byte pipe',
      single: true,
      prefix: '',
      command: ({ s0 }) => [node, path('variants/byte-pipe.mjs'), s0.command, ...s0.args],
    },
    {
      name: 'weir',
      prefix: 's0__',
      // `group` is what the client sees, as patterns.
      command: (servers, group) =>
        group === undefined
          ? [node, gateway, ...config(servers), ...state]
          : [node, gateway, ...config(servers, { groups: { group } }), '--group', 'group', ...state],
    },
    {
      name: 'sdk aggregator',
      prefix: 's0:',
      command: (servers) => [node, path('variants/sdk-aggregator.mjs'), ...config(servers)],
    },
  ];
  return variants.map((variant) => ({
    ...variant,
    start: (servers, group) => start(variant, servers, group),
  }));
}

/** A variant at work: handshake and list are done; `own` are its processes that are not servers. */
async function start(variant, servers, group) {
  const { client, mark } = spawnVariant(variant, servers, group);
  await handshake(client);
  const tools = await listTools(client);
  return {
    name: variant.name,
    client,
    tools,
    own: ownProcesses(client.pid, mark),
    nameOf: namer(variant.prefix, tools.length),
  };
}

export function spawnVariant(variant, servers, group) {
  const mark = randomUUID();
  const client = connect(variant.command(servers, group), { env: { ...process.env, BENCH_MARK: mark } });
  return { client, mark };
}

// Calls wander over the whole catalogue: always the same tool would flatter whoever caches the last one.
function namer(prefix, count) {
  const names = Array.from(
    { length: Math.min(count, 10_000) },
    (_, i) => `${prefix}tool_${String(i).padStart(5, '0')}`,
  );
  return (call) => names[(call * 7919) % names.length];
}

export const closeAll = (running) => Promise.all(running.map(({ client }) => client.close()));
