// Volume: the bytes held for a hostile peer are bounded, and only a peer above the bound is ended.
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, onTestFinished } from 'vitest';
import { GROWTH_MB, Probe, told } from '../../scripts/attack/measure.mjs';
import {
  fixture,
  GONE_WITHIN_MS,
  isSettledWithin,
  runOver,
  runWeir,
  scripted,
  startWeir,
  temporaryFolder,
  textOf,
  type Config,
  type Json,
  type Weir,
} from '../support/harness.ts';
import { eventually, modern, startServe, wireText, type Sent, type ServeProcess } from '../support/http.ts';
import { openEvents, serveHttp, toolServer, type Handler } from '../support/remote-server.ts';
import { verifies } from '../verifies.ts';

const MB = 1024 * 1024;
/** As bytes: the largest message and 16 MiB. */
const CEILING = 80 * MB;

const hostile = verifies.skipIf(process.platform === 'linux' ? undefined : 'reads memory from /proc');

interface Attacked {
  readonly weir: Weir;
  /** Ends the measurement and checks that memory stayed within the bound. */
  measured(): Promise<void>;
}

/** Starts the command on stdio over hostile servers and an honest one, and measures it from now on. */
async function attack(
  config: Parameters<typeof startWeir>[0],
  args: readonly string[] = [],
): Promise<Attacked> {
  const probe = new Probe();
  const weir = startWeir(
    { ...(config as object), honest: fixture('echo') },
    { env: probe.env, args: ['--keep-going', ...args] },
  );
  onTestFinished(async () => {
    await weir[Symbol.asyncDispose]();
    await probe[Symbol.asyncDispose]();
  });
  await weir.tools();
  await probe.begin();
  return { weir, measured: () => check(probe) };
}

async function check(probe: Probe): Promise<void> {
  const figures = await probe.end();
  process.stdout.write(`${told(figures)}\n`);
  expect(figures.growthMb).toBeLessThan(GROWTH_MB);
}

async function isHonest(weir: Weir): Promise<void> {
  expect(textOf(await weir.callTool('honest:echo', { text: 'still here' }))).toBe('still here');
}

/** Waits for a line of the log. */
async function logged(weir: { readonly stderr: string }, text: string): Promise<void> {
  await eventually(() => Promise.resolve(weir.stderr.includes(text) || undefined));
}

/** Calls a tool of a hostile server, which answers when it likes. */
function provoke(weir: Weir, name: string): void {
  weir.send({ id: 'provoked', method: 'tools/call', params: { name } });
}

/** Up to 32 MiB of answers to a server's own requests are held beside the largest message. */
const LEFT = `it left more than ${32 * MB} bytes unread`;

