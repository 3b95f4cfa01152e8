// Serving MCP over HTTP: the promises that all ways share, and those of a server of its own.
import { Agent, createServer, request, type Server } from 'node:http';
import { connect as connectSocket, type Socket } from 'node:net';
import { McpServer, requireScopes } from '@modelcontextprotocol/server';
import {
  createHttpMcpRouter,
  createMcpFetchHandler,
  setupHttpServer,
  type SetupHttpServerOptions,
} from '@weir/server/transport';
import express from 'express';
import { describe, expect, test, vi } from 'vitest';
import { z } from 'zod';
import type { Json } from '../support/harness.ts';
import { verifies } from '../verifies.ts';
import {
  BOTH_TYPES,
  type Door,
  legacyCall,
  modernCall,
  openDoor,
  openLegacy,
  post,
  testServer,
} from './transport-doors.ts';
import { describeHttp } from './transport.case.ts';

describe.each(['server', 'Express router', 'fetch handler'] as const)('%s', (kind) => {
  describeHttp(kind);
});

const serverFactory = testServer;

/** Starts a server that ends with the test. */
async function started(options: Partial<SetupHttpServerOptions> = {}) {
  const handle = await setupHttpServer({ serverFactory, port: 0, ...options });
  return { ...handle, port: Number(new URL(handle.url).port), [Symbol.asyncDispose]: () => handle.close() };
}

interface Got {
  status: number | undefined;
  headers: Record<string, unknown>;
  text: string;
}

/** Sends a request with any headers, also those that fetch does not let a program set. */
function ask(
  port: number,
  method: string,
  headers: Record<string, string>,
  path = '/mcp',
  body = '',
): Promise<Got> {
  return new Promise((resolve, reject) => {
    const sent = request({ port, host: '127.0.0.1', method, path, headers }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
      response.on('end', () => resolve({ status: response.statusCode, headers: response.headers, text }));
    });
    sent.on('error', reject).end(body);
  });
}

/** Writes bytes to a socket and returns what comes back. */
function raw(port: number, text: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let answer = '';
    const socket = connectSocket(port, '127.0.0.1', () => socket.write(text));
    socket.setEncoding('utf8').on('data', (chunk: string) => (answer += chunk));
    socket.on('end', () => resolve(answer)).on('error', reject);
  });
}

describe('a port', () => {
  verifies('KIT-TRANSPORT-1', 'a missing port is refused', async () => {
    const options = { serverFactory, port: undefined } as unknown as SetupHttpServerOptions;
    await expect(setupHttpServer(options)).rejects.toThrow('Port is required for HTTP transport');
  });

  test.each([-1, 65_536, 1.5, Number.NaN])('a port of %s is refused', async (port) => {
    await expect(setupHttpServer({ serverFactory, port })).rejects.toThrow(/port must be a whole number/);
  });

  verifies('KIT-TRANSPORT-1', 'a port that is taken is named with a remedy', async () => {
    await using first = await started();
    const second = setupHttpServer({ serverFactory, port: first.port });
    await expect(second).rejects.toMatchObject({
      code: 'EADDRINUSE',
      message: `Port ${first.port} on 127.0.0.1 is already in use by another process. Stop it, or choose another port`,
    });
  });

  const asRoot = process.getuid?.() === 0 ? 'root may listen on every port' : undefined;
  verifies.skipIf(asRoot)(
    'KIT-TRANSPORT-1',
    'a port that the user may not take is named with a remedy',
    async () => {
      await expect(setupHttpServer({ serverFactory, port: 1 })).rejects.toMatchObject({ code: 'EACCES' });
    },
  );

  test('an address of another machine is named with a remedy', async () => {
    await expect(setupHttpServer({ serverFactory, port: 0, host: '192.0.2.1' })).rejects.toThrow(
      '192.0.2.1 is not an address of this machine',
    );
  });
});

