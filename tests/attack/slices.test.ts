// No peer holds up the others by how much it sends at once: work is bounded per turn of the event loop.
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect } from 'vitest';
import { MOST_BYTES, MOST_ELEMENTS } from '../../packages/gateway/src/wire/turns.ts';
import { Probe, told, type Figures } from '../../scripts/attack/measure.mjs';
import {
  fixture,
  scripted,
  startWeir,
  temporaryFolder,
  textOf,
  type ServerEntry,
} from '../support/harness.ts';
import { eventually, modern, open, send, startServe, wireText, type ServeProcess } from '../support/http.ts';
import { answerText, openEvents, serveHttp, toolServer, type Handler } from '../support/remote-server.ts';
import { verifies } from '../verifies.ts';

/** A server whose tool `attack` runs `script`, and whose tool `hello` answers. */
function attacker(script: string, versions = ['2025-11-25']): ServerEntry {
  return scripted(`
    import { serve, text, tool, write } from 'stdio';
    const call = { hello: () => text('hello'), attack() { ${script} } };
    serve({ name: 'attacker', versions: ${JSON.stringify(versions)}, tools: Object.keys(call).map((name) => tool(name)), call });
  `);
}

/** Waits until all servers of a gateway have been tried. */
async function ready(url: string): Promise<void> {
  const readyz = new URL('/readyz', url).href;
  await eventually(async () => (await send(readyz, { method: 'GET' })).status === 200 || undefined);
}

/** The first server-sent event of a response, without comments. */
async function firstEvent(response: Readable): Promise<string> {
  let text = '';
  return new Promise((resolve, reject) => {
    response.once('close', () => reject(new Error(`Closed after ${text.length} bytes`)));
    response.on('data', (chunk: string) => {
      text += chunk;
      if (/data: .*\n\n/u.test(text)) resolve(text);
    });
  });
}

function print(figures: Figures): void {
  process.stdout.write(`${told(figures)}\n`);
}

/** The largest slice may end with one line that is longer than a slice, or with one that is told to many. */
function expectSmallSlices({ slices, sliceElements, sliceBytes }: Figures, longest = 64 * 1024): void {
  expect(slices).toBeGreaterThan(0);
  expect(sliceElements).toBeLessThanOrEqual(MOST_ELEMENTS + 1000);
  expect(sliceBytes).toBeLessThanOrEqual(MOST_BYTES + longest);
}

describe('one line of a server', () => {
  const BATCHES: [string, string, string][] = [
    ['empty objects', '{}', '2025-11-25'],
    ['pings', '{"jsonrpc":"2.0","id":1,"method":"ping"}', '2025-11-25'],
    ['empty objects, in the revision that knows batches', '{}', '2025-03-26'],
  ];
  for (const [what, element, version] of BATCHES)
    verifies('SAFE-4', `H2: a line of a server with 1,000,000 ${what} is refused unread`, async () => {
      await using probe = new Probe();
      const line = `write('[' + '${element},'.repeat(999_999) + '${element}]')`;
      const servers = { bad: attacker(`${line}; return text('sent')`, [version]), echo: fixture('echo') };
      await using weir = startWeir(servers, { env: probe.env });
      await weir.tools();
      await probe.begin();
      expect(textOf(await weir.callTool('bad:attack'))).toBe('sent');
      expect(textOf(await weir.callTool('echo:echo', { text: 'on' }))).toBe('on');
      const figures = await probe.end();
      print(figures);
      expectSmallSlices(figures, 64 * 1024 * 1024);
      expect(textOf(await weir.callTool('bad:hello'))).toBe('hello');
    });
});

verifies('SAFE-4', '10: 100,000 lines of stderr at once are logged in slices', async () => {
  await using probe = new Probe();
  const servers = {
    bad: attacker(`process.stderr.write('\\x1b[2J\\n'.repeat(100_000)); return text('sent')`),
    echo: fixture('echo'),
  };
  await using weir = startWeir(servers, { env: probe.env });
  await weir.tools();
  await probe.begin();
  expect(textOf(await weir.callTool('bad:attack'))).toBe('sent');
  expect(textOf(await weir.callTool('echo:echo', { text: 'on' }))).toBe('on');
  const figures = await probe.end();
  print(figures);
  expectSmallSlices(figures);
  expect(figures.sliceElements).toBe(MOST_ELEMENTS);
});

