import { once } from 'node:events';
import { Agent, request, type ClientRequest, type IncomingMessage } from 'node:http';
import { connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { Accounts } from '../../../wire/account.ts';
import type { ClientConnection, ConnectionHandlers } from './client-connection.ts';
import { HttpServer } from './http-server.ts';
import type { IncomingRequest } from './incoming-request.ts';
import type { OutgoingResponse } from './outgoing-response.ts';

const TIMES = { headers: 10_000, request: 30_000 };
/** Time in which nothing times out. */
const LATER_MS = 24 * 60 * 60 * 1000;

let server: HttpServer;
let port: number;
let accounts: Accounts;
/** Requests in the order of their heads, with what happened to their responses. */
let served: { url: string; body: string; isOver: boolean; response: OutgoingResponse }[];
let failures: string[];
let serve: (request: IncomingRequest, response: OutgoingResponse) => void;

/** Answers with the body of the request. */
function echo(incoming: IncomingRequest, response: OutgoingResponse): void {
  const entry = { url: incoming.url, body: '', isOver: false, response };
  served.push(entry);
  response.onClose(() => (entry.isOver = true));
  incoming.read({
    data: (part) => (entry.body += part.toString('latin1')),
    end: () => response.send(200, ['X-Url', incoming.url], entry.body),
  });
}

beforeEach(async () => {
  served = [];
  failures = [];
  serve = echo;
  accounts = new Accounts(4 * 1024 * 1024);
  server = new HttpServer(TIMES);
  port = await server.listen('127.0.0.1', 0);
  const handlers: ConnectionHandlers = {
    openAccount: (exceeded) => accounts.open(exceeded),
    request: (incoming, response) => serve(incoming, response),
    refuse: (response, status, why) => response.send(status, [], why),
    failed: ({ message }) => failures.push(message),
  };
  server.serve(handlers, ({ message }) => failures.push(message));
});
afterEach(async () => {
  server.destroy();
  await server.close();
});

/** Opens a connection; `said` is what has come on it. */
function client(): { socket: Socket; said: () => string } {
  const socket = connect(port, '127.0.0.1')
    .setEncoding('latin1')
    .on('error', () => {});
  let all = '';
  socket.on('data', (chunk: string) => (all += chunk));
  return { socket, said: () => all };
}

/** Sends a text and resolves with all that comes until the connection closes. */
async function ask(sent: string): Promise<string> {
  const { socket, said } = client();
  socket.write(sent, 'latin1');
  await once(socket, 'close');
  return said();
}

const get = (url: string, more = ''): string => `GET ${url} HTTP/1.1\r\nHost: x\r\n${more}\r\n`;
const LAST = 'Connection: close\r\n';
const statuses = (answer: string): string[] =>
  [...answer.matchAll(/HTTP\/1\.1 (\d+) /gu)].map(([, code = '']) => code);

describe('a client of Node', () => {
  let agent: Agent;
  beforeEach(() => (agent = new Agent({ keepAlive: true, maxSockets: 1 })));
  afterEach(() => agent.destroy());

  const send = (options: object): ClientRequest => request({ port, agent, ...options });
  async function answer(sent: ClientRequest): Promise<[IncomingMessage, string]> {
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    return [response, await text(response)];
  }

  test('a client of Node uses one connection for requests with lengths, chunks and neither', async () => {
    const [, one] = await answer(send({ method: 'POST', path: '/1' }).end('é'.repeat(40_000)));
    const chunked = send({ method: 'POST', path: '/2' });
    chunked.write('first,');
    await delay(20);
    const [two, body] = await answer(chunked.end('second'));
    const [three] = await answer(send({ path: '/3' }).end());
    expect([one, body]).toEqual(['é'.repeat(40_000), 'first,second']);
    expect([two.headers['x-url'], three.headers['x-url'], three.headers['content-length']]).toEqual([
      '/2',
      '/3',
      '0',
    ]);
    expect(three.headers.date).toMatch(/^\w{3}, \d\d \w{3} \d{4} [\d:]{8} GMT$/u);
    expect(new Set(served.map(({ response }) => response.connection)).size).toBe(1);
  });

  test('a client of Node reads a response in parts, and one to HEAD without a body', async () => {
    serve = (_, response) => {
      response.start(200, []);
      for (const part of ['a', [Buffer.from('b'), 'c'], '']) response.write(part);
      response.end();
    };
    expect((await answer(send({}).end()))[1]).toBe('abc');
    serve = (_, response) => response.send(200, [], 'abc');
    const [head, body] = await answer(send({ method: 'HEAD' }).end());
    expect([head.headers['content-length'], body]).toEqual(['3', '']);
  });

  test('a client that waits for 100 is told to continue only where its body is read', async () => {
    const expecting = { method: 'POST', headers: { Expect: '100-continue', 'Content-Length': 2 } };
    const sent = send(expecting);
    sent.flushHeaders();
    await once(sent, 'continue');
    expect((await answer(sent.end('hi')))[1]).toBe('hi');
    serve = (_, response) => response.send(413, []);
    const refused = send(expecting).on('continue', () => failures.push('continued'));
    refused.flushHeaders();
    const [{ statusCode, headers }] = (await once(refused, 'response')) as [IncomingMessage];
    expect([statusCode, headers.connection, failures]).toEqual([413, 'close', []]);
    refused.destroy();
  });

  test('a refusal reaches a client that still sends its body, and the connection stays open', async () => {
    serve = (incoming, response) =>
      incoming.url === '/no' ? response.send(413, [], 'too large') : echo(incoming, response);
    const refused = send({ method: 'POST', path: '/no' });
    refused.write('x'.repeat(100_000));
    const [response] = (await once(refused, 'response')) as [IncomingMessage];
    refused.end('x'.repeat(5_000_000));
    expect([response.statusCode, await text(response)]).toEqual([413, 'too large']);
    expect((await answer(send({ path: '/next' }).end()))[0].headers['x-url']).toBe('/next');
  });
});

describe('pipelined requests', () => {
  test('pipelined requests are served one at a time, in order', async () => {
    const open: (() => void)[] = [];
    serve = (incoming, response) => {
      served.push({ url: incoming.url, body: '', isOver: false, response });
      open.push(() => response.send(200, [], incoming.url));
    };
    const { socket, said } = client();
    socket.write(get('/a') + get('/b') + get('/c', LAST));
    for (const expected of [1, 2, 3]) {
      await vi.waitFor(() => expect(open).toHaveLength(expected));
      await delay(10);
      expect(open).toHaveLength(expected);
      open[expected - 1]?.();
    }
    await once(socket, 'close');
    expect(said().match(/\/[abc]$|\/[abc](?=HTTP)/gu)).toEqual(['/a', '/b', '/c']);
  });

  test('requests that are sent ahead are read from the socket only up to a limit, and counted', async () => {
    serve = (incoming, response) =>
      void served.push({ url: incoming.url, body: '', isOver: false, response });
    const { socket } = client();
    socket.write(get('/').repeat(100_000));
    await vi.waitFor(() => expect(accounts.total).toBeGreaterThan(64 * 1024));
    await delay(100);
    expect(accounts.total).toBeLessThan(200 * 1024);
    expect(served).toHaveLength(1);
    socket.destroy();
    served[0]?.response.destroy();
    await vi.waitFor(() => expect(accounts.total).toBe(0));
  });

  test('a client that does not read its responses gets no more of them, and its unread bytes are counted', async () => {
    const large = 'x'.repeat(1_000_000);
    let count = 0;
    serve = (_, response) => response.send(200, [], (count++, large));
    const socket = connect(port, '127.0.0.1').pause();
    socket.write(get('/').repeat(50));
    await delay(300);
    expect(count).toBeLessThan(15);
    expect(accounts.total).toBeGreaterThan(0);
    let size = 0;
    socket.on('data', (chunk: Buffer) => (size += chunk.length)).resume();
    await vi.waitFor(() => expect(size).toBeGreaterThan(50 * large.length), { timeout: 10_000 });
    expect([count, accounts.total]).toEqual([50, 0]);
    socket.destroy();
  });
});

describe('invalid requests', () => {
  const post = (more: string): string => `POST / HTTP/1.1\r\nHost: x\r\n${more}`;

  test.each([
    ['another protocol', '\x16\x03\x01\x02', '400'],
    ['HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', '400'],
    ['no host', 'GET / HTTP/1.1\r\n\r\n', '400'],
    ['two hosts', get('/', 'hOST: y\r\n'), '400'],
    ['an unknown method', get('/').replace('GET', 'GTE'), '400'],
    ['a target with a space', get('/a b'), '400'],
    ['a target in UTF-8', get('/\xc3\xa9'), '400'],
    ['a header in two lines', get('/', 'A: b\r\n c\r\n'), '400'],
    ['a space before the colon', get('/', 'A : b\r\n'), '400'],
    ['a zero byte in a header', get('/', 'A: \0\r\n'), '400'],
    ['lines that end in LF', get('/', 'A: b\nC: d\r\n'), '400'],
    ['two lengths', post('Content-Length: 1\r\nContent-Length: 1\r\n\r\nx'), '400'],
    ['a length with a sign', post('Content-Length: +1\r\n\r\nx'), '400'],
    ['length and chunks', post('Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n'), '400'],
    ['an unknown coding', post('Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n'), '400'],
    ['chunks in HTTP/1.0', 'POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n', '400'],
    ['a chunk without a size', post('Transfer-Encoding: chunked\r\n\r\n\r\nx'), '400'],
    ['16 KiB of headers', get('/', `A: ${'x'.repeat(17_000)}\r\n`), '431'],
    ['headers without an end', `GET / HTTP/1.1\r\nA: ${'x'.repeat(17_000)}`, '431'],
  ])('a request with %s is refused, and its connection closed', async (_, sent, status) => {
    expect(statuses(await ask(sent))).toEqual([status]);
  });

  test('a refusal says what is wrong', async () => {
    expect(await ask('GET / HTTP/1.1\r\n\r\n')).toMatch(
      /\r\n\r\nThe request is not valid HTTP: the Host header is missing\.$/u,
    );
    expect(await ask(get('/', `A: ${'x'.repeat(17_000)}\r\n`))).toContain('over the limit of 16384 bytes');
  });

  test('empty lines before a request are skipped', async () => {
    expect(statuses(await ask(`\r\n\r\n${get('/', LAST)}`))).toEqual(['200']);
  });

  test('a request after an invalid one is not served', async () => {
    expect(statuses(await ask(`GET / HTTP/1.1\r\n\r\n${get('/')}`))).toEqual(['400']);
    expect(served).toEqual([]);
  });

  test('an exception ends only its own connection', async () => {
    serve = (incoming, response) => {
      if (incoming.url === '/bad') throw new Error('a mistake of ours');
      echo(incoming, response);
    };
    expect(await ask(get('/bad'))).toBe('');
    expect(statuses(await ask(get('/', LAST)))).toEqual(['200']);
    expect(failures).toEqual(['a mistake of ours']);
  });

  test('a header value with a line break is an exception, not a header', async () => {
    serve = (_, response) => response.send(200, ['A', 'b\r\nC: d']);
    expect(await ask(get('/'))).toBe('');
    expect(failures[0]).toContain('The header A cannot have the value');
  });
});

describe('the end of a connection', () => {
  test.each([
    ['HTTP/1.1 with close', get('/', LAST), true],
    ['HTTP/1.1', get('/'), false],
    ['HTTP/1.0', 'GET / HTTP/1.0\r\n\r\n', true],
    ['HTTP/1.0 with keep-alive', 'GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n', false],
  ])('a client of %s has the end of its connection announced', async (_, sent, closes) => {
    const { socket, said } = client();
    socket.write(sent);
    await vi.waitFor(() => expect(said()).toContain('\r\n\r\n'));
    expect(said()).toContain(closes ? 'Connection: close\r\n' : 'Keep-Alive: timeout=65\r\n');
    await delay(20);
    expect(socket.readableEnded).toBe(closes);
    socket.destroy();
  });

  test('a client of HTTP/1.0 gets a response in parts without chunks', async () => {
    serve = (_, response) => {
      response.start(200, []);
      response.write('abc');
      response.end();
    };
    const answer = await ask('GET / HTTP/1.0\r\n\r\n');
    expect(answer).toMatch(/\r\n\r\nabc$/u);
    expect(answer).not.toContain('chunked');
  });

  test('a response ends when its client leaves, whether by a reset or by the end of its side', async () => {
    serve = (incoming, response) => {
      const entry = { url: incoming.url, body: '', isOver: false, response };
      served.push(entry);
      response.onClose(() => (entry.isOver = true));
    };
    for (const leave of ['destroy', 'end', 'resetAndDestroy'] as const) {
      const { socket } = client();
      socket.write(get(`/${leave}`));
      await vi.waitFor(() => expect(served.at(-1)?.url).toBe(`/${leave}`));
      socket[leave]();
      await vi.waitFor(() => expect(served.at(-1)?.isOver).toBe(true));
      socket.destroy();
    }
  });

  test('a connection that waits for its client to read the last response holds nothing of it', async () => {
    let held: WeakRef<object> | undefined;
    serve = (_, response) => {
      const answer = { lines: ['x'] };
      held = new WeakRef(answer);
      response.onClose(() => answer.lines.pop());
      response.send(200, []);
    };
    const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true }).resume();
    socket.write(get('/', LAST));
    await once(socket, 'end');
    await vi.waitFor(() => {
      globalThis.gc?.();
      expect(held?.deref()).toBeUndefined();
    });
    socket.end();
  });

  test('close ends unused connections at once and others after their response', async () => {
    let response: OutgoingResponse | undefined;
    serve = (incoming, given) => (incoming.url === '/wait' ? void (response = given) : echo(incoming, given));
    const [unused, busy] = [client(), client()];
    unused.socket.write(get('/'));
    busy.socket.write(get('/wait'));
    await vi.waitFor(() => expect([unused.said() !== '', response !== undefined]).toEqual([true, true]));
    const closed = server.close();
    await once(unused.socket, 'close');
    response?.send(200, [], 'late');
    await once(busy.socket, 'close');
    expect(busy.said()).toMatch(/Connection: close[^]*late$/u);
    await closed;
  });
});