describe('a shared server', () => {
  const server = new McpServer({ name: 'one', version: '1' });
  const wrong = server as unknown as () => McpServer;

  verifies('KIT-TRANSPORT-1', 'an instance in place of a factory is refused everywhere', async () => {
    expect(() => createHttpMcpRouter({ mcpServer: wrong })).toThrow(/^mcpServer must be a function/);
    expect(() => createMcpFetchHandler({ serverFactory: wrong })).toThrow(
      /^serverFactory must be a function/,
    );
    await expect(setupHttpServer({ serverFactory: wrong, port: 0 })).rejects.toThrow(
      /^serverFactory must be a function/,
    );
  });
});

describe('the check of Host and Origin', () => {
  const [call, headers] = modernCall('echo', { text: 'hello' });
  const json = {
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    ...headers,
  };
  const body = JSON.stringify(call);

  verifies('KIT-SCOPE-1', 'a server answers only calls by its own address and port', async () => {
    await using server = await started();
    const { port } = server;
    const status = async (more: Record<string, string>) =>
      (await ask(port, 'POST', { ...json, ...more }, '/mcp', body)).status;
    expect(await status({ host: `localhost:${port}` })).toBe(200);
    expect(await status({ host: `localhost:${port}`, origin: `http://localhost:${port}` })).toBe(200);
    for (const host of ['evil.example', `evil.example:${port}`, 'localhost', `localhost:${port + 1}`])
      expect([host, await status({ host })]).toEqual([host, 403]);
    for (const origin of ['null', 'http://evil.example', `http://localhost:${port + 1}`])
      expect([origin, await status({ origin })]).toEqual([origin, 403]);
  });

  verifies(
    'KIT-SCOPE-1',
    'a server listens on 127.0.0.1 where no host is named, and warns of other ones',
    async () => {
      const logged: string[] = [];
      const log = (text: string): void => void logged.push(text);
      const logger = { debug: log, info: log, warn: log, error: log };
      await using own = await started({ logger });
      expect(own.httpServer.address()).toMatchObject({ address: '127.0.0.1' });
      expect(logged).toEqual([`MCP server listens at ${own.url}`]);
      await using open = await started({ logger, host: '0.0.0.0' });
      expect(open.url).toBe(`http://127.0.0.1:${open.port}/mcp`);
      expect(logged.at(-1)).toContain('every machine that reaches it may call it');
    },
  );

  test('a router and a fetch handler check Host and Origin, too', async () => {
    await using router = await openDoor('Express router');
    const { port } = new URL(router.url);
    expect((await ask(Number(port), 'POST', { ...json, host: 'evil.example' }, '/mcp', body)).status).toBe(
      403,
    );
    await using handler = await openDoor('fetch handler');
    const status = async (url: string, more = {}) =>
      (await handler.fetch(url, { method: 'POST', headers: { ...json, ...more }, body })).status;
    expect(await status('http://127.0.0.1:3000/mcp')).toBe(200);
    expect(await status('http://[::1]:3000/mcp', { origin: 'http://[::1]:3000' })).toBe(200);
    expect(await status('https://localhost/mcp', { origin: 'https://localhost' })).toBe(200);
    expect(await status('http://evil.example/mcp')).toBe(403);
    expect(await status('http://localhost:3000/mcp', { origin: 'http://localhost:3001' })).toBe(403);
    expect(await status('http://localhost:3000/mcp', { host: 'evil.example' })).toBe(403);
  });

  test('a page of an allowed origin may call, and others learn nothing', async () => {
    await using server = await started({ allowedOrigins: ['https://app.example'] });
    const asked = {
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'mcp-param-region',
    };
    const allowed = await ask(server.port, 'OPTIONS', { origin: 'https://app.example', ...asked });
    expect([allowed.status, allowed.headers['access-control-allow-origin']]).toEqual([
      204,
      'https://app.example',
    ]);
    expect(allowed.headers['access-control-allow-headers']).toBe('mcp-param-region');
    const answered = await ask(server.port, 'POST', { ...json, origin: 'https://app.example' }, '/mcp', body);
    expect([answered.status, answered.headers['access-control-allow-origin']]).toEqual([
      200,
      'https://app.example',
    ]);
    const foreign = await ask(server.port, 'OPTIONS', { origin: 'https://evil.example', ...asked });
    expect([foreign.status, foreign.headers['access-control-allow-origin']]).toEqual([403, undefined]);
  });

  test('a name in allowedHosts is accepted', async () => {
    await using server = await started({ allowedHosts: ['mcp.example.org'] });
    expect((await ask(server.port, 'POST', { ...json, host: 'mcp.example.org' }, '/mcp', body)).status).toBe(
      200,
    );
  });
});

