// HTTP+SSE, the transport of 2024-11-05: one stream for all answers at /sse, and messages posted to the endpoint it names.
import { Client, SSEClientTransport, type ClientOptions } from '@modelcontextprotocol/client';
import { describe, expect } from 'vitest';
import { fixture, scripted, serverWith, type Json, type Received } from '../../support/harness.ts';
import {
  eventually,
  modern,
  open,
  openSession,
  rpc,
  send,
  serveTest,
  type Headers,
  type HttpTest,
} from '../../support/http.ts';
import { verifies } from '../../verifies.ts';

const TOKEN = 'a-token-for-tests-that-is-long-enough';
const OPENING = {
  protocolVersion: '2024-11-05',
  capabilities: {},
  clientInfo: { name: 'test', version: '1' },
};

const at = (test: HttpTest, path: string): string => new URL(path, test.url).href;

/** A stream of HTTP+SSE, read by hand. */
class Stream implements AsyncDisposable {
  readonly endpoint: string;
  readonly #texts: AsyncIterator<string, undefined>;
  readonly #hangUp: () => void;

  constructor(endpoint: string, texts: AsyncIterator<string, undefined>, hangUp: () => void) {
    this.endpoint = endpoint;
    this.#texts = texts;
    this.#hangUp = hangUp;
  }

  static async open(test: HttpTest): Promise<Stream> {
    const response = await open(at(test, '/sse'), { method: 'GET', headers: { 'Content-Type': undefined } });
    expect(response.headers['content-type']).toBe('text/event-stream');
    const texts = events(response);
    const first = await texts.next();
    const [, path = ''] = /^event: endpoint\ndata: (\S+)$/u.exec(String(first.value)) ?? [];
    return new Stream(at(test, path), texts, () => response.destroy());
  }

  post(body: string, headers: Headers = {}): ReturnType<typeof send> {
    return send(this.endpoint, { headers: { Accept: undefined, ...headers }, body });
  }

  /** The next message, or undefined at the end of the stream. */
  async next(): Promise<Received | undefined> {
    const { value, done } = await this.#texts.next();
    return done === true ? undefined : (JSON.parse(value.replace(/^data: /u, '')) as Received);
  }

  async request(method: string, params: Json = {}, id = 1): Promise<Received | undefined> {
    expect((await this.post(rpc(method, params, id))).status).toBe(202);
    return this.next();
  }

  drop(): void {
    this.#hangUp();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.drop();
  }
}

async function* events(response: AsyncIterable<unknown>): AsyncGenerator<string, undefined> {
  let text = '';
  try {
    for await (const chunk of response) {
      text += String(chunk);
      const blocks = text.split('\n\n');
      text = blocks.pop() ?? '';
      for (const block of blocks) if (!block.startsWith(':')) yield block;
    }
  } catch {
    // A connection that was hung up.
  }
}

async function connect(
  test: HttpTest,
  mode: 'legacy' | 'auto',
  options: ClientOptions = {},
): Promise<{ client: Client } & AsyncDisposable> {
  const requestInit = { headers: { Authorization: `Bearer ${TOKEN}` } };
  const transport = new SSEClientTransport(new URL(at(test, '/sse')), {
    requestInit,
    eventSourceInit: {
      fetch: (url, init) =>
        fetch(url, {
          ...init,
          headers: { ...(init.headers as Record<string, string>), ...requestInit.headers },
        }),
    },
  });
  const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode }, ...options });
  await client.connect(transport, { timeout: 20_000 });
  return { client, [Symbol.asyncDispose]: () => client.close() };
}

