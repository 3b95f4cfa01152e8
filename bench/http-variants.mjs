// What is compared on HTTP: servers called directly and through the gateway, by clients of both revisions.
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createClient, handshake, untilListed } from './client.mjs';
import { connectModern, connectModernByNode, connectStreamable, MODERN_META } from './http-client.mjs';
import { allProcesses, ownProcesses } from './processes.mjs';
import { WEIR } from './variants.mjs';

const path = (relative) => fileURLToPath(new URL(relative, import.meta.url));

export const startRawServer = (args = []) => startSite([path('variants/raw-http-server.mjs'), ...args]);
export const startBareProxy = (url) => startSite([path('variants/bare-http-proxy.mjs'), url]);
export const startPlainProxy = (url) => startSite([path('variants/plain-http-proxy.mjs'), url]);
export const startSdkServer = (args = []) => startSite([path('variants/sdk-http-server.mjs'), ...args]);

/** The gateway as anybody would start it: with its token. Its state folder is empty, so nothing is remembered. */
export function startGateway(servers, { folder, gateway = WEIR }) {
  const own = mkdtempSync(join(folder, 'serve-'));
  const config = join(own, 'mcp.json');
  writeFileSync(config, JSON.stringify({ mcpServers: servers }));
  return startSite([gateway, 'serve', '--config', config, '--port', '0', '--state', join(own, 'state')]);
}

const children = new Set();
process.once('exit', () => children.forEach((child) => child.kill('SIGKILL')));

/** Starts a script that says on its first line where it can be reached; `channel` opens Node's own channel for messages. */
export async function startSite(args, { channel = false } = {}) {
  const mark = randomUUID();
  const env = { ...process.env, BENCH_MARK: mark };
  const stdio = ['ignore', 'pipe', 'pipe', ...(channel ? ['ipc'] : [])];
  const child = spawn(process.execPath, args, { stdio, env });
  children.add(child);
  const ended = once(child, 'exit');
  let complaints = '';
  child.stderr.on('data', (chunk) => (complaints = (complaints + chunk).slice(-2000)));
  const line = await Promise.race([firstLine(child.stdout), ended.then(() => '')]);
  const [url] = /http:\S+/u.exec(line) ?? [];
  if (url === undefined) throw new Error(`${args[0]} does not say where it listens: ${line}\n${complaints}`);
  const token = /token=(\S+)/u.exec(line)?.[1];
  return { url, token, pid: child.pid, mark, child, close: () => stop(child, ended) };
}

async function firstLine(stream) {
  let text = '';
  for (;;) {
    const [chunk] = await once(stream, 'data');
    text += chunk;
    if (text.includes('\n')) return text;
  }
}

async function stop(child, ended) {
  child.kill('SIGTERM');
  const timer = setTimeout(() => child.kill('SIGKILL'), 10_000);
  await ended;
  clearTimeout(timer);
}

/**
 * A client at a site, its tools listed. `own` are the processes of the gateway, none where there is none;
 * `all` are all that a call goes through, `behind` being the site of a server that is not the gateway's child.
 */
export async function reach(site, row) {
  const { name, era, address = site.url, isGateway = false, behind } = row;
  const client =
    era === 'modern' ? modernClient(site, address, row) : await sessionClient(site, address, name);
  const tools = await untilListed(client);
  const all = [...allProcesses(site.pid, site.mark), ...(behind === undefined ? [] : [behind.pid])];
  return {
    name,
    client,
    tools,
    all,
    own: isGateway ? ownProcesses(site.pid, site.mark) : [],
    // Calls wander over the whole catalogue: always the same tool would flatter whoever caches the last one.
    nameOf: (call) => tools[(call * 7919) % tools.length].name,
  };
}

/** Modern clients need no handshake. */
export function modernClient(site, address, { name: label, byNode = false }) {
  const client = createClient({ send: (text) => client.post(text), label, meta: MODERN_META });
  if (byNode) connectModernByNode(client, address, site);
  else connectModern(client, address, site);
  return client;
}

/** One more session of its own. */
export async function sessionClient(site, address = site.url, label = address) {
  const client = createClient({ send: (text) => client.post(text), label });
  connectStreamable(client, address, site);
  await handshake(client);
  return client;
}
