// Many requests at once, of many connections: each turn of the event loop works on a few.
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import { Agent } from 'node:http';
import { connect, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, onTestFinished, vi } from 'vitest';
import { OutgoingResponse } from '../../packages/gateway/src/front/http/server/outgoing-response.ts';
import { fixture } from '../support/harness.ts';
import { modern, send, serveTest, wireText } from '../support/http.ts';
import { verifies } from '../verifies.ts';

const CONNECTIONS = 50;
const REQUESTS = 100;

/** Counts what a channel tells of between two turns, until it is stopped; returns the most, and all. */
function countPerTurn(
  channel: string,
  counts: (message: unknown) => boolean,
): () => { most: number; all: number } {
  let [most, all, inTurn] = [0, 0, 0];
  const note = (message: unknown): void => {
    if (!counts(message)) return;
    // An immediate in every turn would keep the event loop from ever being idle, which is what floods wait for.
    if (inTurn === 0) setImmediate(() => (inTurn = 0));
    all++;
    most = Math.max(most, ++inTurn);
  };
  subscribe(channel, note);
  return () => {
    unsubscribe(channel, note);
    return { most, all };
  };
}

/** The head or the body of a request is one slice. */
function isRequest(slice: unknown): boolean {
  return (slice as { what: string }).what === 'request';
}

/** Counts the bytes that are read from connections in a millisecond or a longer turn, until it is stopped; returns the most. */
function countBytes(): () => number {
  const sockets: Socket[] = [];
  const note = (message: unknown): void => void sockets.push((message as { socket: Socket }).socket);
  let [most, before] = [0, 0];
  const timer = setInterval(() => {
    const all = sockets.reduce((sum, { bytesRead }) => sum + bytesRead, 0);
    most = Math.max(most, all - before);
    before = all;
  }, 1);
  subscribe('net.server.socket', note);
  return () => {
    unsubscribe('net.server.socket', note);
    clearInterval(timer);
    return most;
  };
}

verifies(
  ['SAFE-4', 'AGG-CALL-1'],
  'M5: bodies of 3 MB on 20 connections are read in many turns, with all answers',
  async () => {
    await using weir = await serveTest({ echo: fixture('echo') });
    const stop = countBytes();
    const call = modern('tools/call', { name: 'nobody', arguments: { text: 'x'.repeat(3e6) } });
    const answers = await Promise.all(Array.from({ length: 20 }, () => send(weir.url, call)));
    for (const { text } of answers) expect(text).toContain('nobody');
    // Of each connection two chunks of 64 KiB are read before it is paused; 30 MB were read in a turn without that.
    expect(stop()).toBeLessThan(20 * 3 * 64 * 1024);
  },
);

verifies(
  'SAFE-4',
  'M3: a connection that closes under 500 requests does not change stack traces',
  async () => {
    await using weir = await serveTest({ echo: fixture('echo') });
    const { hostname, port } = new URL(weir.url);
    const socket = connect(Number(port), hostname).on('error', () => {});
    const stream = wireText(weir.url, modern('subscriptions/listen', { notifications: {} }));
    socket.write(stream + wireText(weir.url, { method: 'GET' }).repeat(500));
    await once(socket, 'data');
    socket.destroy();
    await send(weir.url, modern('tools/list'));
    expect(Error.stackTraceLimit).toBeGreaterThan(0);
    expect(new Error('here').stack).toContain('turns.test');
  },
);

verifies(
  ['SAFE-4', 'AGG-CALL-1'],
  'M3: 5,000 pipelined requests are processed in many turns, with all answers',
  async () => {
    await using weir = await serveTest({ echo: fixture('echo') });
    const { hostname, port } = new URL(weir.url);
    const request = wireText(weir.url, modern('tools/list'));
    const sockets = await Promise.all(
      Array.from({ length: CONNECTIONS }, async () => {
        const socket = connect(Number(port), hostname).setEncoding('latin1');
        // The first answer shows that the connection is accepted, so that all are read in one turn later.
        socket.write(request);
        await once(socket, 'data');
        return socket;
      }),
    );
    const stop = countPerTurn('weir:slice', isRequest);
    const answered = sockets.map(async (socket) => {
      let text = '';
      socket.on('data', (chunk: string) => (text += chunk));
      socket.write(request.repeat(REQUESTS - 1) + request.replace('\r\n', '\r\nConnection: close\r\n'));
      await once(socket, 'end');
      return text.split('HTTP/1.1 200 OK').length - 1;
    });
    expect(new Set(await Promise.all(answered))).toEqual(new Set([REQUESTS]));
    const { most, all } = stop();
    // Head and body of a request are a slice each.
    expect(all).toBe(2 * CONNECTIONS * REQUESTS);
    expect(most).toBeLessThanOrEqual(128);
  },
);

