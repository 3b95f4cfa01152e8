#!/usr/bin/env node
// @ts-check
// `npm start`: the gateway at work over a few servers, asked as a host would ask it. It ends by itself and leaves nothing running.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { root, runMain } from './steps.mjs';

/** @typedef {(text: string) => string} Style */
/** @typedef {[text: string, style?: Style]} Cell */
/** @typedef {{ name: string; description?: string }} Tool */
/** @typedef {{ key: string; tools: number; time: string; revision: string }} Server */

const CONFIG = 'examples/configs/demo.json';
const CALL = { name: 'clock:now', arguments: { zone: 'Asia/Tokyo' } };
const PATIENCE_MS = 30_000;

const isTerminal = process.stdout.isTTY === true;
const isColoured = isTerminal && !process.env['NO_COLOR'] && process.env['TERM'] !== 'dumb';
// In a pipe nothing is cut: whoever reads it may want all of it.
const width = isTerminal ? process.stdout.columns || 80 : Infinity;

/** @type {Style} */
const plain = (text) => text;
const bold = style(1, 22);
const dim = style(2, 22);
const red = style(31, 39);
const green = style(32, 39);

await runMain(async () => {
  const gateway = startGateway();
  try {
    const keys = Object.keys(readJson(CONFIG).mcpServers);
    const tools = await withProgress(`Starting ${keys.length} servers …`, gateway.listTools());
    const { content } = await gateway.request('tools/call', CALL);
    showServers(
      keys.map((key) => serverOf(key, tools, gateway.log())),
      gateway.log(),
    );
    showTools(tools);
    showCall(content);
    showUse();
  } finally {
    await withProgress('Stopping the servers …', gateway.close());
  }
});

/**
 * @param {string} key
 * @param {Tool[]} tools
 * @param {string} log
 * @returns {Server}
 */
function serverOf(key, tools, log) {
  const start = new RegExp(`\\[${key}\\] ready after ([^:]+): speaks ([^,]+)`, 'u').exec(log);
  const [, time = '', revision = ''] = start ?? [];
  return { key, tools: tools.filter(({ name }) => name.startsWith(`${key}:`)).length, time, revision };
}

/**
 * @param {Server[]} servers
 * @param {string} log
 */
function showServers(servers, log) {
  heading(`${servers.length} MCP servers as one`);
  showTable(servers.map(serverRow), [2, 4]);
  if (servers.every(({ tools }) => tools > 0)) return;
  process.exitCode = 1;
  print();
  for (const [, text = ''] of log.matchAll(/ error (.+)/gu)) print(red(text));
}

/**
 * @param {Server} server
 * @returns {Cell[]}
 */
function serverRow({ key, tools, time, revision }) {
  if (tools === 0)
    return [
      [key, bold],
      ['failed', red],
    ];
  const number = `${tools} ${tools === 1 ? 'tool ' : 'tools'}`;
  return [
    [key, bold],
    ['running', green],
    [number],
    [`speaks ${revision}`, dim],
    [`ready after ${time}`, dim],
  ];
}

/** @param {Tool[]} tools */
function showTools(tools) {
  heading(`Their ${tools.length} tools in one list`);
  showTable(tools.map(({ name, description = '' }) => [[name], [firstSentence(description), dim]]));
}

/** @param {{ text: string }[]} content */
function showCall(content) {
  heading('One call through the gateway');
  print(`${CALL.name} ${JSON.stringify(CALL.arguments)}`);
  for (const { text } of content) print(`${dim('→')} ${green(text)}`);
}

function showUse() {
  const args = [join(root, bundle()), '--config', '/path/to/mcp.json', '--separator', '__'];
  const entry = { mcpServers: { weir: { command: 'node', args } } };
  heading('The same with your own servers');
  print('Weir is a command that speaks MCP on stdin and stdout. It takes the config');
  print('file that your host has now:');
  print();
  print(`  ${bold('npx weir --config /path/to/mcp.json')}`);
  print();
  print('In the host, this one entry then stands for all servers of that file');
  print('(with "__" in their names, because most hosts refuse the colon):');
  print();
  for (const text of JSON.stringify(entry, null, 2).split('\n')) print(`  ${text}`);
  print();
  print(dim('All options: npx weir --help. More examples: examples/README.md'));
  print();
}

