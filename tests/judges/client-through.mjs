// A client for the conformance suite's client scenarios. Usage: client-through.mjs direct|stdio|http URL
// It connects to the scenario's server itself, or to a gateway that has this server as its only one.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { scenarios } from './client-scenarios.mjs';

const MODERN = '2026-07-28';
const dist = process.env.WEIR_DIST ?? fileURLToPath(new URL('../../packages/cli/dist', import.meta.url));
const bundle = join(dist, 'weir.cjs');
const [way, url] = process.argv.slice(2);
const {
  MCP_CONFORMANCE_SCENARIO: scenario,
  MCP_CONFORMANCE_CONTEXT: context = '{}',
  MCP_CONFORMANCE_PROTOCOL_VERSION: version,
} = process.env;

const ways = {
  direct: () => ({ transport: new StreamableHTTPClientTransport(new URL(url)), stop: () => {} }),
  stdio: () => {
    const { args, stop } = gatewayOver(url);
    return {
      transport: new StdioClientTransport({ command: process.execPath, args: [bundle, ...args] }),
      stop,
    };
  },
  http: async () => {
    const { args, stop } = gatewayOver(url);
    const child = spawn(process.execPath, [bundle, 'serve', ...args, '--no-auth', '--port', '0'], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const transport = new StreamableHTTPClientTransport(await addressOf(child));
    return {
      transport,
      async stop() {
        const exit = once(child, 'exit');
        child.kill();
        await exit;
        stop();
      },
    };
  },
};

const { transport, stop } = await ways[way]();
try {
  const client = new Client(
    { name: 'conformance-client', version: '1.0.0' },
    {
      capabilities: { elicitation: { form: { applyDefaults: true } } },
      versionNegotiation: { mode: version === MODERN ? { pin: MODERN } : 'legacy' },
    },
  );
  client.setRequestHandler('elicitation/create', ({ params }) => ({
    action: 'accept',
    content: fillIn(params),
  }));
  await client.connect(transport);
  await scenarios[scenario](client, { ...JSON.parse(context), isDirect: way === 'direct' });
  await client.close();
} finally {
  await stop();
}

/** Confirms the fields without a default; the SDK fills in the rest. */
function fillIn({ requestedSchema: { properties } }) {
  const open = Object.entries(properties).filter(([, schema]) => schema.default === undefined);
  return Object.fromEntries(open.map(([name]) => [name, true]));
}

function gatewayOver(server) {
  const folder = mkdtempSync(join(tmpdir(), 'weir-client-'));
  const config = join(folder, 'mcp.json');
  writeFileSync(config, JSON.stringify({ mcpServers: { scenario: { url: server } } }));
  return {
    args: ['--config', config, '--state', join(folder, 'state'), '--no-prefix'],
    stop: () => rmSync(folder, { recursive: true, force: true }),
  };
}

async function addressOf(child) {
  let said = '';
  const lines = [child.stdout, child.stderr].map(async (input) => {
    for await (const line of createInterface({ input })) {
      said += `${line}\n`;
      const [found] = /http:\/\/\S+\/mcp\b/.exec(line) ?? [];
      if (found !== undefined) return new URL(found);
    }
    throw new Error(`The gateway did not start: ${said}`);
  });
  return Promise.any(lines);
}