describe('a server that makes the gateway answer and does not read', () => {
  /** Writes a flood of requests once it is called, and reads nothing from then on; `limit` in MB. */
  const flooding = (request: string): ReturnType<typeof scripted> =>
    scripted(`
      import { serve, text, tool } from 'stdio';
      serve({ name: 'flood', tools: [tool('flood'), tool('echo')], call: {
        echo: () => text('restarted'),
        flood: async () => {
          process.stdin.pause();
          const id = 'x'.repeat(4000);
          for (let i = 0; i < 100_000; i++) {
            const line = JSON.stringify({ jsonrpc: '2.0', id: i + id, ${request} });
            if (!process.stdout.write(line + '\\n')) await new Promise((go) => process.stdout.once('drain', go));
          }
        },
      } });
    `);

  for (const [what, request] of [
    ['pings', "method: 'ping'"],
    ['questions that are refused', "method: 'sampling/createMessage'"],
  ] as const)
    hostile(
      ['SAFE-4', 'SAFE-1'],
      `H3: a server on stdio that floods ${what} and does not read is ended with a reason and restarted`,
      async () => {
        const { weir, measured } = await attack({ s: flooding(request) });
        provoke(weir, 's:flood');
        await logged(weir, LEFT);
        await isHonest(weir);
        const { error } = await weir.answer('provoked');
        expect(error?.message).toContain("Server 's' left more than");
        await eventually(async () => {
          const answer = await weir.callTool('s:echo');
          return answer.error === undefined || undefined;
        });
        await measured();
      },
    );

  /** Requests that go out as events as fast as the gateway reads them. */
  function flood(response: Parameters<Handler>[1], count: number): void {
    const events = openEvents(response);
    const line = (id: number): string => JSON.stringify({ jsonrpc: '2.0', id, method: 'ping' });
    for (let id = 0; id < count; id++) events.send(line(id));
  }

  hostile(
    ['SAFE-4', 'SAFE-1'],
    'H3: a Streamable HTTP server that floods pings and accepts no answer is ended with a reason',
    async () => {
      const listed = toolServer('legacy', (_, response) => flood(response, 200_000));
      await using server = await serveHttp((seen, response) => {
        // Answers to pings are left hanging.
        if (seen.method === 'POST' && seen.message.method === undefined) return;
        listed(seen, response);
      });
      const { weir, measured } = await attack({ s: { url: server.url } });
      provoke(weir, 's:tool');
      await logged(weir, LEFT);
      await isHonest(weir);
      await measured();
    },
  );

  hostile(
    ['SAFE-4', 'SAFE-1'],
    'H3: an HTTP+SSE server that floods pings and accepts no answer is ended with a reason',
    async () => {
      const listed = toolServer('legacy', () => {});
      let events: ReturnType<typeof openEvents> | undefined;
      await using server = await serveHttp((seen, response) => {
        if (seen.method === 'GET') {
          events = openEvents(response);
          response.write('event: endpoint\ndata: /post\n\n');
          return;
        }
        const { id, method } = seen.message;
        if (method === undefined) return;
        response.writeHead(202).end();
        if (method === 'tools/call') {
          for (let ping = 0; ping < 200_000; ping++)
            events?.send({ jsonrpc: '2.0', id: `p${ping}`, method: 'ping' });
          return;
        }
        // The answer of a server on Streamable HTTP, told on the stream.
        const told = { writeHead: () => told, end: (text?: string) => void (text && events?.send(text)) };
        if (id !== undefined)
          listed({ ...seen, method: 'POST', headers: {} }, told as unknown as typeof response);
      });
      const { weir, measured } = await attack({ s: { sseConfig: { url: server.url } } });
      provoke(weir, 's:tool');
      await logged(weir, LEFT);
      await isHonest(weir);
      await measured();
    },
  );
});

describe('a server with endless lists', () => {
  const LISTS =
    'it lists more than 33554432 bytes; to allow more, raise "listBytes" under "limits" in the config';
  /** Answers each list with a page of 4 MB and a new cursor, `from` the start or from the first call on. */
  const endless = (from: 'start' | 'call'): ReturnType<typeof scripted> =>
    scripted(`
      import { notify, reply, serve, text, tool } from 'stdio';
      let isEndless = ${from === 'start'};
      let page = 0;
      serve({ name: 'endless', capabilities: { tools: { listChanged: true } }, call: {
        change: () => {
          isEndless = true;
          notify('notifications/tools/list_changed');
          return text('changed');
        },
      }, on: { 'tools/list': () => isEndless
        ? { tools: [tool('t' + ++page, { description: 'x'.repeat(4_000_000) })], nextCursor: 'c' + page }
        : { tools: [tool('change')] } } });
    `);

  hostile(
    ['SAFE-4', 'SAFE-1'],
    'H4: a server whose changed list is endless is ended with a reason',
    async () => {
      const { weir, measured } = await attack({ s: endless('call') });
      expect(textOf(await weir.callTool('s:change'))).toBe('changed');
      await logged(weir, LISTS);
      await isHonest(weir);
      expect(await weir.tools()).not.toContain('s:t1');
      await measured();
    },
  );

  hostile(
    ['SAFE-4', 'SAFE-1'],
    'H4: a server whose first list is endless fails to start, with a reason',
    async () => {
      const { weir, measured } = await attack({ s: endless('start') });
      await logged(weir, LISTS.replace('it ', ''));
      await isHonest(weir);
      await measured();
    },
  );
});