/** The command as it is shipped, spoken to over its stdin and stdout. */
function startGateway() {
  const state = mkdtempSync(join(tmpdir(), 'weir-start-'));
  const args = [bundle(), '--config', CONFIG, '--keep-going', '--debug', '--state', state];
  const child = spawn(process.execPath, args, { cwd: root, stdio: ['pipe', 'pipe', 'pipe'] });
  const timer = setTimeout(() => child.kill('SIGKILL'), PATIENCE_MS);
  const ended = once(child, 'close');
  /** @type {Map<number, (message: any) => void>} */
  const waiting = new Map();
  let log = '';
  child.stderr.setEncoding('utf8').on('data', (text) => (log += text));
  // A gateway that has ended reads no more; its end is noticed where its answer is waited for.
  child.stdin.on('error', () => {});
  createInterface({ input: child.stdout }).on('line', (line) => {
    const message = JSON.parse(line);
    waiting.get(message.id)?.(message);
  });

  /** @param {object} message */
  const send = (message) => child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);

  /**
   * @param {string} method
   * @param {object} params
   */
  const request = async (method, params = {}) => {
    const id = waiting.size + 1;
    const answered = new Promise((resolve) => waiting.set(id, resolve));
    send({ id, method, params });
    const { result, error } = await Promise.race([answered, ended.then(() => ({}))]);
    if (result !== undefined) return result;
    throw new Error(error?.message ?? `the gateway has ended:\n${log}`);
  };

  const listTools = async () => {
    const clientInfo = { name: 'npm-start', version: '1.0.0' };
    await request('initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo });
    send({ method: 'notifications/initialized' });
    return /** @type {Tool[]} */ ((await request('tools/list')).tools);
  };

  const close = async () => {
    child.stdin.end();
    await ended;
    clearTimeout(timer);
    rmSync(state, { recursive: true, force: true });
  };

  return { request, listTools, close, log: () => log };
}

/** The command's file, from the root. */
function bundle() {
  return join('packages', 'cli', readJson('packages/cli/package.json').bin.weir);
}

/** @param {string} file */
function readJson(file) {
  return JSON.parse(readFileSync(join(root, file), 'utf8'));
}

/**
 * Columns that are as wide as they must be; the last one is cut where the terminal ends.
 * @param {Cell[][]} rows
 * @param {number[]} toTheRight
 */
function showTable(rows, toTheRight = []) {
  const count = Math.max(...rows.map((row) => row.length));
  const widths = Array.from({ length: count }, (_, c) =>
    Math.max(...rows.map((row) => row[c]?.[0].length ?? 0)),
  );
  const room = width - 2 - widths.slice(0, -1).reduce((sum, own) => sum + own + 2, 0);
  for (const row of rows) {
    const cells = row.map(([text, apply = plain], c) => {
      const own = widths[c] ?? 0;
      const aligned = toTheRight.includes(c) ? text.padStart(own) : text.padEnd(own);
      return apply(c === count - 1 ? cut(aligned.trimEnd(), room) : aligned);
    });
    print(cells.join('  '));
  }
}

/** @param {string} text */
function heading(text) {
  print();
  console.log(bold(text));
  print();
}

function print(text = '') {
  console.log(text === '' ? '' : `  ${text}`.trimEnd());
}

/**
 * Waits; and where somebody may be watching, says for what as long as it lasts.
 * @template T
 * @param {string} text
 * @param {Promise<T>} work
 */
async function withProgress(text, work) {
  if (isTerminal) process.stdout.write(dim(text));
  try {
    return await work;
  } finally {
    if (isTerminal) process.stdout.write(`\r${' '.repeat(text.length)}\r`);
  }
}

/**
 * @param {string} text
 * @param {number} room
 */
function cut(text, room) {
  if (text.length <= room) return text;
  return `${text.slice(0, Math.max(0, room - 1)).trimEnd()}…`;
}

/** @param {string} text */
function firstSentence(text) {
  return text.split(/\n|(?<=\.)\s/u, 1)[0] ?? '';
}

/**
 * @param {number} on
 * @param {number} off
 * @returns {Style}
 */
function style(on, off) {
  return (text) => (isColoured ? `\u001B[${on}m${text}\u001B[${off}m` : text);
}