describe('a client with thousands of subscriptions', () => {
  const COUNT = 8000;
  const uris = Array.from({ length: COUNT }, (_, i) => `tape://resource/${i}`);
  const filter = { notifications: { resourceSubscriptions: uris } };

  /** The lines that the server has got of a method, and their bytes. */
  function received(folder: string, method: string): { readonly lines: number; readonly bytes: number } {
    const lines = readFileSync(join(folder, 'received'), 'utf8').split('\n');
    const own = lines.filter((line) => line.includes(`"method":"${method}"`));
    return { lines: own.length, bytes: own.join('').length };
  }

  for (const era of ['modern', 'legacy'])
    verifies(
      'SAFE-4',
      `H1: 8,000 subscriptions reach a ${era} server once each, and the gateway survives their end`,
      async () => {
        await using probe = new Probe();
        const folder = temporaryFolder();
        const tape = fixture('record-and-replay', folder, ...(era === 'modern' ? ['--modern'] : []));
        await using weir = await startServe({ tape, echo: fixture('echo') }, { env: probe.env });
        const token = { Authorization: `Bearer ${weir.token}` };
        await ready(weir.url);
        await probe.begin({ url: weir.url });
        const listen = modern('subscriptions/listen', filter);
        const stream = await open(weir.url, { ...listen, headers: { ...listen.headers, ...token } });
        expect((await firstEvent(stream)).match(/tape:/gu)).toHaveLength(COUNT);
        stream.destroy();
        await delay(300);
        const echo = modern('tools/call', { name: 'echo:echo', arguments: { text: 'on' } });
        const answer = await send(weir.url, { ...echo, headers: { ...echo.headers, ...token } });
        expect(answer.text).toContain('"on"');
        const figures = await probe.end();
        print(figures);
        expectSmallSlices(figures, 4 * 1024 * 1024);
        const listens = received(folder, 'subscriptions/listen');
        expect(listens.lines).toBeLessThanOrEqual(era === 'modern' ? 4 : 0);
        expect(listens.bytes).toBeLessThan(4 * COUNT * 30);
        // Subscriptions that end before they reach the server need no request.
        expect(received(folder, 'resources/subscribe').lines).toBeLessThanOrEqual(
          era === 'modern' ? 0 : COUNT,
        );
      },
    );
});

describe('one large message of a server', () => {
  const MESSAGES: [string, string][] = [
    ['of 32 MB in small values', `'{"jsonrpc":"2.0","id":999,"result":{"a":[' + '1,'.repeat(16e6) + '1]}}'`],
    ['of 32 MB that is not JSON', `'{"jsonrpc":"2.0","id":999,"result":{"a":[' + '1,'.repeat(16e6) + 'x]}}'`],
    ['over the size limit', `'{"jsonrpc":"2.0","id":999,"result":{"a":[' + '1,'.repeat(34e6) + '1]}}'`],
  ];
  for (const [what, text] of MESSAGES)
    verifies('SAFE-4', `H2: a server's message ${what} is read in slices`, async () => {
      await using probe = new Probe();
      const servers = { bad: attacker(`write(${text}); return text('sent')`), echo: fixture('echo') };
      await using weir = startWeir(servers, { env: probe.env });
      await weir.tools();
      await probe.begin();
      expect(textOf(await weir.callTool('bad:attack'))).toBe('sent');
      const figures = await probe.end();
      print(figures);
      expectSmallSlices(figures, 512 * 1024);
    });
});

describe('a flood of small messages', () => {
  const SHAPES: Record<string, string> = {
    'empty objects': '{}',
    pings: '{"jsonrpc":"2.0","id":1,"method":"ping"}',
    'unknown requests': '{"jsonrpc":"2.0","id":1,"method":"x/y"}',
    'unknown notifications': '{"jsonrpc":"2.0","method":"notifications/x"}',
    'log messages':
      '{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"error","data":"x"}}',
    'answers without a request': '{"jsonrpc":"2.0","id":77,"result":{}}',
  };
  for (const [what, line] of Object.entries(SHAPES))
    verifies('SAFE-4', `H2: a flood of 100,000 ${what} of a server is processed in slices`, async () => {
      await using probe = new Probe();
      const servers = {
        bad: attacker(
          `for (let i = 0; i < 100; i++) process.stdout.write(${JSON.stringify(`${line}\n`)}.repeat(1000)); return text('sent')`,
        ),
        echo: fixture('echo'),
      };
      await using weir = startWeir(servers, { env: probe.env });
      await weir.tools();
      await probe.begin();
      const sent = weir.callTool('bad:attack');
      expect(textOf(await weir.callTool('echo:echo', { text: 'on' }))).toBe('on');
      expect(textOf(await sent)).toBe('sent');
      const figures = await probe.end();
      print(figures);
      expectSmallSlices(figures);
    });

  verifies('SAFE-4', 'H2: a flood of 100,000 events of a remote server is processed in slices', async () => {
    await using probe = new Probe();
    const handler = toolServer('legacy', ({ message: { id } }, response) => {
      const events = openEvents(response);
      const event = 'data: {"jsonrpc":"2.0","method":"notifications/x"}\n\n';
      for (let i = 0; i < 100; i++) response.write(event.repeat(1000));
      events.send(answerText(id, 'sent'));
      events.end();
    });
    await using remote = await serveHttp(handler);
    await using weir = startWeir({ bad: { url: remote.url }, echo: fixture('echo') }, { env: probe.env });
    await weir.tools();
    await probe.begin();
    const sent = weir.callTool('bad:tool');
    expect(textOf(await weir.callTool('echo:echo', { text: 'on' }))).toBe('on');
    expect(textOf(await sent)).toBe('sent');
    const figures = await probe.end();
    print(figures);
    expectSmallSlices(figures);
  });
});