describe('clients that ask and do not read', () => {
  async function serve(config: Config = {}): Promise<{ http: ServeProcess; probe: Probe }> {
    const probe = new Probe();
    const http = await startServe({ honest: fixture('echo'), ...(config as object) }, { env: probe.env });
    onTestFinished(async () => {
      await http[Symbol.asyncDispose]();
      await probe[Symbol.asyncDispose]();
    });
    await probe.begin({ url: http.url });
    return { http, probe };
  }

  async function connected(url: string): Promise<Socket> {
    const { port, hostname } = new URL(url);
    const socket = connect({ port: Number(port), host: hostname });
    socket.on('error', () => {});
    await once(socket, 'connect');
    return socket.pause();
  }

  /** Asks on so many connections, two requests each because the system takes most of the first answer, and reads nothing. */
  async function askUnread(
    http: ServeProcess,
    connections: number,
    { headers = {}, body = '' }: Sent,
  ): Promise<void> {
    const sent = { headers: { ...headers, Authorization: `Bearer ${http.token}` }, body };
    const text = wireText(http.url, sent).repeat(2);
    for (let i = 0; i < connections; i++) {
      const socket = await connected(http.url);
      onTestFinished(() => void socket.destroy());
      socket.write(text);
      await delay(10);
    }
  }

  for (const [what, long] of [
    ['a URI', { params: { uri: 'x'.repeat(4_000_000) } }],
    ['an id', { id: 'x'.repeat(4_000_000) }],
  ] as const)
    hostile(
      ['SAFE-4', 'SAFE-1'],
      `M5: 100 connections that do not read errors about ${what} of 4 MB cost little memory`,
      async () => {
        const { http, probe } = await serve();
        const { headers = {}, body } = modern('resources/read', { uri: 'x' });
        const message = JSON.parse(String(body)) as { params: Json };
        const params = { ...message.params, ...('params' in long ? long.params : {}) };
        await askUnread(http, 100, { headers, body: JSON.stringify({ ...message, ...long, params }) });
        await delay(500);
        await check(probe);
      },
    );

  hostile(
    ['SAFE-4', 'SAFE-1'],
    'M5: the gateway closes connections that do not read answers of 8 MB above the limit of all peers',
    async () => {
      const { http, probe } = await serve({ big: fixture('big-results') });
      await askUnread(http, 60, modern('tools/call', { name: 'big__big', arguments: { bytes: 8 * MB } }));
      await logged(http, 'Disconnected a client: it was behind for longest when Weir held more than');
      await check(probe);
    },
  );

  /** Reads nothing once it was called. */
  const deaf = scripted(`
    import { serve, text, tool } from 'stdio';
    serve({ name: 'deaf', tools: [tool('stop')], capabilities: { tools: {}, resources: { subscribe: true } },
      call: { stop: () => (setInterval(() => {}, 60_000), process.stdin.pause(), text('stopped')) },
      on: { 'resources/list': () => ({ resources: [] }), 'resources/templates/list': () => ({ resourceTemplates: [{ uriTemplate: 'x:{+y}', name: 'x' }] }) } });
  `);

  for (const [what, message] of [
    ['notifications', { method: 'notifications/roots/list_changed', params: { x: 'x'.repeat(MB) } }],
    ['subscriptions', { method: 'resources/subscribe', params: { uri: `x:${'x'.repeat(MB)}` } }],
  ] as const)
    hostile(
      ['SAFE-4', 'SAFE-1'],
      `M7: 300 MB of ${what} for a server that does not read cost little memory and end no server`,
      async () => {
        const { weir, measured } = await attack({ deaf });
        expect(textOf(await weir.callTool('deaf:stop'))).toBe('stopped');
        for (let i = 0; i < 300; i++) {
          const line = JSON.stringify({
            jsonrpc: '2.0',
            ...('uri' in message.params ? { id: `s${i}` } : {}),
            ...message,
          });
          if (!weir.stdin.write(line.replace('x:x', `x:${i}`) + '\n')) await once(weir.stdin, 'drain');
        }
        await isHonest(weir);
        expect(weir.stderr).not.toContain('lost');
        await measured();
      },
    );

  hostile(['SAFE-4', 'SAFE-1'], 'M7: a client with 300,000 requests in flight is disconnected', async () => {
    const { weir } = await attack({
      silent: scripted(`
      import { serve, tool } from 'stdio';
      serve({ name: 'silent', tools: [tool('wait')], call: { wait: () => undefined } });
    `),
    });
    const ended = weir.ended;
    let text = '';
    for (let id = 0; id < 1000; id++)
      text += `{"jsonrpc":"2.0","id":${id},"method":"tools/call","params":{"name":"silent:wait"}}\n`;
    for (let i = 0; i < 300 && weir.stdin.writable; i++)
      if (!weir.stdin.write(text)) await Promise.race([once(weir.stdin, 'drain').catch(() => {}), ended]);
    await logged(weir, `Disconnected a client: it left more than ${CEILING} bytes`);
  });

  hostile(
    ['SAFE-4', 'SAFE-1'],
    'M7: the gateway stops reading a client on stdio that does not read, until it does',
    async () => {
      // With two servers an unknown method is the gateway's to refuse.
      const { weir, measured } = await attack({ other: fixture('echo') });
      const { stdin, stdout } = weir;
      stdout.pause();
      stdout.removeAllListeners('data');
      const COUNT = 400_000;
      let sent = 0;
      const ask = async (): Promise<void> => {
        while (sent < COUNT) {
          let text = '';
          for (const until = sent + 1000; sent < until; sent++)
            text += `{"jsonrpc":"2.0","id":${sent},"method":"no/such"}\n`;
          if (!stdin.write(text)) await once(stdin, 'drain');
        }
      };
      const asked = ask();
      // The flood goes on as long as the gateway reads.
      for (let before = -1; before !== sent;) {
        before = sent;
        await delay(500);
      }
      expect(sent).toBeLessThan(COUNT);
      let lines = 0;
      const read = new Promise<void>((resolve) => {
        stdout.on('data', (chunk: Buffer) => {
          for (let at = chunk.indexOf(10); at >= 0; at = chunk.indexOf(10, at + 1)) lines++;
          if (lines === COUNT) resolve();
        });
      });
      stdout.resume();
      await asked;
      await read;
      await measured();
    },
  );

  hostile(
    ['SAFE-4', 'SAFE-1'],
    'M7: the end of input ends the gateway, also while it does not read its client',
    async () => {
      const { weir } = await attack({ other: fixture('echo') });
      weir.stdout.pause();
      weir.stdout.removeAllListeners('data');
      let text = '';
      // Answers of more than 8 MiB, and behind them less than is read on.
      for (let id = 0; id < 100_000; id++) text += `{"jsonrpc":"2.0","id":${id},"method":"no/such"}\n`;
      weir.end(text);
      await delay(500);
      weir.stdout.resume();
      expect(await isSettledWithin(GONE_WITHIN_MS, weir.ended)).toBe(true);
    },
  );
});

