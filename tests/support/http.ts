// The gateway on HTTP inside the test, and clients that say exactly what a test wants said.
import { spawn, type ChildProcessByStdio } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { request, type Agent, type IncomingHttpHeaders, type IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import { Client, StreamableHTTPClientTransport, type ClientOptions } from '@modelcontextprotocol/client';
import { serveHttp, type Gateway, type HttpFront, type HttpOptions } from '@weir/gateway';
import {
  commandFor,
  isSettledWithin,
  modernMeta,
  type Config,
  type Era,
  type Json,
  type Received,
  type ServerEntry,
  type StartOptions,
} from './harness.ts';
import { createTestGateway, type InProcessOptions } from './in-process.ts';

const TOKEN = 'a-token-for-tests-that-is-long-enough';
const ACCEPT = 'application/json, text/event-stream';
/** Calls in flight have 5 s, what is written last half a second, then servers 2 s; the machine may be busy. */
const SERVE_GONE_WITHIN_MS = 9000;

export type Headers = Record<string, string | undefined>;

export interface HttpTestOptions extends InProcessOptions {
  readonly http?: Partial<HttpOptions>;
}

/** Serves these servers at a free port; `await using` ends it with the test. */
export async function serveTest(
  servers: Record<string, ServerEntry>,
  { http, ...options }: HttpTestOptions = {},
): Promise<HttpTest> {
  const logged: string[] = [];
  const gateway = createTestGateway(servers, { keepGoing: true, ...options }, logged);
  const serverInfo = { name: 'weir', version: '1.0.0' };
  const front = await serveHttp(gateway, { port: 0, token: TOKEN, serverInfo, ...http });
  await gateway.ready;
  return new HttpTest(gateway, front, logged);
}

export class HttpTest implements AsyncDisposable {
  readonly gateway: Gateway;
  readonly front: HttpFront;
  readonly logged: string[];

  constructor(gateway: Gateway, front: HttpFront, logged: string[]) {
    this.gateway = gateway;
    this.front = front;
    this.logged = logged;
  }

  get url(): string {
    return this.front.url;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = this.front.close();
    if (await isSettledWithin(SERVE_GONE_WITHIN_MS, closed)) return closed;
    throw new Error(
      `the gateway did not end within ${SERVE_GONE_WITHIN_MS} ms\n${this.logged.slice(-20).join('\n')}`,
    );
  }
}

/** Starts `weir serve` over a config, at a free port where the arguments name none; waits until it says where it is or ends. */
export async function startServe(
  config: Config,
  { args = [], ...options }: StartOptions = {},
): Promise<ServeProcess> {
  const { command, args: all, env, cwd } = commandFor(config, { as: 'weir', ...options, args });
  const [bundle = '', ...more] = all;
  const port = args.includes('--port') ? [] : ['--port', '0'];
  const child = spawn(command, [bundle, 'serve', ...more, ...port], {
    env,
    cwd,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const served = new ServeProcess(child);
  await Promise.race([served.announced, served.ended]);
  return served;
}

/** The command at work on HTTP; `await using` ends it with the test. */
export class ServeProcess implements AsyncDisposable {
  stdout = '';
  stderr = '';
  /** Says where it is and what its token is. */
  readonly announced: Promise<void>;
  readonly ended: Promise<{ readonly code: number | null; readonly signal: NodeJS.Signals | null }>;
  readonly #child: ChildProcessByStdio<null, Readable, Readable>;

  constructor(child: ChildProcessByStdio<null, Readable, Readable>) {
    this.#child = child;
    child.stderr.setEncoding('utf8').on('data', (text: string) => (this.stderr += text));
    this.announced = new Promise((resolve) => {
      child.stdout.setEncoding('utf8').on('data', (text: string) => {
        this.stdout += text;
        if (this.stdout.includes('\n')) resolve();
      });
    });
    this.ended = new Promise((resolve) => child.once('close', (code, signal) => resolve({ code, signal })));
  }

  get pid(): number {
    return this.#child.pid ?? -1;
  }

  get url(): string {
    return /http:\S+/u.exec(this.stdout)?.[0] ?? '';
  }

  get token(): string {
    return /token=(\S+)/u.exec(this.stdout)?.[1] ?? '';
  }

  kill(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }

  /** Milliseconds of CPU that all its threads have taken. */
  cpu(): number {
    const tasks = `/proc/${this.pid}/task`;
    const used = readdirSync(tasks).map((task) =>
      Number(readFileSync(`${tasks}/${task}/schedstat`, 'utf8').split(' ')[0]),
    );
    return used.reduce((sum, one) => sum + one, 0) / 1e6;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.kill('SIGTERM');
    if (await isSettledWithin(SERVE_GONE_WITHIN_MS, this.ended)) return;
    this.kill('SIGKILL');
    throw new Error(
      `weir serve did not end within ${SERVE_GONE_WITHIN_MS} ms\nstderr:\n${this.stderr.slice(-3000)}`,
    );
  }
}

/** The answer to a request; of a stream the part that has come so far. */
export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  readonly json: Received;
}

export interface Sent {
  /** Keeps connections for many requests; without one each has its own. */
  readonly agent?: Agent;
  readonly method?: string;
  readonly headers?: Headers;
  readonly body?: string | Buffer;
}

/** Sends a request as it is and waits for the whole answer. A header that is undefined is left out. */
export async function send(url: string, sent: Sent): Promise<Answer> {
  const response = await open(url, sent);
  let text = '';
  for await (const chunk of response) text += String(chunk);
  const isJson = response.headers['content-type'] === 'application/json';
  const json = (isJson ? JSON.parse(text) : {}) as Received;
  return { status: response.statusCode ?? 0, headers: response.headers, text, json };
}

/** Sends a request and waits for the head of the answer alone. */
export async function open(
  url: string,
  { method = 'POST', headers = {}, body, agent }: Sent,
): Promise<IncomingMessage> {
  const outgoing = request(url, { method, headers: headersOf(headers), agent: agent ?? false });
  const answered = once(outgoing, 'response');
  outgoing.end(body);
  const [response] = (await answered) as [IncomingMessage];
  return response.setEncoding('utf8');
}

function headersOf(headers: Headers = {}): Record<string, string> {
  const usual = { Authorization: `Bearer ${TOKEN}`, 'Content-Type': 'application/json', Accept: ACCEPT };
  const entries = Object.entries({ ...usual, ...headers });
  return Object.fromEntries(entries.filter((entry): entry is [string, string] => entry[1] !== undefined));
}

/** A request as the text that goes over a connection. */
export function wireText(url: string, { method = 'POST', headers = {}, body = '' }: Sent): string {
  const { host, pathname } = new URL(url);
  const all = { Host: host, ...headersOf(headers), 'Content-Length': Buffer.byteLength(body) };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  return `${method} ${pathname} HTTP/1.1\r\n${lines.join('')}\r\n${String(body)}`;
}

/** Sends a request without waiting for its answer; the returned function hangs up. */
export function begin(url: string, sent: Sent): () => void {
  const outgoing = request(url, { method: 'POST', headers: headersOf(sent.headers), agent: false });
  outgoing.on('error', () => {}).end(sent.body);
  return () => outgoing.destroy();
}

/** Asks again until there is an answer. */
export async function eventually<T>(ask: () => Promise<T | undefined>): Promise<T> {
  const deadline = performance.now() + 20_000;
  for (;;) {
    const value = await ask();
    if (value !== undefined) return value;
    if (performance.now() > deadline) throw new Error('It did not happen within 20 s');
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** A message as JSON. */
export function rpc(method: string, params?: Json, id?: number | string): string {
  return JSON.stringify({
    jsonrpc: '2.0',
    ...(id !== undefined && { id }),
    method,
    ...(params && { params }),
  });
}

/** A request of the modern era, with the headers that it needs. */
export function modern(
  method: string,
  params: Json = {},
  { id = 1, meta = {}, capabilities = {} }: ModernOptions = {},
): Sent {
  const { name = params['uri'] } = params;
  return {
    headers: {
      'MCP-Protocol-Version': '2026-07-28',
      'Mcp-Method': method,
      ...(typeof name === 'string' && { 'Mcp-Name': name }),
    },
    body: rpc(method, { ...params, ...modernMeta(capabilities, meta) }, id),
  };
}

export interface ModernOptions {
  readonly id?: number | string;
  readonly meta?: Json;
  readonly capabilities?: Json;
}

/** Opens a legacy session. */
export async function openSession(
  url: string,
  { version = '2025-11-25', capabilities = {}, token = TOKEN }: SessionOptions = {},
): Promise<LegacyClient> {
  const clientInfo = { name: 'test', version: '1' };
  const body = rpc('initialize', { protocolVersion: version, capabilities, clientInfo }, 'opening');
  const opening = { headers: { Authorization: `Bearer ${token}` }, body };
  const { status, headers, json, text } = await send(url, opening);
  if (status !== 200) throw new Error(`initialize: ${status} ${text}`);
  const client = new LegacyClient(
    url,
    { ...opening.headers, 'Mcp-Session-Id': String(headers['mcp-session-id']) },
    json,
  );
  await client.post(rpc('notifications/initialized'));
  return client;
}

export interface SessionOptions {
  readonly version?: string;
  readonly capabilities?: Json;
  readonly token?: string;
}

/** Speaks in one session. */
export class LegacyClient {
  readonly url: string;
  readonly headers: Headers;
  /** The answer to the handshake. */
  readonly opening: Received;

  constructor(url: string, headers: Headers, opening: Received) {
    this.url = url;
    this.headers = headers;
    this.opening = opening;
  }

  get id(): string {
    return this.headers['Mcp-Session-Id'] ?? '';
  }

  post(body: string, agent?: Agent): Promise<Answer> {
    return send(this.url, { headers: this.headers, body, ...(agent && { agent }) });
  }

  call(name: string, args: Json = {}, { id = 1, meta }: { id?: number | string; meta?: Json } = {}): string {
    return rpc('tools/call', { name, arguments: args, ...(meta && { _meta: meta }) }, id);
  }

  /** The answer of a POST as a stream. */
  async stream(body: string): Promise<Events> {
    return new Events(await open(this.url, { headers: this.headers, body }));
  }

  /** The stream for what belongs to no request, or one that broke off. */
  async listen(lastEventId?: string): Promise<Events> {
    const headers = { ...this.headers, 'Content-Type': undefined, 'Last-Event-ID': lastEventId };
    return new Events(
      await open(this.url, { method: 'GET', headers: { ...headers, Accept: 'text/event-stream' } }),
    );
  }

  end(): Promise<Answer> {
    return send(this.url, { method: 'DELETE', headers: { ...this.headers, 'Content-Type': undefined } });
  }
}

export interface Event {
  readonly id: string | undefined;
  readonly retry: string | undefined;
  /** Undefined for an event without data. */
  readonly data: Received | undefined;
}

/** Server-sent events as they come. */
export class Events {
  readonly response: IncomingMessage;
  readonly #events: AsyncGenerator<Event>;

  constructor(response: IncomingMessage) {
    this.response = response;
    this.#events = readEvents(response);
  }

  get status(): number {
    return this.response.statusCode ?? 0;
  }

  /** The next event; undefined at the end. */
  async next(): Promise<Event | undefined> {
    const { value, done } = (await this.#events.next()) as IteratorResult<Event, undefined>;
    return done === true ? undefined : value;
  }

  /** The next event with data. */
  async message(): Promise<Received & { readonly event: string | undefined }> {
    for (;;) {
      const event = await this.next();
      if (event === undefined) throw new Error('The stream has ended');
      if (event.data !== undefined) return { ...event.data, event: event.id };
    }
  }

  /** All that is still to come until the end. */
  async rest(): Promise<Event[]> {
    const events: Event[] = [];
    for (let event = await this.next(); event !== undefined; event = await this.next()) events.push(event);
    return events;
  }

  /** Hangs up. */
  drop(): void {
    this.response.destroy();
  }
}

async function* readEvents(response: IncomingMessage): AsyncGenerator<Event> {
  let text = '';
  for await (const chunk of response) {
    text += String(chunk);
    const blocks = text.split('\n\n');
    text = blocks.pop() ?? '';
    for (const block of blocks) if (!block.startsWith(':')) yield readEvent(block);
  }
}

function readEvent(block: string): Event {
  const field = (name: string): string | undefined =>
    block
      .split('\n')
      .find((line) => line.startsWith(`${name}: `))
      ?.slice(name.length + 2);
  const data = field('data');
  return { id: field('id'), retry: field('retry'), data: data ? (JSON.parse(data) as Received) : undefined };
}

/** The SDK's client over HTTP; `await using` ends it with the test. */
export interface HttpSdk extends AsyncDisposable {
  readonly client: Client;
  readonly transport: StreamableHTTPClientTransport;
}

export async function connectHttp(
  url: string,
  era: Era,
  { token = TOKEN, ...options }: ClientOptions & { token?: string } = {},
): Promise<HttpSdk> {
  const requestInit = { headers: { Authorization: `Bearer ${token}` } };
  const transport = new StreamableHTTPClientTransport(new URL(url), { requestInit });
  const mode = era === 'modern' ? { pin: '2026-07-28' } : 'legacy';
  const client = new Client({ name: 'test', version: '1.2.3' }, { versionNegotiation: { mode }, ...options });
  await client.connect(transport, { timeout: 30_000 });
  return { client, transport, [Symbol.asyncDispose]: () => client.close() };
}
