// @ts-check
// The command over a config of its own, and a client that keeps many calls in flight.
import { spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { root } from '../steps.mjs';

/** @typedef {{ result?: any; error?: { code: number; message: string } }} Answer */

/**
 * Starts the gateway over these servers; resolves when it has listed their tools.
 * @param {Record<string, object>} servers
 * @param {string} [script]
 */
export async function startGateway(servers, script = join(root, 'packages', 'cli', 'dist', 'weir.cjs')) {
  const folder = mkdtempSync(join(tmpdir(), 'weir-chaos-'));
  const config = join(folder, 'mcp.json');
  writeFileSync(config, JSON.stringify({ mcpServers: servers }));
  const args = [script, '--config', config, '--state', join(folder, 'state')];
  const env = { PATH: process.env['PATH'] ?? '', HOME: folder };
  const gateway = new Gateway(
    spawn(process.execPath, args, { env, stdio: ['pipe', 'pipe', 'pipe'] }),
    folder,
  );
  const clientInfo = { name: 'chaos', version: '1.0.0' };
  await gateway.request('initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo });
  gateway.send({ method: 'notifications/initialized' });
  await gateway.tools();
  return gateway;
}

class Gateway {
  /** All of stderr. */
  log = '';
  /** @type {Map<number, (answer: Answer) => void>} */
  #waiting = new Map();
  #lastId = 0;

  /**
   * @param {import('node:child_process').ChildProcessWithoutNullStreams} child
   * @param {string} folder
   */
  constructor(child, folder) {
    this.child = child;
    this.folder = folder;
    this.closed = new Promise((resolve) => child.once('close', resolve));
    child.stderr.setEncoding('utf8').on('data', (text) => (this.log += text));
    createInterface({ input: child.stdout }).on('line', (line) => this.#receive(JSON.parse(line)));
  }

  get pid() {
    return this.child.pid ?? 0;
  }

  /** @param {object} message */
  send(message) {
    this.child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  }

  /**
   * @param {string} method
   * @param {object} [params]
   * @returns {Promise<Answer>}
   */
  request(method, params = {}) {
    const id = ++this.#lastId;
    this.send({ id, method, params });
    return new Promise((resolve) => this.#waiting.set(id, resolve));
  }

  /** @returns {Promise<string[]>} */
  async tools() {
    const { result } = await this.request('tools/list');
    return result.tools.map((/** @type {{ name: string }} */ { name }) => name);
  }

  async end() {
    this.child.stdin.end();
    await this.closed;
    rmSync(this.folder, { recursive: true, force: true });
  }

  /** @param {Answer & { id?: number }} message */
  #receive(message) {
    if (message.id === undefined) return;
    this.#waiting.get(message.id)?.(message);
    this.#waiting.delete(message.id);
  }
}

/** @param {number} pid */
export function openFiles(pid) {
  return readdirSync(`/proc/${pid}/fd`).length;
}

/** @param {number} pid */
export function residentMb(pid) {
  return Number(/^VmRSS:\s+(\d+) kB/m.exec(readProc(pid, 'status'))?.[1]) / 1024;
}

/**
 * The processes whose command line ends with this.
 * @param {string} ending
 */
export function processesEndingWith(ending) {
  return readdirSync('/proc')
    .map(Number)
    .filter((pid) => Number.isInteger(pid) && readProc(pid, 'cmdline').endsWith(`${ending}\0`));
}

/**
 * @param {number} pid
 * @param {string} file
 */
function readProc(pid, file) {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8');
  } catch {
    return '';
  }
}

/**
 * Whether this becomes true within so many seconds.
 * @param {number} seconds
 * @param {() => boolean | Promise<boolean>} isTrue
 */
export async function within(seconds, isTrue) {
  const deadline = performance.now() + seconds * 1000;
  while (!(await isTrue())) {
    if (performance.now() > deadline) return false;
    await delay(100);
  }
  return true;
}

/**
 * Numbers between 0 and 1, the same for the same seed.
 * @param {number} seed
 */
export function randomFrom(seed) {
  let state = seed >>> 0 || 1;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}