describe('limits in the config', () => {
  verifies(
    ['SAFE-4', 'SAFE-1'],
    'H4: "listBytes" limits lists, and weir ps says why a server was ended',
    async () => {
      const folder = temporaryFolder();
      const env = { XDG_RUNTIME_DIR: join(folder, 'run') };
      mkdirSync(env.XDG_RUNTIME_DIR);
      const large = scripted(`
      import { serve, tool } from 'stdio';
      serve({ name: 'large', tools: [tool('large', { description: 'x'.repeat(1_100_000) })] });
    `);
      const config = { mcpServers: { large, honest: fixture('echo') }, limits: { listBytes: 1_048_576 } };
      await using weir = startWeir(JSON.stringify(config), { folder, env, args: ['--keep-going'] });
      await isHonest(weir);
      const reason =
        'lists more than 1048576 bytes; to allow more, raise "listBytes" under "limits" in the config';
      await logged(weir, reason);
      await eventually(async () => {
        const { stdout } = await runWeir(['ps', '--json', '--state', join(folder, 'state')], { folder, env });
        return stdout.includes(JSON.stringify(reason).slice(1, -1)) || undefined;
      });
    },
  );

  verifies('SAFE-1', 'a limit that is too small is an error of the config', async () => {
    const config = JSON.stringify({ mcpServers: {}, limits: { peerBytes: 1000 } });
    const { code, stderr } = await runOver(config);
    expect(code).not.toBe(0);
    expect(stderr).toContain('peerBytes must be a whole number of bytes from 1048576 on');
  });
});