/** Sends `count` requests on one connection, all at once; resolves with the ids of the answers in their order. */
async function pipeline(url: string, count: number): Promise<number[]> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname).setEncoding('latin1');
  const requests = Array.from({ length: count }, (_, id) => wireText(url, modern('tools/list', {}, { id })));
  const last = requests.pop() ?? '';
  socket.write(requests.join('') + last.replace('\r\n', '\r\nConnection: close\r\n'));
  let text = '';
  socket.on('data', (chunk: string) => (text += chunk));
  await once(socket, 'end');
  return [...text.matchAll(/"id":(\d+),"result"/gu)].map(([, id]) => Number(id));
}

/** Asks for /healthz again and again on one connection, until it is stopped. */
function keepAsking(url: string): () => Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  let isStopped = false;
  const asking = (async () => {
    const health = new URL('/healthz', url).href;
    while (!isStopped) {
      expect((await send(health, { method: 'GET', agent })).status).toBe(200);
      await delay(5);
    }
    agent.destroy();
  })();
  return () => {
    isStopped = true;
    return asking;
  };
}

/** Returns how many answers to POSTs have been written since this was called. */
function countAnswers(): () => number {
  const sent = vi.spyOn(OutgoingResponse.prototype, 'send');
  onTestFinished(() => sent.mockRestore());
  return () =>
    sent.mock.contexts.filter((response) => (response as OutgoingResponse).request.method === 'POST').length;
}

describe('connections that are opened after a flood of requests', () => {
  const COUNT = 100;
  const inOrder = Array.from({ length: COUNT }, (_, i) => i);

  verifies(
    ['SAFE-4', 'AGG-CALL-1'],
    'M3: connections after a flood carry large bodies and answers',
    async () => {
      await using weir = await serveTest({ echo: fixture('echo') });
      await pipeline(weir.url, COUNT);
      const text = 'x'.repeat(3e6);
      const call = modern('tools/call', { name: 'echo__echo', arguments: { text } });
      const agent = new Agent({ keepAlive: true, maxSockets: 1 });
      for (let i = 0; i < 3; i++) {
        const { json } = await send(weir.url, { ...call, agent });
        expect(json.result?.['content']).toEqual([{ type: 'text', text }]);
      }
      agent.destroy();
    },
  );

  verifies(
    ['SAFE-4', 'AGG-CALL-1'],
    'M3: a connection after a flood gets its first answer at once',
    async () => {
      await using weir = await serveTest({ echo: fixture('echo') });
      await pipeline(weir.url, COUNT);
      // Floods rest only while there are clients that do not flood.
      const stopAsking = keepAsking(weir.url);
      const counted = countAnswers();
      const floods = Array.from({ length: CONNECTIONS }, () => pipeline(weir.url, COUNT));
      await vi.waitFor(() => expect(counted()).toBeGreaterThan(CONNECTIONS), {
        interval: 1,
        timeout: 10_000,
      });
      const before = counted();
      const { status } = await send(weir.url, modern('tools/list'));
      const meanwhile = counted() - before;
      expect(status).toBe(200);
      expect(meanwhile).toBeLessThan(10);
      expect(await Promise.all(floods)).toEqual(floods.map(() => inOrder));
      await stopAsking();
    },
  );

  verifies('SAFE-4', 'M3: connections after a flood end with their client', async () => {
    await using weir = await serveTest({ echo: fixture('echo') });
    await pipeline(weir.url, COUNT);
    const { hostname, port } = new URL(weir.url);
    const stream = wireText(weir.url, modern('subscriptions/listen', { notifications: {} }));
    const socket = connect(Number(port), hostname).on('error', () => {});
    socket.write(stream);
    await once(socket, 'data');
    expect(weir.front.load.underWay).toBe(1);
    socket.destroy();
    await vi.waitFor(() => expect(weir.front.load.underWay).toBe(0));
  });
});