describe('times', () => {
  /** The connection of a client that has sent this. */
  async function connectionAfter(
    sent: string,
  ): Promise<{ connection: ClientConnection; socket: Socket; said: () => string }> {
    const { socket, said } = client();
    socket.write(get('/first'));
    await vi.waitFor(() => expect(said()).toContain('/first'));
    const { connection } = (served.at(-1) as (typeof served)[number]).response;
    socket.write(sent);
    await delay(20);
    return { connection, socket, said };
  }

  test.each([
    ['the head', 'GET / HTTP/1.1\r\n', TIMES.headers],
    ['the body', 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nabc', TIMES.request],
  ])('a request whose %s comes too slowly is answered with 408', async (_, sent, time) => {
    const { connection, socket, said } = await connectionAfter(sent);
    connection.check(performance.now() + time - 1000);
    await delay(10);
    expect(statuses(said())).toEqual(['200']);
    connection.check(performance.now() + time);
    await once(socket, 'close');
    expect(statuses(said())).toEqual(['200', '408']);
  });

  test('an unused connection is closed after 65 s', async () => {
    const { connection, socket } = await connectionAfter('');
    connection.check(performance.now() + 64_000);
    await delay(10);
    expect(socket.readableEnded).toBe(false);
    connection.check(performance.now() + 65_000);
    await once(socket, 'close');
  });

  test('a request that is complete may take any time to be answered', async () => {
    let response: OutgoingResponse | undefined;
    const { connection, socket, said } = await connectionAfter('');
    serve = (_, given) => (response = given);
    socket.write(get('/slow'));
    await vi.waitFor(() => expect(response).toBeDefined());
    connection.check(performance.now() + LATER_MS);
    response?.send(200, [], 'done');
    await vi.waitFor(() => expect(said()).toContain('done'));
    socket.destroy();
  });
});