describe('checked tokens', () => {
  const principal = (clientId: string, ...scopes: string[]) => ({ token: 'secret', clientId, scopes });
  const serverFactory = (): McpServer => {
    const server = new McpServer({ name: 'scoped', version: '1' });
    const result = { content: [{ type: 'text' as const, text: 'done' }] };
    server.registerTool('write', { scopeChallenge: requireScopes('files:write') }, () => result);
    return server;
  };

  /** Sends what `init` says, as a principal that a check in front has found. */
  async function doorOf(clientId: string, ...scopes: string[]) {
    const handler = createMcpFetchHandler({ serverFactory, maxSessions: 4 });
    let authInfo = principal(clientId, ...scopes);
    const url = 'http://localhost/mcp';
    const fetch = (to: string | URL, init?: RequestInit) =>
      handler.fetch(new Request(to, init), { authInfo });
    const become = (other: string, ...more: string[]): void => void (authInfo = principal(other, ...more));
    return { ...handler, url, fetch, logged: [], become, [Symbol.asyncDispose]: () => handler.close() };
  }

  verifies('KIT-TRANSPORT-1', 'a session belongs to the principal that opened it', async () => {
    await using door = await doorOf('ann', 'files:write');
    const session = await openLegacy(door);
    const call = legacyCall('write', {});
    expect((await post(door, call, session)).status).toBe(200);
    door.become('eve');
    expect((await post(door, call, session)).status).toBe(404);
    expect((await door.fetch(door.url, { method: 'DELETE', headers: session })).status).toBe(404);
  });

  verifies('KIT-TRANSPORT-1', 'a principal cannot end the sessions of all others', async () => {
    await using door = await doorOf('ann', 'files:write');
    const call = legacyCall('write', {});
    const statusAs = async (name: string, session: Record<string, string>): Promise<number> => {
      door.become(name, 'files:write');
      return (await post(door, call, session)).status;
    };
    const opened = async (name: string): Promise<Record<string, string>> => {
      door.become(name, 'files:write');
      return openLegacy(door);
    };
    const ann = await opened('ann');
    const bob = await opened('bob');
    const eves = [];
    for (let count = 0; count < 6; count++) eves.push(await opened('eve'));
    expect([await statusAs('ann', ann), await statusAs('bob', bob)]).toEqual([200, 200]);
    const alive = await Promise.all(eves.map((session) => statusAs('eve', session)));
    expect(alive).toEqual([404, 404, 404, 404, 200, 200]);
  });

  test('one more principal ends a session of the one that has more than half', async () => {
    await using door = await doorOf('ann', 'files:write');
    const first = await openLegacy(door);
    door.become('eve', 'files:write');
    const eves = [await openLegacy(door), await openLegacy(door), await openLegacy(door)];
    door.become('bob', 'files:write');
    await openLegacy(door);
    door.become('ann', 'files:write');
    const call = legacyCall('write', {});
    expect((await post(door, call, first)).status).toBe(200);
    door.become('eve', 'files:write');
    const alive = await Promise.all(eves.map(async (session) => (await post(door, call, session)).status));
    expect(alive).toEqual([404, 200, 200]);
  });

  test('requests at the same time count for their principal, too', async () => {
    await using door = await doorOf('ann', 'files:write');
    const first = await openLegacy(door);
    door.become('eve', 'files:write');
    await Promise.all(Array.from({ length: 8 }, () => openLegacy(door)));
    door.become('ann', 'files:write');
    expect((await post(door, legacyCall('write', {}), first)).status).toBe(200);
  });

  test.each(['legacy', 'modern'] as const)(
    'a %s call without the scope of its tool is refused',
    async (era) => {
      await using door = await doorOf('ann', 'files:read');
      const response =
        era === 'modern'
          ? await post(door, ...modernCall('write', {}))
          : await post(door, legacyCall('write', {}), await openLegacy(door));
      expect(response.status).toBe(403);
      expect(response.headers.get('www-authenticate')).toMatch(/insufficient_scope.*files:write/u);
    },
  );
});

