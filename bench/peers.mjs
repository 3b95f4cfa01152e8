// Other gateways from npm, measured by the same client over the transport they offer.
import { spawn, spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { createClient, handshake, untilListed } from './client.mjs';
import { connectEvents, connectStreamable } from './http-client.mjs';
import { allProcesses, ownProcesses } from './processes.mjs';

const CACHE = fileURLToPath(new URL('.cache/peers', import.meta.url));

export const PEERS = {
  'mcp-hub': {
    version: '4.2.1',
    connect: connectEvents,
    args: ({ port, config }) => ['--port', port, '--config', config],
  },
  'mcp-proxy': {
    version: '6.7.19',
    connect: connectStreamable,
    args: ({ port, s0 }) => [
      '--host',
      '127.0.0.1',
      '--port',
      port,
      '--server',
      'stream',
      '--',
      s0.command,
      ...s0.args,
    ],
  },
  supergateway: {
    version: '4.0.0',
    connect: connectStreamable,
    args({ port, s0 }) {
      const server = [s0.command, ...s0.args].join(' ');
      const front = ['--outputTransport', 'streamableHttp', '--stateful', '--port', port];
      return ['--stdio', server, '--logLevel', 'none', ...front];
    },
  },
};

/** Nothing that a package wants to run at its installation is run. */
export function installPeer(name) {
  const folder = join(CACHE, name);
  if (existsSync(join(folder, 'node_modules', name))) return;
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'package.json'), '{ "private": true }');
  // A package deep down may ask for a newer Node than it needs.
  const args = [
    'install',
    '--engine-strict=false',
    '--ignore-scripts',
    '--no-audit',
    '--no-fund',
    `${name}@${PEERS[name].version}`,
  ];
  const { status } = spawnSync('npm', args, {
    cwd: folder,
    stdio: ['ignore', 'ignore', 'inherit'],
    shell: process.platform === 'win32',
  });
  if (status !== 0) throw new Error(`npm could not install ${name}@${PEERS[name].version}`);
}

export function createPeer(name, folder) {
  return { name, single: true, start: (servers) => startPeer(name, folder, servers) };
}

async function startPeer(name, folder, servers) {
  const peer = PEERS[name];
  const port = await freePort();
  const config = join(folder, `${name}.json`);
  writeFileSync(config, JSON.stringify({ mcpServers: servers }));
  const mark = randomUUID();
  const child = spawnPeer(peerCommand(name, { port: String(port), config, s0: servers.s0 }), mark);
  const client = await reach(peer, port, name);
  Object.assign(client, { pid: child.pid, close: () => stop(child) });
  const tools = await untilListed(client);
  return {
    name,
    client,
    tools,
    own: ownProcesses(child.pid, mark),
    all: allProcesses(child.pid, mark),
    openSession: () => reach(peer, port, name),
    processes: () => allProcesses(child.pid, mark).length,
    nameOf: (call) => tools[call % tools.length].name,
  };
}

/** What Node must be given to run it. */
export function peerCommand(name, options) {
  const folder = join(CACHE, name, 'node_modules', name);
  const { bin } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  return [join(folder, typeof bin === 'string' ? bin : bin[name]), ...PEERS[name].args(options)];
}

function spawnPeer(args, mark) {
  const env = { ...process.env, BENCH_MARK: mark };
  // Its own group, because some start their servers through a shell and leave them behind.
  const child = spawn(process.execPath, args, { stdio: 'ignore', env, detached: true });
  process.once('exit', () => killGroup(child));
  return child;
}

async function reach(peer, port, label) {
  for (let attempt = 0; ; attempt++) {
    const client = createClient({ send: (text) => client.post(text), label });
    try {
      await peer.connect(client, `http://127.0.0.1:${port}/mcp`);
      await handshake(client);
      return client;
    } catch (error) {
      if (attempt === 100) throw error;
      await sleep(100);
    }
  }
}

async function stop(child) {
  const gone = new Promise((resolve) => child.once('exit', resolve));
  killGroup(child);
  await gone;
}

function killGroup({ pid, exitCode, signalCode }) {
  if (exitCode === null && signalCode === null) process.kill(-pid, 'SIGKILL');
}

export function freePort() {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}