describe('a server that provokes requests', () => {
  verifies('SAFE-4', 'M4: a list that changes at each reading is read a few times', async () => {
    const server = scripted(`
      import { notify, serve, text, tool } from 'stdio';
      let readings = 0;
      const tools = () => {
        queueMicrotask(() => notify('notifications/tools/list_changed'));
        return [tool('readings'), tool('new' + ++readings)];
      };
      serve({ name: 'restless', capabilities: { tools: { listChanged: true } }, tools, call: { readings: () => text(readings) } });
    `);
    await using weir = startWeir({ restless: server });
    await weir.tools();
    await delay(2000);
    expect(Number(textOf(await weir.callTool('restless:readings')))).toBeLessThanOrEqual(8);
    const told = weir.messages.filter(({ method }) => method === 'notifications/tools/list_changed');
    expect(told.length).toBeLessThanOrEqual(8);
  });

  verifies('SAFE-4', 'L5: the gateway reconnects ever less often despite "retry: 0"', async () => {
    const tools = toolServer('legacy', () => undefined);
    const handler: Handler = (seen, response) => {
      if (seen.method !== 'GET') return tools(seen, response);
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      return response.end('retry: 0\nid: 1\ndata: \n\n');
    };
    await using remote = await serveHttp(handler);
    await using weir = startWeir({ restless: { url: remote.url } });
    await weir.tools();
    await delay(2000);
    expect(remote.seen.filter(({ method }) => method === 'GET').length).toBeLessThanOrEqual(12);
  });
});

describe('a connection with pipelined requests', () => {
  /** Opens a stream that lasts, sends `count` requests behind it and hangs up after a while. */
  async function pipeline(weir: ServeProcess, count: number): Promise<void> {
    const listen = modern('subscriptions/listen', { notifications: { toolsListChanged: true } });
    const headers = { ...listen.headers, Authorization: `Bearer ${weir.token}` };
    const socket = connect(Number(new URL(weir.url).port), '127.0.0.1').on('error', () => {});
    socket.resume().write(wireText(weir.url, { ...listen, headers }));
    await delay(100);
    const health = wireText(new URL('/healthz', weir.url).href, { method: 'GET' });
    socket.write(health.repeat(count));
    await delay(500);
    socket.destroy();
    await delay(200);
  }

  verifies('SAFE-4', 'M3: 40,000 requests behind a stream cost little memory', async () => {
    await using probe = new Probe();
    await using weir = await startServe({ echo: fixture('echo') }, { env: probe.env });
    await ready(weir.url);
    await probe.begin({ url: weir.url });
    await pipeline(weir, 40_000);
    const figures = await probe.end();
    print(figures);
    expect(figures.growthMb).toBeLessThan(40);
  });

  verifies('SAFE-4', 'M3: all of 500 pipelined requests get their answers', async () => {
    await using weir = await startServe({ echo: fixture('echo') });
    const health = wireText(new URL('/healthz', weir.url).href, { method: 'GET' });
    const socket = connect(Number(new URL(weir.url).port), '127.0.0.1');
    let text = '';
    socket.setEncoding('latin1').on('data', (chunk: string) => (text += chunk));
    socket.write(health.repeat(500));
    await eventually(async () => text.match(/HTTP\/1\.1 200/gu)?.length === 500 || undefined);
    socket.destroy();
  });
});
