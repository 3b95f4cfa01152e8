import { createServer } from 'node:http';
// The same MCP server behind each of the ways to serve HTTP: a server of its own, a router in Express, a fetch handler.
import type { AddressInfo } from 'node:net';
import { Client, StreamableHTTPClientTransport, type ClientOptions } from '@modelcontextprotocol/client';
import { acceptedContent, inputRequired, McpServer, type ServerNotifier } from '@modelcontextprotocol/server';
import {
  createHttpMcpRouter,
  createMcpFetchHandler,
  type HttpServingOptions,
  type ServerFactory,
  setupHttpServer,
} from '@weir/server/transport';
import express from 'express';
import { z } from 'zod';
import { modernMeta, type Era, type Json } from '../support/harness.ts';

export type Kind = 'server' | 'Express router' | 'fetch handler';

export interface Door extends AsyncDisposable {
  readonly url: string;
  readonly notify: ServerNotifier;
  readonly logged: string[];
  fetch(url: string | URL, init?: RequestInit): Promise<Response>;
  close(): Promise<void>;
}

export interface DoorOptions extends HttpServingOptions {
  readonly serverFactory?: ServerFactory;
}

/** Calls that wait, by their key; a test releases them. */
export const waiting: Map<string, { release: () => void; signal: AbortSignal }> = new Map();

/** Makes a server with one tool for each thing that a transport has to carry. */
export function testServer(): McpServer {
  const server = new McpServer({ name: 'test', version: '1.0.0' }, { capabilities: { logging: {} } });
  const text = (value: string) => ({ content: [{ type: 'text' as const, text: value }] });
  server.registerTool('echo', { inputSchema: z.object({ text: z.string() }) }, ({ text: value }) =>
    text(value),
  );
  server.registerTool('wait', { inputSchema: z.object({ key: z.string() }) }, async ({ key }, { mcpReq }) => {
    await new Promise<void>((resolve) => {
      waiting.set(key, { release: resolve, signal: mcpReq.signal });
      mcpReq.signal.addEventListener('abort', () => resolve());
    });
    return text(`waited for ${key}`);
  });
  server.registerTool('count', { inputSchema: z.object({ to: z.number() }) }, async ({ to }, { mcpReq }) => {
    const progressToken = mcpReq._meta?.progressToken ?? 'none';
    for (let progress = 1; progress <= to; progress++)
      await mcpReq.notify({
        method: 'notifications/progress',
        params: { progressToken, progress, total: to },
      });
    return text(`counted to ${to}`);
  });
  server.registerTool('away', {}, async ({ mcpReq, http }) => {
    await mcpReq.notify({ method: 'notifications/message', params: { level: 'info', data: 'before' } });
    http?.closeSSE?.();
    await mcpReq.notify({ method: 'notifications/message', params: { level: 'info', data: 'meanwhile' } });
    return text('came back');
  });
  server.registerTool('ask', {}, ({ mcpReq }) => {
    const answer = acceptedContent<{ name: string }>(mcpReq.inputResponses, 'name');
    if (answer !== undefined) return text(`Hello ${answer.name}`);
    const requestedSchema = { type: 'object' as const, properties: { name: { type: 'string' as const } } };
    return inputRequired({
      inputRequests: { name: inputRequired.elicit({ message: 'Name?', requestedSchema }) },
    });
  });
  server.registerTool('header', {}, ({ http }) =>
    text(`${http?.req?.headers.get('x-test')} ${http?.req?.url}`),
  );
  server.registerTool('throw', {}, () => {
    throw new Error('a secret of the handler');
  });
  return server;
}

/** Opens one of the doors; `await using` closes it with the test. */
export async function openDoor(
  kind: Kind,
  { serverFactory = testServer, ...options }: DoorOptions = {},
): Promise<Door> {
  const logged: string[] = [];
  const log = (...parts: unknown[]): void => void logged.push(parts.map(String).join(' '));
  const logger = { debug: () => undefined, info: () => undefined, warn: log, error: log };
  const opened = await open(kind, { ...options, serverFactory, logger });
  return { ...opened, logged, [Symbol.asyncDispose]: () => opened.close() };
}

type Opened = Omit<Door, 'logged' | typeof Symbol.asyncDispose>;

async function open(
  kind: Kind,
  options: HttpServingOptions & { serverFactory: ServerFactory },
): Promise<Opened> {
  if (kind === 'server') return { ...(await setupHttpServer({ ...options, port: 0 })), fetch };
  if (kind === 'fetch handler') {
    const handler = createMcpFetchHandler(options);
    const url = 'http://localhost:8080/mcp';
    return { ...handler, url, fetch: (to, init) => handler.fetch(new Request(to, init)) };
  }
  const { serverFactory: mcpServer, ...rest } = options;
  const router = createHttpMcpRouter({ ...rest, mcpServer });
  const app = express();
  // A parser in front is what most applications have.
  app.use(express.json({ limit: '5mb' }));
  app.use('/mcp', router);
  const server = createServer(app);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const close = async (): Promise<void> => {
    await router.close();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
  return { url, notify: router.notify, fetch, close };
}

/** Connects the SDK's client, in one era and no other. */
export async function connect(door: Door, era: Era, options: ClientOptions = {}): Promise<Client> {
  const mode = era === 'modern' ? { pin: '2026-07-28' } : 'legacy';
  const client = new Client({ name: 'test', version: '1.0.0' }, { versionNegotiation: { mode }, ...options });
  await client.connect(new StreamableHTTPClientTransport(new URL(door.url), { fetch: door.fetch }));
  return client;
}

export const BOTH_TYPES = 'application/json, text/event-stream';

/** Posts a body with the headers that every client sends. */
export function post(door: Door, body: unknown, headers: Record<string, string> = {}): Promise<Response> {
  return door.fetch(door.url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: BOTH_TYPES, ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
}

/** Opens a session as clients of 2025 do; returns the headers of its requests. */
export async function openLegacy(door: Door): Promise<Record<string, string>> {
  const clientInfo = { name: 'raw', version: '1.0.0' };
  const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo };
  const response = await post(door, { jsonrpc: '2.0', id: 0, method: 'initialize', params });
  await response.text();
  const id = response.headers.get('mcp-session-id') ?? '';
  return { 'mcp-session-id': id, 'mcp-protocol-version': '2025-11-25' };
}

/** A request of 2026-07-28, and its headers. */
export function modernCall(name: string, args: Json, id = 1): [Json, Record<string, string>] {
  const params = { name, arguments: args, ...modernMeta() };
  const headers = { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/call', 'mcp-name': name };
  return [{ jsonrpc: '2.0', id, method: 'tools/call', params }, headers];
}

export function legacyCall(name: string, args: Json, id: number = 1): Json {
  return { jsonrpc: '2.0', id, method: 'tools/call', params: { name, arguments: args } };
}