describe('a client that does not read', () => {
  const MOST = 20_000_000;
  /** A tool with a long answer, after as many messages of 1 MB as it is asked for. */
  const serverFactory = (): McpServer => {
    const server = new McpServer({ name: 'long', version: '1' }, { capabilities: { logging: {} } });
    const inputSchema = z.object({ length: z.number(), messages: z.number().default(0) });
    server.registerTool('long', { inputSchema }, async ({ length, messages }, { mcpReq }) => {
      const params = { progressToken: 1, progress: 1, message: 'x'.repeat(1_000_000) };
      for (let sent = 0; sent < messages; sent++) {
        await mcpReq.notify({ method: 'notifications/progress', params });
        await new Promise((resolve) => setImmediate(resolve));
      }
      return { content: [{ type: 'text' as const, text: 'x'.repeat(length) }] };
    });
    return server;
  };
  const eras = ['legacy', 'modern'] as const;

  /** Sends a call and leaves its answer unread. */
  async function unread(server: { port: number; url: string }, era: 'legacy' | 'modern', args: Json) {
    const [call, more] = modernCall('long', args);
    const door = { url: server.url, fetch } as Door;
    const headers = era === 'modern' ? more : await openLegacy(door);
    const body = JSON.stringify(era === 'modern' ? call : legacyCall('long', args));
    const all = {
      host: `127.0.0.1:${server.port}`,
      'x-unread': 'yes',
      'content-type': 'application/json',
      accept: BOTH_TYPES,
    };
    const lines = Object.entries({ ...all, ...headers, 'content-length': String(body.length) });
    const socket = connectSocket(server.port, '127.0.0.1').pause();
    socket.on('error', () => undefined);
    const head = lines.map(([name, value]) => `${name}: ${value}\r\n`).join('');
    socket.write(`POST /mcp HTTP/1.1\r\n${head}\r\n${body}`);
    return socket;
  }

  /** Resolves when the server has closed the connection of the call, of which the client then gets a part. */
  async function cutOff(server: { httpServer: Server }, call: () => Promise<Socket>): Promise<void> {
    const closed = new Promise((resolve) => {
      server.httpServer.on('request', ({ headers }, res) => {
        if (headers['x-unread'] !== undefined) res.on('close', () => resolve(undefined));
      });
    });
    const socket = await call();
    await closed;
    let size = 0;
    socket.on('data', ({ length }: Buffer) => (size += length));
    socket.resume();
    await new Promise((resolve) => socket.on('close', resolve));
    expect(size).toBeLessThan(MOST);
  }

  describe.each(eras)('%s', (era) => {
    verifies('KIT-TRANSPORT-1', `a ${era} client that takes no byte of an answer is cut off`, async () => {
      await using server = await started({ serverFactory, stallMs: 50 });
      await cutOff(server, () => unread(server, era, { length: MOST }));
    });

    test(`a ${era} client that takes no byte of a stream is cut off`, async () => {
      await using server = await started({ serverFactory, stallMs: 50 });
      await cutOff(server, () => unread(server, era, { length: MOST, messages: 1 }));
    });

    test(`a ${era} client that leaves more than 16 MiB of messages unread is cut off`, async () => {
      await using server = await started({ serverFactory });
      await cutOff(server, () => unread(server, era, { length: 1, messages: 40 }));
    });

    test(`a slow ${era} client gets all`, async () => {
      const stallMs = 500;
      await using server = await started({ serverFactory, stallMs });
      const start = Date.now();
      const socket = await unread(server, era, { length: MOST, messages: era === 'modern' ? 1 : 0 });
      let size = 0;
      socket.on('data', (chunk: Buffer) => {
        size += chunk.length;
        socket.pause();
        setTimeout(() => socket.resume(), 4);
      });
      socket.resume();
      await vi.waitUntil(() => size >= MOST, { timeout: 20_000 });
      // As a whole it takes longer than a client may take for nothing.
      expect(Date.now() - start).toBeGreaterThan(stallMs);
      socket.destroy();
    });
  });

  test('the limit ends with the answer, and the connection is kept', async () => {
    await using server = await started({ serverFactory: testServer, stallMs: 30 });
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const ports = new Set<number | undefined>();
    server.httpServer.on('request', (req) => ports.add(req.socket.remotePort));
    const echo = (text: string): Promise<number> => {
      const [call, headers] = modernCall('echo', { text });
      const all = { 'content-type': 'application/json', accept: BOTH_TYPES, ...headers };
      return new Promise((resolve, reject) => {
        const sent = request(server.url, { method: 'POST', agent, headers: all }, (response) => {
          let size = 0;
          response.on('data', (chunk: Buffer) => (size += chunk.length));
          response.on('end', () => resolve(size));
        });
        sent.on('error', reject).end(JSON.stringify(call));
      });
    };
    expect(await echo('x'.repeat(4_000_000))).toBeGreaterThan(4_000_000);
    await new Promise((resolve) => setTimeout(resolve, 80));
    expect(await echo('x')).toBeLessThan(1000);
    expect(ports.size).toBe(1);
    agent.destroy();
  });

  test('a fetch handler ends a stream of which more than 16 MiB are unread', async () => {
    await using door = await openDoor('fetch handler', { serverFactory });
    const session = await openLegacy(door);
    const response = await post(door, legacyCall('long', { length: 1, messages: 40 }), session);
    await new Promise((resolve) => setTimeout(resolve, 100));
    await expect(response.text()).rejects.toThrow('More than 16777216 bytes of the stream were not read');
  });

  test.each([0, -1, Number.NaN, Infinity])('a stallMs of %s is refused', async (stallMs) => {
    await expect(started({ stallMs })).rejects.toThrow(/stallMs must be a number of milliseconds/);
  });
});

