// The time at which servers start, the client info that they get, and the first answers to clients.
import { availableParallelism } from 'node:os';
import { describe, expect } from 'vitest';
import {
  fixture,
  modernMeta,
  runOver,
  startWeir,
  VERSION,
  textOf,
  type Json,
  type Received,
  type ServerEntry,
  type Weir,
} from '../../support/harness.ts';
import { serveInProcess } from '../../support/in-process.ts';
import { verifies } from '../../verifies.ts';

const mute: ServerEntry = fixture('silent');
const gone: ServerEntry = { command: 'no-such-program' };

async function elapsed(work: Promise<unknown>): Promise<number> {
  const began = performance.now();
  await work;
  return performance.now() - began;
}

/** The time of the first line of the log that matches, in milliseconds. */
function timeOf(weir: Weir, line: RegExp): number {
  const time = weir.stderr
    .split('\n')
    .find((text) => line.test(text))
    ?.split(' ')[0];
  return Date.parse(time ?? '');
}

function listed({ result }: Received): string[] {
  return ((result?.['tools'] ?? []) as { name: string }[]).map(({ name }) => name);
}

describe.concurrent('the first list', () => {
  verifies(
    'AGG-REG-3',
    'the first list waits for every server, and is in the order of the config',
    async () => {
      const config = { slow: fixture('slow-start', '700'), quick: fixture('revision-2024-11-05') };
      await using weir = startWeir(config, { args: ['--debug'] });
      expect(await weir.tools()).toEqual(['slow:echo', 'quick:echo']);
      expect(timeOf(weir, /\[quick\] ready/u)).toBeLessThan(timeOf(weir, /\[slow\] ready/u));
    },
  );

  verifies('AGG-REG-3', 'a first call waits for its server to start', async () => {
    await using weir = startWeir({ slow: fixture('slow-start', '700') });
    await weir.initialize();
    expect(textOf(await weir.callTool('slow:echo', { text: 'waited' }))).toBe('waited');
  });

  verifies('AGG-REG-3', 'the first list has the same bytes, whichever server is ready first', async () => {
    const bytes = async (...delays: string[]): Promise<string | undefined> => {
      const servers = delays.map((delay, index) => [`server${index}`, fixture('slow-start', delay)]);
      await using weir = startWeir(Object.fromEntries(servers) as Record<string, ServerEntry>);
      await weir.tools();
      return weir.lines.find((line) => line.includes('server0:echo'));
    };
    const first = await bytes('0', '300', '600');
    expect(first).toContain('server2:echo');
    expect(await bytes('600', '0', '300')).toBe(first);
  });
});

describe.concurrent('handshakes during the start', () => {
  verifies(['AGG-REG-3', 'ERA-4'], 'the gateway answers handshakes at once while servers hang', async () => {
    await using weir = startWeir({ mute: { ...mute, startupTimeout: 60_000 } });
    const discovered = await weir.request('server/discover', modernMeta());
    expect(discovered.result).toMatchObject({ supportedVersions: ['2026-07-28'], resultType: 'complete' });
    const { result } = await weir.initialize();
    const listChanged = true;
    expect(result?.['capabilities']).toEqual({
      tools: { listChanged },
      resources: { listChanged, subscribe: true },
      prompts: { listChanged },
      completions: {},
      logging: {},
      // The gateway does not know yet if a server has tasks, and cannot add them later.
      tasks: { list: {}, cancel: {}, requests: { tools: { call: {} } } },
    });
    expect((await weir.request('ping')).result).toEqual({});
    weir.kill('SIGTERM');
    await weir.ended;
  });
});

