// @ts-check
// What the faults are tried on: the command on stdio, the command on HTTP, and other gateways from npm.
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { freePort, peerCommand } from '../../bench/peers.mjs';
import { Probe } from '../attack/measure.mjs';
import { root } from '../steps.mjs';
import { connectHttp, connectLines } from './clients.mjs';
import { secondsUntil } from './common.mjs';

/** @typedef {import('./clients.mjs').Client} Client */
/** @typedef {'weir' | 'weir serve' | 'mcp-hub' | 'mcp-proxy'} Name */

/**
 * @typedef {object} Options
 * @property {string | undefined} [gateway] another build of the command
 * @property {readonly string[]} [args] further arguments
 * @property {readonly string[]} [expected] the servers that are waited for; all of them unless it is said
 * @property {string} [mark] in the environment of all its processes
 * @property {string} [state] the state folder of the command
 * @property {Record<string, string>} [env]
 * @property {Probe} [probe] measures our command; it has one of its own unless it is given
 */

const PATIENCE_S = 60;

/** How public names are made of the server's key and the tool's name. */
const SEPARATORS = { weir: '__', 'weir serve': '__', 'mcp-hub': '__', 'mcp-proxy': undefined };

/**
 * A fixture as an entry of a config.
 * @param {string} name
 * @param {readonly string[]} [args]
 * @param {string} [mark]
 */
export function fixture(name, args = [], mark = '') {
  const script = join(root, 'tests', 'fixtures', `${name}.mjs`);
  return { command: process.execPath, args: [script, ...args], env: { CHAOS_MARK: mark } };
}

/**
 * Starts a gateway over these servers; resolves when it has listed their tools.
 * @param {Name} name
 * @param {Record<string, object>} servers
 * @param {Options} [options]
 */
export async function start(name, servers, options = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'weir-chaos-'));
  const config = join(folder, 'mcp.json');
  writeFileSync(config, JSON.stringify({ mcpServers: servers }));
  const port = await freePort();
  const args = commandOf(name, { ...options, config, port, servers });
  const { mark = randomUUID(), env } = options;
  const probe = options.probe ?? (name.startsWith('weir') ? new Probe() : undefined);
  const child = spawn(process.execPath, args, {
    env: { PATH: process.env['PATH'] ?? '', HOME: folder, CHAOS_MARK: mark, ...probe?.env, ...env },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  const subject = new Subject({ name, folder, config, port, child, probe });
  const { expected = Object.keys(servers) } = options;
  await subject.ready(expected).catch((/** @type {unknown} */ error) => {
    subject.kill();
    throw error;
  });
  await probe?.begin();
  return subject;
}

/** @type {number[]} */
let turns = [];

/** Returns the longest turn of each of our gateways that was ended since the last call, in milliseconds. */
export function takeTurns() {
  const taken = turns;
  turns = [];
  return taken;
}

/**
 * @param {Name} name
 * @param {Options & { config: string; port: number; servers: Record<string, object> }} options
 * @returns {string[]}
 */
function commandOf(name, { config, port, servers, gateway, args = [], state = join(config, '..', 'state') }) {
  const script = gateway ?? join(root, 'packages', 'cli', 'dist', 'weir.cjs');
  const own = ['--config', config, '--state', state, ...args];
  if (name === 'weir') return [script, ...own];
  if (name === 'weir serve') return [script, 'serve', ...own, '--port', String(port)];
  const [s0] = Object.values(servers);
  return [...peerCommand(name, { port: String(port), config, s0 }), ...args];
}

class Subject {
  /** What it has said. */
  log = '';
  /** @type {Client | undefined} */
  #client;
  #probe;

  /** @param {{ name: Name; folder: string; config: string; port: number; child: import('node:child_process').ChildProcessWithoutNullStreams; probe: Probe | undefined }} parts */
  constructor({ name, folder, config, port, child, probe }) {
    this.#probe = probe;
    this.name = name;
    this.folder = folder;
    this.config = config;
    this.child = child;
    this.url = `http://127.0.0.1:${port}/mcp`;
    this.closed = new Promise((resolve) => child.once('exit', resolve));
    const note = (/** @type {string} */ text) => (this.log = (this.log + text).slice(-1_000_000));
    child.stderr.setEncoding('utf8').on('data', note);
    if (name !== 'weir') child.stdout.setEncoding('utf8').on('data', note);
  }

  get pid() {
    return this.child.pid ?? 0;
  }

  get isRunning() {
    return this.child.exitCode === null && this.child.signalCode === null;
  }

  /** The token that the command wants on HTTP. */
  get token() {
    return /token=(\S+)/.exec(this.log)?.[1];
  }

  /** The client that was there first. */
  get client() {
    if (this.#client === undefined) throw new Error(`${this.name} has not been reached`);
    return this.#client;
  }

  /**
   * @param {string} key
   * @param {string} tool
   */
  tool(key, tool) {
    const separator = SEPARATORS[this.name];
    return separator === undefined ? tool : `${key}${separator}${tool}`;
  }

  /**
   * The process of a server that tells it.
   * @param {string} key
   */
  async pidOf(key) {
    const { text, error } = await this.client.call(this.tool(key, 'pid'));
    if (text === undefined) throw new Error(`${this.name}: ${key} does not answer: ${error}`);
    return Number(text);
  }

  /** @param {readonly string[]} keys */
  async ready(keys) {
    this.#client = await this.connect();
    const isListed = await secondsUntil(PATIENCE_S, async () => this.lists(await this.client.tools(), keys));
    if (isListed === undefined) throw new Error(`${this.name} does not list all servers\n${this.log}`);
  }

  /**
   * Whether these tools are of all these servers.
   * @param {readonly string[]} tools
   * @param {readonly string[]} keys
   */
  lists(tools, keys) {
    if (SEPARATORS[this.name] === undefined) return tools.length > 0;
    return keys.every((key) => tools.some((tool) => tool.startsWith(this.tool(key, ''))));
  }

  /** One more client, except on stdio, where there is one. */
  async connect() {
    if (this.name === 'weir') return connectLines(this.child);
    for (let attempt = 0; ; attempt++) {
      try {
        return await connectHttp(this.url, { isEvents: this.name === 'mcp-hub', token: this.token });
      } catch (error) {
        if (attempt > PATIENCE_S * 10 || !this.isRunning) throw error;
        await delay(100);
      }
    }
  }

  kill() {
    this.child.kill('SIGKILL');
  }

  /** One that was killed cannot be asked any more. */
  async #measure() {
    const figures = await this.#probe?.end().catch(() => undefined);
    if (figures !== undefined) turns.push(figures.longestOwnTurnMs);
    await this.#probe?.[Symbol.asyncDispose]();
  }

  /** As its user would end it. */
  async end() {
    if (this.isRunning) await this.#measure();
    // One that hears the end first would look for its gateway for as long as it lives.
    if (this.#client !== undefined)
      await Promise.race([this.#client.close().catch(() => undefined), delay(1000)]);
    if (this.name !== 'weir') this.child.kill('SIGTERM');
    const timer = setTimeout(() => this.kill(), 15_000);
    if (this.isRunning) await this.closed;
    clearTimeout(timer);
    rmSync(this.folder, { recursive: true, force: true });
  }
}
