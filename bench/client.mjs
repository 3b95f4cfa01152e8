// The measuring client: raw lines, no SDK, because an SDK client alone costs more than the hop that is measured.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { splitLines } from './lines.mjs';

/** Starts a command and speaks MCP with it on its stdin and stdout. */
export function connect([command, ...args], { env, cwd, meta } = {}) {
  const child = spawn(command, args, { stdio: ['pipe', 'pipe', 'pipe'], env, cwd });
  const client = createClient({
    send: (text) => child.stdin.write(text),
    label: [command, ...args].join(' '),
    meta,
  });
  child.stdout.on('data', (chunk) => client.receive(chunk));
  child.stderr.on('data', (chunk) => (client.complaints = (client.complaints + chunk).slice(-2000)));
  child.stdin.on('error', () => {});
  child.on('error', (error) => client.fail(error));
  child.on('exit', (code, signal) => client.fail(new Error(`exited with ${signal ?? code}`)));
  const closed = once(child, 'close').catch(() => {});
  return Object.assign(client, { pid: child.pid, child, close: () => close(child, closed) });
}

async function close(child, closed) {
  child.stdin.end();
  child.stdout.resume();
  const timer = setTimeout(() => child.kill('SIGKILL'), 10_000);
  await closed;
  clearTimeout(timer);
}

/** The part of a client that no transport changes; `receive` takes whatever bytes come back, `meta` goes with each request. */
export function createClient({ send, label, meta }) {
  const waiting = new Map();
  let lastId = 0;
  const settle = splitLines((line) => {
    const message = JSON.parse(line);
    waiting.get(message.id)?.resolve(message);
    waiting.delete(message.id);
  });
  const client = {
    complaints: '',
    label,
    send,
    nextId: () => ++lastId,
    line(id, method, params) {
      const said = meta === undefined ? params : { ...params, _meta: meta };
      return `${JSON.stringify({ jsonrpc: '2.0', id, method, params: said })}\n`;
    },
    ondata: settle,
    receive: (chunk) => client.ondata(chunk),
    request(method, params = {}) {
      const id = client.nextId();
      send(client.line(id, method, params));
      return new Promise((resolve, reject) => waiting.set(id, { resolve, reject }));
    },
    fail(reason) {
      const error = new Error(`${label}: ${reason.message}\n${client.complaints}`, { cause: reason });
      for (const { reject } of waiting.values()) reject(error);
      waiting.clear();
      client.onfail?.(error);
    },
    /** Gives the bytes to a measurement until it calls `done`; from then on they are answers to requests again. */
    takeOver: (start) =>
      new Promise((resolve, reject) => {
        client.onfail = reject;
        const done = (value) => {
          client.ondata = settle;
          client.onfail = undefined;
          resolve(value);
        };
        start(done, reject);
      }),
  };
  return client;
}

export async function handshake(client) {
  const clientInfo = { name: 'bench', version: '1.0.0' };
  const answer = await client.request('initialize', {
    protocolVersion: '2025-11-25',
    capabilities: {},
    clientInfo,
  });
  client.send('{"jsonrpc":"2.0","method":"notifications/initialized"}\n');
  return answer.result;
}

/** Walks all pages. */
export async function listTools(client) {
  const tools = [];
  let cursor;
  do {
    const { result } = await client.request('tools/list', cursor === undefined ? {} : { cursor });
    tools.push(...result.tools);
    cursor = result.nextCursor;
  } while (cursor !== undefined);
  return tools;
}

/** Some gateways answer before their servers are there; and some add tools of their own, which are left out. */
export async function untilListed(client) {
  for (let attempt = 0; attempt < 100; attempt++) {
    const tools = (await listTools(client)).filter(({ name }) => name.includes('tool_0'));
    if (tools.length > 0) return tools;
    await sleep(100);
  }
  throw new Error(`${client.label} lists no tools`);
}

export function callLine(client, name, args = { text: 'sixteen bytes ..' }) {
  return client.line(client.nextId(), 'tools/call', { name, arguments: args });
}

/** Calls one after the other; returns the time each took, in µs. `nameOf(i)` is the tool of call i. */
export function sequence(client, nameOf, { count, args }) {
  const times = new Float64Array(count);
  return client.takeOver((done, reject) => {
    let call = 0;
    let started = 0;
    const next = () => {
      const line = callLine(client, nameOf(call), args);
      started = performance.now();
      client.send(line);
    };
    client.ondata = (chunk) => {
      if (chunk[chunk.length - 1] !== 10) return;
      times[call++] = (performance.now() - started) * 1000;
      if (isRefusal(chunk)) reject(new Error(`${client.label} answered ${chunk}`));
      else if (call < count) next();
      else done(times);
    };
    next();
  });
}

/** Keeps `inFlight` calls under way until `count` are answered; returns the time all took, in ms. */
export function burst(client, nameOf, { count, inFlight }) {
  return client.takeOver((done, reject) => {
    let sent = 0;
    let answered = 0;
    const sendSome = (calls) => {
      let text = '';
      for (const end = Math.min(sent + calls, count); sent < end; sent++)
        text += callLine(client, nameOf(sent));
      if (text !== '') client.send(text);
    };
    client.ondata = (chunk) => {
      if (isRefusal(chunk)) reject(new Error(`${client.label} answered ${chunk}`));
      const lines = countLines(chunk);
      answered += lines;
      if (answered < count) sendSome(lines);
      else done(performance.now() - started);
    };
    const started = performance.now();
    sendSome(inFlight);
  });
}

/** Enough calls for the compiler to have seen everything: without it the first rounds measure the interpreter. */
export async function warmUp(running, count = 5000) {
  for (const { client, nameOf } of running) await burst(client, nameOf, { count, inFlight: 64 });
}

export function countLines(chunk) {
  let lines = 0;
  for (let at = chunk.indexOf(10); at !== -1; at = chunk.indexOf(10, at + 1)) lines++;
  return lines;
}

// A variant that answers errors quickly must not win.
const isRefusal = (chunk) => chunk.length < 65_536 && chunk.includes('"error":');
