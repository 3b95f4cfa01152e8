// @ts-check
// A gateway over the kit and twenty more tools, on stdio or HTTP, as a client's config names it; and a home for the client.
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client as McpClient } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { root, tryTo } from '../steps.mjs';

/** @typedef {'stdio' | 'http'} Transport */

/**
 * @typedef {object} Scene
 * @property {Transport} transport
 * @property {{ command: string; args: string[] }} stdio How a client starts the gateway.
 * @property {{ url: string; token: string }} http Where a client finds it; empty on stdio.
 * @property {string} home The client's HOME.
 * @property {string} work An empty folder that the client works in.
 * @property {string} folder What npm installed for the client.
 * @property {string} node The Node that runs the client.
 * @property {() => Promise<void>} close Ends the gateway and removes the folders.
 */

/**
 * @typedef {object} SceneOptions
 * @property {Transport} transport
 * @property {string} folder
 * @property {string} node
 * @property {string} [separator]
 * @property {number} [delay] How late the kit starts, in milliseconds, when the client starts the gateway.
 */

export const BUNDLE = join(root, 'packages', 'cli', 'dist', 'weir.cjs');
const MORE_TOOLS = 20;
/** Tools behind the gateway, with `_` for every separator. */
export const EXPECTED = [
  ...['echo', 'fail', 'add_tool', 'ask'].map((name) => `kit_${name}`),
  ...Array.from({ length: MORE_TOOLS }, (_, index) => `many_tool_${index}`),
];

/**
 * Opens a scene in which the gateway has run before: it remembers the servers, as at every start but the very first.
 * @param {SceneOptions} options
 * @returns {Promise<Scene>}
 */
export async function openScene({ transport, folder, node, separator = '__', delay = 0 }) {
  const place = mkdtempSync(join(tmpdir(), 'weir-hosts-'));
  const [home, work] = [join(place, 'home'), join(place, 'work')];
  for (const each of [home, work]) mkdirSync(each);
  const delayFile = join(place, 'delay');
  const options = [
    '--config',
    writeConfig(place, delayFile),
    '--state',
    join(place, 'state'),
    '--separator',
    separator,
    '--log-file',
    join(place, 'weir.log'),
  ];
  const stdio = { command: process.execPath, args: [BUNDLE, ...options] };
  await listOnce(stdio);
  writeFileSync(delayFile, String(delay));
  const served = transport === 'http' ? await serve(options) : undefined;
  if (served !== undefined && delay === 0) await untilReady(served.url);
  return {
    transport,
    stdio,
    folder,
    node,
    home,
    work,
    http: { url: served?.url ?? '', token: served?.token ?? '' },
    async close() {
      await served?.stop();
      await remove(place);
    },
  };
}

/**
 * @param {string} place
 * @param {string} delayFile
 */
function writeConfig(place, delayFile) {
  const file = join(place, 'mcp.json');
  const node = (/** @type {string[]} */ script, /** @type {string[]} */ ...args) => ({
    command: process.execPath,
    args: [join(root, ...script), ...args],
  });
  const kit = node(['scripts', 'hosts', 'kit.mjs'], delayFile);
  const many = node(['tests', 'fixtures', 'many-tools.mjs'], String(MORE_TOOLS));
  writeFileSync(file, JSON.stringify({ mcpServers: { kit, many } }, null, 2));
  return file;
}

/** @param {Scene['stdio']} command */
async function listOnce(command) {
  const client = new McpClient({ name: 'warm-up', version: '1.0.0' });
  await client.connect(new StdioClientTransport({ ...command, stderr: 'ignore' }));
  const { tools } = await client.listTools();
  await client.close();
  if (tools.length !== EXPECTED.length) throw new Error(`The gateway lists ${tools.length} tools by itself`);
}

/** @param {string[]} args */
async function serve(args) {
  const child = spawn(process.execPath, [BUNDLE, 'serve', '--port', '0', ...args], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const ended = new Promise((resolve) => child.once('exit', resolve));
  const said = await new Promise((resolve, reject) => {
    let text = '';
    child.stdout.setEncoding('utf8').on('data', (chunk) => {
      text += chunk;
      if (text.includes('\n')) resolve(text);
    });
    child.once('exit', (code) => reject(new Error(`weir serve ended with exit code ${code}`)));
  });
  const url = /http:\S+/.exec(said)?.[0] ?? '';
  const token = /token=(\S+)/.exec(said)?.[1] ?? '';
  const stop = async () => {
    child.kill('SIGTERM');
    await ended;
  };
  return { url, token, stop };
}

/**
 * Removes a folder that a gateway may still write to: one that its client has left ends within five seconds.
 * @param {string} folder
 */
export async function remove(folder) {
  for (let attempt = 0; attempt < 12; attempt++) {
    if (tryTo(() => rmSync(folder, { recursive: true, force: true }))) return;
    await sleep(500);
  }
}

/**
 * Waits until all servers have started: `weir serve` usually runs long before a client comes.
 * @param {string} url
 */
async function untilReady(url) {
  const ready = new URL('/readyz', url);
  while (!(await fetch(ready)).ok) await sleep(50);
}

/**
 * Writes files of the client's, by their paths.
 * @param {Record<string, string | object>} files
 */
export function writeFiles(files) {
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content, null, 2));
  }
}
