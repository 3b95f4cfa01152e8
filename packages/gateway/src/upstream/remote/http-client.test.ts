import { once } from 'node:events';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { Deferred } from '../../time/deferred.ts';
import { Accounts } from '../../wire/account.ts';
import { createHttpClient, type HttpClient, type HttpRequest } from './http-client.ts';
import type { HttpResponse } from './http-connection.ts';
import { configuredAuth, headerLine } from './request-headers.ts';

/** A server that answers the n-th request of all as `answer` says, in raw bytes. */
async function serve(answer: (count: number, socket: Socket, request: string) => void) {
  const sockets = new Set<Socket>();
  let requests = 0;
  const server = createServer((socket) => {
    sockets.add(socket);
    let text = '';
    socket.on('error', () => {}).on('close', () => sockets.delete(socket));
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1');
      const [head = '', body] = text.split('\r\n\r\n', 2);
      const length = Number(/content-length: (\d+)/u.exec(head)?.[1] ?? 0);
      if (body === undefined || body.length < length) return;
      const request = text;
      text = '';
      answer(++requests, socket, request);
    });
  }).listen(0, '127.0.0.1');
  let connections = 0;
  server.on('connection', () => connections++);
  await once(server, 'listening');
  return {
    url: new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp?x=1`),
    sockets,
    get connections() {
      return connections;
    },
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

async function connect(
  server: { readonly url: URL },
  headers: Record<string, string> = {},
): Promise<{ client: HttpClient; ask: (request?: Partial<HttpRequest>) => Promise<Answer> }> {
  const client = await createHttpClient(server.url, {
    auth: configuredAuth(server.url, headers),
    headers: {},
    account: new Accounts(0).open(() => {}),
    onChain: () => {},
    failed: (error) => {
      throw error;
    },
  });
  return { client, ask: (request = {}) => ask(client, request) };
}

interface Answer {
  readonly status: number;
  readonly body: string;
  readonly isComplete: boolean;
}

/** Resolves with the whole answer; rejects with the reason of a failure. */
function ask(client: HttpClient, request: Partial<HttpRequest>): Promise<Answer> {
  return new Promise((resolve, reject) => {
    client.send(
      { method: 'POST', body: Buffer.from('{}'), ...request },
      { response: (response) => resolve(readAll(response)), failed: (what) => reject(new Error(what)) },
    );
  });
}

async function readAll(response: HttpResponse): Promise<Answer> {
  let body = '';
  await new Promise<void>((ended) => response.listen((part) => (body += part.toString('latin1')), ended));
  return { status: response.status, body, isComplete: response.isComplete };
}

const OK = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n';
const answerOk = (socket: Socket): boolean => socket.write(`${OK}\r\nok`);

describe('the HTTP client', () => {
  test('the HTTP client sends the head of a request, and the body byte for byte', async () => {
    let seen = '';
    await using server = await serve((_, socket, request) => {
      seen = request;
      answerOk(socket);
    });
    const { client, ask } = await connect(server, { 'x-own': 'a', 'mcp-name': 'not the entry’s', Host: 'x' });
    const body = Buffer.from('{"ä":"\u{1F600}"}');
    expect(await ask({ body, headers: () => 'accept: b\r\n' })).toEqual({
      status: 200,
      body: 'ok',
      isComplete: true,
    });
    expect(seen).toBe(
      `POST /mcp?x=1 HTTP/1.1\r\nhost: ${server.url.host}\r\nconnection: keep-alive\r\nx-own: a\r\naccept: b\r\n` +
        `content-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body.toString('latin1')}`,
    );
    const large = Buffer.alloc(1024 * 1024, 'ä');
    await ask({ body: large });
    expect(Buffer.from(seen.slice(-large.length), 'latin1').equals(large)).toBe(true);
    client.close();
  });

  test('the HTTP client sends the credentials of its URL with every request', async () => {
    const seen: string[] = [];
    await using server = await serve((_, socket, request) => {
      seen.push(request);
      answerOk(socket);
    });
    const url = new URL(server.url.href.replace('//', '//me:secret@'));
    const { client, ask } = await connect({ url });
    await ask();
    await ask({ url: new URL('/other', server.url) });
    expect(seen.map((request) => request.split(' ', 2)[1])).toEqual(['/mcp?x=1', '/other']);
    for (const request of seen) expect(request).toContain('authorization: Basic bWU6c2VjcmV0\r\n');
    client.close();
  });

  test('the HTTP client uses one connection for consecutive requests', async () => {
    await using server = await serve((_, socket) => answerOk(socket));
    const { client, ask } = await connect(server);
    for (let count = 0; count < 5; count++) expect((await ask()).body).toBe('ok');
    expect(server.connections).toBe(1);
    await Promise.all([ask(), ask(), ask()]);
    expect(server.connections).toBe(3);
    client.close();
  });

  test.each([
    ['announces that it closes', 'HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 2\r\n\r\nok'],
    ['speaks HTTP/1.0', 'HTTP/1.0 200 OK\r\ncontent-length: 2\r\n\r\nok'],
    ['sends more than its answer', `${OK}\r\nok${OK}\r\nno`],
    ['closes unused connections within a second', `${OK}keep-alive: timeout=1\r\n\r\nok`],
  ])('the HTTP client does not reuse a connection whose server %s', async (_, bytes) => {
    await using server = await serve((count, socket) =>
      count === 1 ? socket.write(bytes) : answerOk(socket),
    );
    const { client, ask } = await connect(server);
    expect((await ask()).body).toBe('ok');
    await sleep(20);
    expect(server.sockets.size).toBe(0);
    expect((await ask()).body).toBe('ok');
    expect(server.connections).toBe(2);
    client.close();
  });

  test('the HTTP client closes a connection that sends bytes without a request', async () => {
    await using server = await serve((_, socket) => answerOk(socket));
    const { client, ask } = await connect(server);
    await ask();
    for (const socket of server.sockets) socket.write(`${OK}\r\nno`);
    await sleep(20);
    expect(server.sockets.size).toBe(0);
    expect((await ask()).body).toBe('ok');
    client.close();
  });

  test('the HTTP client ends a body without a length at the end of its connection', async () => {
    await using server = await serve((count, socket) => {
      socket.write('HTTP/1.1 200 OK\r\n\r\nall of it');
      if (count === 1) socket.end();
      else setTimeout(() => client.close(), 20);
    });
    const { client, ask } = await connect(server);
    expect(await ask()).toMatchObject({ body: 'all of it', isComplete: true });
    expect(await ask()).toMatchObject({ isComplete: false });
    client.close();
  });

  test('the HTTP client does not reuse a connection whose server answers before it has read the request', async () => {
    await using server = await serve((_, socket) => answerOk(socket));
    const { client, ask } = await connect(server);
    await ask();
    for (const socket of server.sockets) {
      socket.pause();
      setTimeout(() => answerOk(socket), 20);
    }
    expect((await ask({ body: Buffer.alloc(32 * 1024 * 1024) })).body).toBe('ok');
    expect((await ask()).body).toBe('ok');
    expect(server.connections).toBe(2);
    client.close();
  });

  test('the HTTP client keeps a connection open when a finished request is aborted', async () => {
    await using server = await serve((count, socket) =>
      setTimeout(() => answerOk(socket), count === 2 ? 50 : 0),
    );
    const { client, ask } = await connect(server);
    const first = await new Promise<{ abort(): void }>((resolve) => {
      const sending = client.send(
        { method: 'GET' },
        { response: (response) => response.onClose(() => resolve(sending)), failed: () => {} },
      );
    });
    const second = ask();
    first.abort();
    expect((await second).body).toBe('ok');
    expect(server.connections).toBe(1);
    client.close();
  });

  test('the HTTP client stops reading a body while it is paused', async () => {
    await using server = await serve((_, socket) => {
      socket.write(`HTTP/1.1 200 OK\r\ncontent-length: ${64 * 1024 * 1024}\r\n\r\n`);
      socket.write(Buffer.alloc(64 * 1024 * 1024));
    });
    const { client } = await connect(server);
    let bytes = 0;
    const ended = new Deferred<void>();
    const response = await new Promise<HttpResponse>((resolve, reject) => {
      const started = (response: HttpResponse): void => {
        response.listen(
          (part) => (bytes += part.length),
          () => ended.resolve(),
        );
        response.pause();
        resolve(response);
      };
      client.send({ method: 'GET' }, { response: started, failed: reject });
    });
    await sleep(50);
    expect(bytes).toBeLessThan(1024 * 1024);
    response.resume();
    await ended.promise;
    expect(response.isComplete).toBe(true);
    expect(bytes).toBe(64 * 1024 * 1024);
    client.close();
  });

  test('the HTTP client names a header that cannot be sent without showing its value', async () => {
    await using server = await serve((_, socket) => answerOk(socket));
    for (const headers of [{ 'x-key': 'secret\r\nx-forged: 1' }, { 'x-key': 'secret ✓' }] as const)
      await expect((await connect(server, headers)).ask()).rejects.toThrow(
        /^cannot be called: the header x-key holds a character that cannot be sent; check "headers" in its entry$/u,
      );
    await expect((await connect(server, { 'x key': 'secret' })).ask()).rejects.toThrow(
      'cannot be called: "x key" is not a valid header name; check "headers" in its entry',
    );
    expect(server.connections).toBe(0);
  });

  test('the HTTP client has at most 256 requests of a kind in flight and queues the others', async () => {
    const waiting: Socket[] = [];
    await using server = await serve((_, socket) => waiting.push(socket));
    const { client, ask } = await connect(server);
    const answers = Array.from({ length: 300 }, () => ask());
    const refused = ask({ headers: () => headerLine('x-a', '\n') });
    refused.catch(() => {});
    const last = ask();
    const aside = ask({ isAside: true });
    while (waiting.length < 257) await sleep(5);
    await sleep(20);
    expect(waiting.length).toBe(257);
    let isOver = false;
    const all = Promise.all([...answers, last, aside]).finally(() => (isOver = true));
    while (!isOver) {
      for (const socket of waiting.splice(0)) answerOk(socket);
      await sleep(5);
    }
    expect((await all).every(({ body }) => body === 'ok')).toBe(true);
    await expect(refused).rejects.toThrow('the header x-a');
    expect(server.connections).toBe(257);
    client.close();
  });
});