describe('a client of HTTP+SSE', () => {
  for (const mode of ['legacy', 'auto'] as const) {
    verifies(
      ['ERA-1', 'AGG-CALL-3'],
      `the gateway serves the SDK's HTTP+SSE client at /sse in mode ${mode}`,
      async () => {
        await using test = await serveTest({ a: serverWith(['x']), b: fixture('asks-client') });
        await using sdk = await connect(test, mode, { capabilities: { elicitation: {} } });
        const { client } = sdk;
        client.setRequestHandler('elicitation/create', () => ({ action: 'decline' as const }));
        const { tools } = await client.listTools();
        expect(tools.map(({ name }) => name)).toContain('a:x');
        expect(await client.callTool({ name: 'a:x' })).toMatchObject({ content: [{ text: 'server: x' }] });
        expect(await client.callTool({ name: 'b:elicit' })).toMatchObject({
          content: [{ text: '{"action":"decline"}' }],
        });
      },
    );
  }

  verifies('ERA-1', 'a client of HTTP+SSE gets its endpoint and all answers on its stream', async () => {
    await using test = await serveTest({ a: serverWith(['x']) });
    await using stream = await Stream.open(test);
    expect(new URL(stream.endpoint).pathname).toBe('/messages');
    expect(stream.endpoint).toMatch(/\?sessionId=[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/u);
    expect((await stream.request('initialize', OPENING))?.result).toMatchObject({
      protocolVersion: '2024-11-05',
    });
    expect((await stream.post(rpc('notifications/initialized'))).status).toBe(202);
    expect(await stream.request('ping', {}, 7)).toEqual({ jsonrpc: '2.0', id: 7, result: {} });
    expect((await stream.request('server/discover', {}, 8))?.error?.code).toBe(-32601);
    expect((await stream.request('tools/call', { name: 'a:x' }, 9))?.result).toMatchObject({
      content: [{ text: 'server: x' }],
    });
  });

  verifies('ERA-1', 'a client of HTTP+SSE gets no notifications before its handshake', async () => {
    await using test = await serveTest({ a: serverWith(['x']), b: fixture('changing-lists') });
    await using stream = await Stream.open(test);
    await test.gateway.restart('a');
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect((await stream.request('initialize', OPENING))?.id).toBe(1);
    await test.gateway.restart('a');
    expect((await stream.next())?.method).toBe('notifications/tools/list_changed');
  });

  verifies('ERA-1', 'HTTP+SSE requires the right path, method, token, Host, Origin and Accept', async () => {
    await using test = await serveTest({ a: serverWith(['x']) });
    await using stream = await Stream.open(test);
    const get = async (headers: Headers, path = '/sse', method = 'GET'): Promise<number> => {
      const { status } = await send(at(test, path), {
        method,
        headers: { 'Content-Type': undefined, ...headers },
      });
      return status;
    };
    expect(await get({ Authorization: undefined })).toBe(401);
    expect(await get({ Authorization: 'Bearer wrong-token-wrong-token-wrong-token' })).toBe(401);
    expect(await get({ Host: 'evil.example' })).toBe(403);
    expect(await get({ Origin: 'https://evil.example' })).toBe(403);
    expect(await get({ Accept: 'application/json' })).toBe(406);
    expect(await get({}, '/sse', 'POST')).toBe(405);
    expect(await get({}, '/messages')).toBe(405);
    const post = async (headers: Headers, body = rpc('ping', {}, 1)): Promise<number> =>
      (await stream.post(body, headers)).status;
    expect(await post({ Authorization: undefined })).toBe(401);
    expect(await post({ Host: 'evil.example' })).toBe(403);
    expect(await post({ Origin: 'https://evil.example' })).toBe(403);
    expect(await post({ 'Content-Type': 'text/plain' })).toBe(415);
    expect(await post({}, '{')).toBe(400);
    expect(await post({}, `[${rpc('ping', {}, 1)}]`)).toBe(400);
    expect(test.front.load.sessions).toBe(1);
  });

  verifies('ERA-1', 'an HTTP+SSE session works only at its own endpoint', async () => {
    await using test = await serveTest({ a: serverWith(['x']) });
    await using stream = await Stream.open(test);
    const body = rpc('ping', {}, 1);
    const id = new URL(stream.endpoint).searchParams.get('sessionId') ?? '';
    const session = await openSession(test.url);
    const statuses = [
      await send(at(test, '/messages'), { body }),
      await send(at(test, '/messages?sessionId=guessed'), { body }),
      await send(at(test, `/messages?sessionId=${session.id}`), { body }),
      await send(test.url, { headers: { 'Mcp-Session-Id': id }, body }),
      await send(test.url, { method: 'DELETE', headers: { 'Mcp-Session-Id': id } }),
    ];
    expect(statuses.map(({ status }) => status)).toEqual([400, 404, 404, 404, 404]);
    expect((await stream.request('ping'))?.result).toEqual({});
  });

  verifies('ERA-1', 'the end of an HTTP+SSE stream ends its session and its calls', async () => {
    const waits = scripted(`
      import { serve, text, tool } from 'stdio';
      const seen = [];
      serve({
        name: 'waits',
        tools: [tool('wait'), tool('seen')],
        call: { wait: () => undefined, seen: () => text(seen.join()) },
        on: { 'notifications/cancelled': ({ reason }) => void seen.push(reason) },
      });`);
    await using test = await serveTest({ a: waits });
    const stream = await Stream.open(test);
    await stream.request('initialize', OPENING);
    await stream.post(rpc('tools/call', { name: 'a:wait' }, 2));
    await eventually(async () => (test.front.awaited === 1 ? true : undefined));
    stream.drop();
    await eventually(async () => (test.front.load.sessions === 0 ? true : undefined));
    expect(test.gateway.server.clients.size).toBe(0);
    expect((await stream.post(rpc('ping', {}, 3))).status).toBe(404);
    await using next = await Stream.open(test);
    await next.request('initialize', OPENING);
    expect((await next.request('tools/call', { name: 'a:seen' }, 2))?.result).toMatchObject({
      content: [{ text: 'The client has closed its stream' }],
    });
  });

  verifies('ERA-1', 'HTTP+SSE sessions count towards the limit of sessions', async () => {
    await using test = await serveTest({ a: serverWith(['x']) }, { http: { limits: { maxSessions: 1 } } });
    await using stream = await Stream.open(test);
    const second = await send(at(test, '/sse'), { method: 'GET', headers: { 'Content-Type': undefined } });
    expect([second.status, second.headers['retry-after']]).toEqual([503, '10']);
    const body = rpc('initialize', OPENING, 1);
    expect((await send(test.url, { body })).status).toBe(503);
    stream.drop();
    await eventually(async () => ((await send(test.url, { body })).status === 200 ? true : undefined));
  });

  verifies('AGG-CHILD-5', 'a client of HTTP+SSE gets answers in flight before the gateway ends', async () => {
    const slow = scripted(`
      import { serve, text, tool } from 'stdio';
      serve({ name: 'slow', tools: [tool('slow')], call: {
        slow: () => new Promise((done) => setTimeout(() => done(text('at last')), 300)),
      } });`);
    const test = await serveTest({ a: slow });
    await using stream = await Stream.open(test);
    await stream.request('initialize', OPENING);
    await stream.post(rpc('tools/call', { name: 'a:slow' }, 2));
    await eventually(async () => (test.front.awaited === 1 ? true : undefined));
    const closed = test.front.close();
    expect((await stream.next())?.result).toMatchObject({ content: [{ text: 'at last' }] });
    expect(await stream.next()).toBeUndefined();
    await closed;
  });
});

verifies('ERA-1', 'the gateway ignores a slash at the end of a path', async () => {
  await using test = await serveTest({ a: serverWith(['x']) });
  const { status, json } = await send(`${test.url}/`, modern('tools/list'));
  expect([status, json.result?.['tools']]).toMatchObject([200, [{ name: 'a:x' }]]);
  expect((await openSession(`${test.url}/`)).opening.result).toMatchObject({ protocolVersion: '2025-11-25' });
  expect((await send(at(test, '/healthz/'), { method: 'GET' })).status).toBe(200);
  expect((await send(at(test, '/mcp/x'), modern('tools/list'))).status).toBe(404);
});
