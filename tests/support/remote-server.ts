// Servers at an address: fixtures as processes of their own, and handlers by hand that see every request.
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { fixture, type Era, type Json } from './harness.ts';

/** A fixture that prints its address when it listens. */
export async function startRemote(name: string, ...args: string[]): Promise<RemoteProcess> {
  const entry = fixture(name, ...args);
  const child = spawn(entry.command ?? '', entry.args ?? [], { stdio: ['ignore', 'pipe', 'inherit'] });
  for await (const chunk of child.stdout) {
    const url = /http:\S+/.exec(String(chunk))?.[0];
    if (url !== undefined) return new RemoteProcess(url, child);
  }
  throw new Error(`${name} ended before it said where it is`);
}

export class RemoteProcess implements AsyncDisposable {
  readonly url: string;
  readonly port: string;
  readonly #child: ChildProcess;

  constructor(url: string, child: ChildProcess) {
    this.url = url;
    this.port = new URL(url).port;
    this.#child = child;
  }

  async kill(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const exit = once(this.#child, 'exit');
    this.#child.kill('SIGKILL');
    await exit;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill();
  }
}

/** A request as the server saw it. */
export interface Seen {
  readonly method: string;
  readonly headers: IncomingMessage['headers'];
  /** The message, where it was a POST. */
  readonly message: { readonly id?: number; readonly method?: string; readonly params?: Json };
  /** The client hung up before it had its answer. */
  readonly hungUp: Promise<void>;
}

export type Handler = (seen: Seen, response: ServerResponse) => unknown;

/** Listens on 127.0.0.1; `port` 0 takes any. */
export async function serveHttp(handler: Handler, port = 0): Promise<RawServer> {
  const seen: Seen[] = [];
  const server = createServer((request, response) => void receive(request, response));
  const receive = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = request.method === 'POST' ? await text(request) : '';
    const one: Seen = {
      method: request.method ?? '',
      headers: request.headers,
      message: body === '' ? {} : (JSON.parse(body) as Seen['message']),
      hungUp: once(response, 'close').then(() => {
        if (response.writableFinished) return new Promise<void>(() => {});
        return undefined;
      }),
    };
    seen.push(one);
    await handler(one, response);
  };
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  return new RawServer(server, seen);
}

export class RawServer implements AsyncDisposable {
  /** Every request, in order. */
  readonly seen: readonly Seen[];
  readonly port: number;
  readonly url: string;
  readonly #server: Server;

  constructor(server: Server, seen: readonly Seen[]) {
    this.#server = server;
    this.seen = seen;
    this.port = (server.address() as AddressInfo).port;
    this.url = `http://127.0.0.1:${this.port}/mcp`;
  }

  /** The requests with this JSON-RPC method. */
  posted(method: string): Seen[] {
    return this.seen.filter(({ message }) => message.method === method);
  }

  async close(): Promise<void> {
    if (!this.#server.listening) return;
    const closed = once(this.#server, 'close');
    this.#server.close();
    this.#server.closeAllConnections();
    await closed;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}

export function sendJson(response: ServerResponse, body: unknown, status = 200, headers: Json = {}): void {
  response.writeHead(status, { 'content-type': 'application/json', ...(headers as Record<string, string>) });
  response.end(typeof body === 'string' ? body : JSON.stringify(body));
}

/** Begins a stream of events; `send` writes one. */
export function openEvents(response: ServerResponse): {
  send(message: unknown, id?: string): void;
  end(): void;
} {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.flushHeaders();
  return {
    send: (message, id) => {
      const data = typeof message === 'string' ? message : JSON.stringify(message);
      response.write(`${id === undefined ? '' : `id: ${id}\n`}data: ${data}\n\n`);
    },
    end: () => void response.end(),
  };
}

const result = (id: unknown, value: Json): Json => ({ jsonrpc: '2.0', id, result: value });
export const answerText = (id: unknown, value: string): Json =>
  result(id, { resultType: 'complete', content: [{ type: 'text', text: value }] });

/** A server of either era with these tools, each call of which `call` answers; everything else is as it should be. */
export function toolServer(
  era: Era,
  call: Handler,
  tools: readonly Json[] = [{ name: 'tool', inputSchema: { type: 'object' } }],
  protocolVersion = '2025-11-25',
): Handler {
  const sessions = new Set<string>();
  const capabilities = { tools: {}, logging: {}, resources: { subscribe: true } };
  const opened = { capabilities, serverInfo: { name: 'remote', version: '1.0.0' } };
  return (seen, response) => {
    const { id, method } = seen.message;
    const isModern = era === 'modern';
    const session = seen.headers['mcp-session-id'];
    if (typeof session === 'string' && !sessions.has(session))
      return sendJson(
        response,
        { jsonrpc: '2.0', id: null, error: { code: -32001, message: 'Unknown' } },
        404,
      );
    if (seen.method !== 'POST') return void response.writeHead(405).end();
    if (id === undefined) return void response.writeHead(202).end();
    const lists = /^(\w+)\/list$/.exec(method ?? '')?.[1];
    if (lists === 'resources')
      return sendJson(response, result(id, { resources: [{ uri: 'test://a', name: 'a' }] }));
    if (lists === 'tools')
      return sendJson(
        response,
        result(id, { resultType: 'complete', ttlMs: 0, cacheScope: 'private', tools }),
      );
    if (method === 'server/discover' && isModern)
      return sendJson(
        response,
        result(id, { ...opened, resultType: 'complete', supportedVersions: ['2026-07-28'] }),
      );
    if (method === 'initialize' && !isModern) {
      sessions.add(`session-${sessions.size + 1}`);
      const headers = { 'mcp-session-id': `session-${sessions.size}` };
      return sendJson(response, result(id, { ...opened, protocolVersion }), 200, headers);
    }
    if (method === 'tools/call') return call(seen, response);
    if (method === 'subscriptions/listen') return void openEvents(response);
    if (method === 'resources/subscribe' || method === 'logging/setLevel')
      return sendJson(response, result(id, {}));
    return sendJson(
      response,
      { jsonrpc: '2.0', id, error: { code: -32601, message: 'Method not found' } },
      isModern ? 404 : 400,
    );
  };
}
