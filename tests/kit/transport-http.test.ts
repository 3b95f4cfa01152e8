// Serving MCP over HTTP: the promises that all ways share, and those of a server of its own.
import { Agent, createServer, request } from 'node:http';
import { connect as connectSocket } from 'node:net';
import { McpServer, requireScopes } from '@modelcontextprotocol/server';
import {
  createHttpMcpRouter,
  createMcpFetchHandler,
  setupHttpServer,
  type SetupHttpServerOptions,
} from '@weir/server/transport';
import express from 'express';
import { describe, expect, test } from 'vitest';
import { verifies } from '../verifies.ts';
import { legacyCall, modernCall, openDoor, openLegacy, post, testServer } from './transport-doors.ts';
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
    const handler = createMcpFetchHandler({ serverFactory });
    let authInfo = principal(clientId, ...scopes);
    const url = 'http://localhost/mcp';
    const fetch = (to: string | URL, init?: RequestInit) =>
      handler.fetch(new Request(to, init), { authInfo });
    const become = (other: string): void => void (authInfo = principal(other));
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