describe('a server of its own', () => {
  test('other paths answer 404, and the path may end with a slash or a query', async () => {
    await using server = await started();
    expect((await ask(server.port, 'GET', {}, '/')).status).toBe(404);
    expect((await ask(server.port, 'GET', {}, '/mcpx')).status).toBe(404);
    for (const path of ['/mcp', '/mcp/', '/mcp?x=1'])
      expect((await ask(server.port, 'GET', {}, path)).status).toBe(405);
  });

  verifies('KIT-TRANSPORT-1', 'an Express application keeps its other routes beside /mcp', async () => {
    const app = express();
    app.get('/health', (_req, res) => void res.send('well'));
    await using server = await started({ app });
    expect((await ask(server.port, 'GET', {}, '/health')).text).toBe('well');
    expect((await ask(server.port, 'GET', {}, '/mcp')).status).toBe(405);
    expect((await ask(server.port, 'GET', {}, '/mcp/below')).status).toBe(404);
  });

  test('slow clients are cut off', async () => {
    await using server = await started();
    const { headersTimeout, requestTimeout, keepAliveTimeout } = server.httpServer;
    expect([headersTimeout, requestTimeout, keepAliveTimeout]).toEqual([10_000, 60_000, 65_000]);
  });

  test('a chunked body above the limit is refused while it comes, and the connection ends', async () => {
    await using server = await started({ maxBodyBytes: 100 });
    const head = `POST /mcp HTTP/1.1\r\nHost: localhost:${server.port}\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n`;
    const answer = await raw(server.port, `${head}80\r\n${'x'.repeat(128)}\r\n`);
    expect(answer).toMatch(/^HTTP\/1\.1 413 /);
    expect(answer).toContain('must not exceed 100 bytes');
  });

  test('a length above the limit is refused before the body comes', async () => {
    await using server = await started({ maxBodyBytes: 100 });
    const head = `POST /mcp HTTP/1.1\r\nHost: localhost:${server.port}\r\nContent-Type: application/json\r\nContent-Length: 101\r\n\r\n`;
    expect(await raw(server.port, head)).toMatch(/^HTTP\/1\.1 413 /);
  });

  test('a request with two Host headers is refused', async () => {
    await using server = await started();
    for (const second of [`localhost:${server.port}`, 'evil.example']) {
      const head = `POST /mcp HTTP/1.1\r\nHost: localhost:${server.port}\r\nhOST: ${second}\r\nConnection: close\r\n`;
      const answer = await raw(
        server.port,
        `${head}Content-Type: application/json\r\nContent-Length: 0\r\n\r\n`,
      );
      expect(answer).toMatch(/^HTTP\/1\.1 400 [^]*one Host header/u);
    }
  });

  test.each(['server', 'fetch handler'] as const)('the %s takes UTF-8 alone', async (kind) => {
    await using door = await openDoor(kind);
    const [call, headers] = modernCall('echo', { text: '?ä' });
    const bytes = Buffer.from(JSON.stringify(call));
    const send = async (body: Buffer, type = 'application/json'): Promise<[number, unknown]> => {
      const all = { 'content-type': type, accept: BOTH_TYPES, ...headers };
      const response = await door.fetch(door.url, {
        method: 'POST',
        headers: all,
        body: new Uint8Array(body),
      });
      const { error } = (await response.json()) as { error?: { code: number } };
      return [response.status, error?.code];
    };
    for (const charset of ['utf-8', 'UTF-8', '"utf-8"', 'utf8', 'us-ascii'])
      expect([charset, ...(await send(bytes, `application/json; charset=${charset}`))]).toEqual([
        charset,
        200,
        undefined,
      ]);
    for (const charset of ['utf-16', 'utf-16le', 'iso-8859-1', '"utf-32"'])
      expect([charset, ...(await send(bytes, `application/json;charset=${charset}`))]).toEqual([
        charset,
        415,
        -32_000,
      ]);
    const broken = Buffer.from(bytes);
    broken[broken.indexOf('?')] = 0xff;
    expect(await send(broken)).toEqual([400, -32_700]);
  });

  test('a byte order mark before the JSON is skipped', async () => {
    await using server = await started();
    const [call, headers] = modernCall('echo', { text: 'hello' });
    const json = { 'content-type': 'application/json', ...headers };
    const answer = await ask(server.port, 'POST', json, '/mcp', `\uFEFF${JSON.stringify(call)}`);
    expect([answer.status, answer.headers['content-type']]).toEqual([200, 'application/json']);
  });

  test('a body that was read without a trace is explained', async () => {
    const router = createHttpMcpRouter({ mcpServer: serverFactory });
    const http = createServer((req, res) => void req.resume().on('end', () => router(req, res)));
    await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
    const address = http.address();
    const port = typeof address === 'object' && address !== null ? address.port : 0;
    const answer = await ask(port, 'POST', { 'content-type': 'application/json' }, '/', '{}');
    expect([answer.status, answer.text]).toEqual([
      400,
      expect.stringContaining('Mount the endpoint before other body readers'),
    ]);
    await router.close();
    http.closeAllConnections();
    http.close();
  });

  verifies('KIT-TRANSPORT-1', 'a server closes although clients keep connections open', async () => {
    const server = await started({ closeTimeoutMs: 60_000 });
    const unused = connectSocket(server.port, '127.0.0.1');
    await new Promise((resolve) => unused.on('connect', resolve));
    const agent = new Agent({ keepAlive: true });
    const idle = request(server.url, { agent }, (response) => void response.resume()).end();
    await new Promise((resolve) => idle.on('close', resolve));
    await server.close();
    agent.destroy();
  });

  verifies('KIT-TRANSPORT-1', 'a closed server takes no connection', async () => {
    const server = await started();
    await server.close();
    await expect(ask(server.port, 'GET', {})).rejects.toThrow(/ECONNREFUSED/);
  });
});