describe.concurrent('--keep-going', () => {
  const keepGoing = { args: ['--keep-going', '--debug'] };

  verifies.slow(
    ['AGG-CHILD-3', 'AGG-REG-3'],
    '--keep-going serves the other servers when one never answers and one does not exist',
    async () => {
      await using weir = startWeir(
        { mute, gone, echo: fixture('echo'), old: fixture('revision-2024-11-05') },
        keepGoing,
      );
      await weir.initialize();
      const list = await weir.request('tools/list');
      const waited = Date.now() - Math.max(timeOf(weir, /\[echo\] ready/u), timeOf(weir, /\[old\] ready/u));
      expect(listed(list)).toEqual(expect.arrayContaining(['echo:echo', 'old:echo']));
      expect(listed(list)).toHaveLength(9);
      // One second after the last one became ready; the server that never answers has five.
      expect(waited).toBeGreaterThan(900);
      expect(waited).toBeLessThan(2500);
      expect(textOf(await weir.callTool('old:echo', { text: 'on we go' }))).toBe('on we go');
      await weir.says(/error Failed to spawn server 'gone': command not found: "no-such-program"/u);
      await weir.says(
        /error Server 'mute' failed during initialization: it did not answer the handshake within 5 s/u,
      );
      expect(await weir.close()).toMatchObject({ code: 0 });
    },
  );

  verifies(
    'AGG-REG-3',
    'the first list comes at once where every server is ready or has failed',
    async () => {
      await using weir = startWeir({ gone, echo: fixture('revision-2024-11-05') }, keepGoing);
      await weir.initialize();
      expect(listed(await weir.request('tools/list'))).toEqual(['echo:echo']);
      expect(Date.now() - timeOf(weir, /\[echo\] ready/u)).toBeLessThan(900);
    },
  );

  verifies.slow(
    'AGG-REG-3',
    '--keep-going announces late servers and lists them in config order',
    async () => {
      await using weir = startWeir(
        { late: fixture('slow-start', '2500'), echo: fixture('revision-2024-11-05') },
        keepGoing,
      );
      await weir.initialize();
      expect(listed(await weir.request('tools/list'))).toEqual(['echo:echo']);
      await weir.call('notifications/tools/list_changed');
      expect(listed(await weir.request('tools/list'))).toEqual(['late:echo', 'echo:echo']);
      expect(textOf(await weir.callTool('late:echo', { text: 'here' }))).toBe('here');
      const news = weir.messages.flatMap(({ method }) => method ?? []);
      expect(news).toEqual(['notifications/tools/list_changed']);
    },
  );

  verifies('AGG-CHILD-3', '--keep-going runs without any server, and logs why', async () => {
    await using weir = startWeir({ gone }, keepGoing);
    expect(await weir.tools()).toEqual([]);
    expect((await weir.callTool('gone:x')).error).toEqual({
      code: -32602,
      message: expect.stringContaining(
        "Tool not found: gone:x (its server 'gone' is not running; it is",
      ) as string,
    });
    await weir.says("Failed to spawn server 'gone'");
  });
});

describe.concurrent('the start of servers', () => {
  const debug = { args: ['--debug'] };
  const started = /\[\w+\] started as process/u;

  verifies('AGG-REG-3', 'servers start soon after the gateway, without any message of a client', async () => {
    await using weir = startWeir({ echo: fixture('echo') }, debug);
    await weir.says(started);
    expect(weir.lines).toEqual([]);
  });

  verifies(['AGG-REG-3', 'ERA-4'], 'servers start a second after a lone server/discover', async () => {
    await using weir = startWeir({ echo: fixture('echo') }, debug);
    await weir.request('server/discover', modernMeta());
    expect(await elapsed(weir.says(started))).toBeGreaterThan(800);
  });

  verifies(['AGG-REG-3', 'ERA-4'], 'servers start at the next message after a server/discover', async () => {
    await using weir = startWeir({ echo: fixture('echo') }, debug);
    await weir.request('server/discover', modernMeta());
    weir.send({ id: 'list', method: 'tools/list', params: modernMeta() });
    expect(await elapsed(weir.says(started))).toBeLessThan(950);
    expect(listed(await weir.answer('list'))).toContain('echo:echo');
  });

  verifies('ERA-4', 'servers do not start for a host that leaves after its probe', async () => {
    const request = { jsonrpc: '2.0', id: 1, method: 'server/discover', params: modernMeta() };
    const input = `${JSON.stringify(request)}\n`;
    const { code, stdout, stderr } = await runOver({ echo: fixture('echo') }, { ...debug, input });
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ id: 1, result: { supportedVersions: ['2026-07-28'] } });
    expect(stderr).not.toMatch(started);
  });
});

describe.concurrent('client info that servers get', () => {
  const capabilities = { sampling: { tools: {} }, elicitation: { form: {} }, 'x-odd': { big: [1, null] } };
  const clientOf = async (weir: Weir, tool: string): Promise<Json> =>
    JSON.parse(textOf(await weir.callTool(tool))) as Json;

  verifies(
    'AGG-CHILD-6',
    'servers get name and version of the gateway and the capabilities of its client',
    async () => {
      await using weir = startWeir({ a: fixture('environment'), modern: fixture('modern') });
      await weir.initialize(capabilities);
      const info = { name: 'mcp-aggregator-client', version: VERSION };
      expect(await clientOf(weir, 'a:client')).toEqual({
        protocolVersion: '2025-11-25',
        capabilities,
        clientInfo: info,
      });
      const [probe = ''] = JSON.parse(textOf(await weir.callTool('modern:seen'))) as string[];
      expect(JSON.parse(probe)).toMatchObject({
        method: 'server/discover',
        params: {
          _meta: {
            'io.modelcontextprotocol/clientInfo': info,
            'io.modelcontextprotocol/clientCapabilities': capabilities,
          },
        },
      });
    },
  );

  verifies('AGG-CHILD-6', 'servers get the capabilities of a modern client', async () => {
    await using weir = startWeir({ a: fixture('environment') });
    const params = { name: 'a:client', arguments: {}, ...modernMeta(capabilities) };
    const client = JSON.parse(textOf(await weir.request('tools/call', params))) as Json;
    expect(client).toMatchObject({ capabilities, clientInfo: { name: 'mcp-aggregator-client' } });
  });

  verifies('AGG-CHILD-6', 'servers offer tools for the capabilities of the real client', async () => {
    const only = async (can: Json): Promise<string[]> => {
      await using weir = startWeir({ asks: fixture('asks-client') });
      await weir.initialize(can);
      return (await weir.tools()).filter((name) => name.includes('only'));
    };
    expect(await only({})).toEqual([]);
    expect(await only({ sampling: {} })).toEqual(['asks:only-with-sampling']);
    expect(await only({ elicitation: {} })).toEqual(['asks:only-with-elicitation']);
  });

  verifies('AGG-CHILD-6', 'servers get no capabilities if the client is silent for a second', async () => {
    await using weir = startWeir({ a: fixture('environment') }, { args: ['--debug'] });
    await weir.says('[a] ready after');
    await weir.initialize(capabilities);
    expect(await clientOf(weir, 'a:client')).toMatchObject({ capabilities: {} });
  });

  verifies(['AGG-CHILD-6', 'AGG-CHILD-3'], 'a start that must fail does not wait for a client', async () => {
    await using weir = startWeir({ db: fixture('exit-at-start') }, { args: ['--debug'] });
    const { code, stderr } = await weir.ended;
    expect(code).toBe(1);
    expect(stderr.match(/exit-at-start: the database is not there$/gmu)).toHaveLength(2);
    expect(stderr).toMatch(/^\S+ info \[db\] exit-at-start: the database is not there\nServer 'db' failed/mu);
  });
});

describe.concurrent('startup timeouts', () => {
  verifies(
    'AGG-CHILD-2',
    'the startup timeout counts from the handshake where that follows the spawn',
    async () => {
      await using weir = startWeir({ mute: { ...mute, startupTimeout: 500 } }, { args: ['--debug'] });
      await weir.says('[mute] started as process');
      const began = timeOf(weir, /\[mute\] started/u);
      const { code } = await weir.ended;
      expect(code).toBe(1);
      // Started after 200 ms, opened without the client after 1000 ms, given up 500 ms later.
      expect(Date.now() - began).toBeGreaterThan(1100);
    },
  );

  verifies('AGG-CHILD-2', '"startupTimeout" of a server wins over --startup-timeout', async () => {
    const slow = { ...fixture('slow-start', '1200'), startupTimeout: 20_000 };
    await using weir = startWeir({ slow }, { args: ['--startup-timeout', '300ms'] });
    expect(await weir.tools()).toEqual(['slow:echo']);
  });
});

describe.concurrent('the end of stdin during the start', () => {
  const requests = [
    {
      jsonrpc: '2.0',
      id: 1,
      method: 'initialize',
      params: { protocolVersion: '2025-11-25', capabilities: {} },
    },
    { jsonrpc: '2.0', method: 'notifications/initialized' },
    { jsonrpc: '2.0', id: 2, method: 'tools/list' },
    {
      jsonrpc: '2.0',
      id: 3,
      method: 'tools/call',
      params: { name: 'slow:echo', arguments: { text: 'piped' } },
    },
  ];
  const input = requests.map((request) => `${JSON.stringify(request)}\n`).join('');

  verifies(
    ['AGG-REG-3', 'AGG-CLI-1'],
    'piped requests are answered although stdin ends during the start',
    async () => {
      const { code, stdout } = await runOver(
        { slow: fixture('slow-start', '800'), mixed: fixture('echo') },
        { input },
      );
      const answers = stdout
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as Received);
      expect(code).toBe(0);
      expect(answers.map(({ id }) => id)).toEqual([1, 2, 3]);
      expect(listed(answers[1] as Received)).toContain('mixed:add');
      expect(textOf(answers[2] as Received)).toBe('piped');
    },
  );

  verifies(
    ['AGG-CHILD-3', 'AGG-CLI-1'],
    'a start that fails after the end of stdin exits with 1',
    async () => {
      const config = { slow: fixture('slow-start', '500'), db: fixture('exit-at-start') };
      expect(await runOver(config, { input })).toMatchObject({ code: 1 });
      expect(await runOver(config, { input, args: ['--keep-going'] })).toMatchObject({ code: 0 });
    },
  );
});

describe.concurrent('the startup timeout of many servers', () => {
  verifies.slow(
    'AGG-CHILD-2',
    'the startup timeout grows while more servers start than fit at a time',
    async () => {
      const places = 2 * availableParallelism();
      // Each needs more than the 5 s that it has alone, and less than the 10 s that twice as many have together.
      const servers = Array.from({ length: 2 * places }, (_, index) => [
        `s${index}`,
        fixture('slow-start', '5500'),
      ]);
      await using weir = serveInProcess(Object.fromEntries(servers) as Record<string, ServerEntry>);
      expect(await weir.tools()).toHaveLength(2 * places);
    },
  );
});
