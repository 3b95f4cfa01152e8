// Crashed servers are restarted; servers that keep crashing are disabled until a user enables them.
import { appendFileSync, existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { ServerEvent, SupervisionRules } from '@weir/gateway';
import { describe, expect } from 'vitest';
import {
  fixture,
  modernMeta,
  scripted,
  startWeir,
  temporaryFolder,
  textOf,
  type ServerEntry,
} from '../../support/harness.ts';
import { counted, open, serveInProcess, type InProcess } from '../../support/in-process.ts';
import { isAlive, until } from '../../support/processes.ts';
import { serveHttp, toolServer, answerText, sendJson, type Handler } from '../../support/remote-server.ts';
import { verifies } from '../../verifies.ts';

const onLinux = verifies.skipIf(process.platform === 'linux' ? undefined : 'needs SIGSTOP and /proc');

/** The usual rules in little time. */
const QUICK: Partial<SupervisionRules> = { backOffMs: [50, 100, 150], settledAfterMs: 5000 };

const says =
  (text: string): Handler =>
  ({ message }, response) =>
    sendJson(response, answerText(message.id, text));

/** Waits until the gateway has published this event. */
async function told(events: readonly ServerEvent[], type: ServerEvent['type'], times = 1): Promise<void> {
  await until(() => events.filter((event) => event.type === type).length >= times, 20_000);
}

function watched(
  servers: Record<string, ServerEntry>,
  options: Parameters<typeof serveInProcess>[1] = {},
): { weir: InProcess; events: ServerEvent[] } {
  const events: ServerEvent[] = [];
  const weir = serveInProcess(servers, { supervision: QUICK, ...options });
  weir.gateway.subscribe((event) => {
    if ('status' in event) events.push(event);
  });
  return { weir, events };
}

// Each waits more than it works, so all run at the same time.
describe.concurrent('a server that crashes', () => {
  verifies(
    ['HEALTH-2', 'AGG-CHILD-4'],
    'a crashed server restarts after a second, and its tools disappear and come back',
    async () => {
      await using weir = startWeir({ a: fixture('crash'), e: fixture('echo') });
      const before = await weir.tools();
      const pid = textOf(await weir.callTool('a:pid'));
      expect((await weir.callTool('a:crash')).error?.message).toBe("Server 'a' exited with code 3");
      await weir.call('notifications/tools/list_changed');
      expect((await weir.tools()).filter((name) => name.startsWith('a:'))).toEqual([]);
      expect((await weir.callTool('a:pid')).error?.message).toMatch(
        /its server 'a' is not running; it is (tried again in [\d.]+ s|being started)/u,
      );
      await weir.call('notifications/tools/list_changed');
      expect(await weir.tools()).toEqual(before);
      expect(textOf(await weir.callTool('a:pid'))).not.toBe(pid);
      await weir.says("Server 'a' is tried again in 1 s (attempt 1 of 3)");
      await weir.says("Server 'a' is running again");
    },
  );

  verifies.slow(
    'HEALTH-2',
    'a server that is killed each time restarts after 1, 5 and 15 s of real time, then is disabled',
    async () => {
      const { entry, starts } = counted(fixture('crash'));
      await using weir = startWeir({ a: entry, e: fixture('echo') });
      await weir.tools();
      const pauses: number[] = [];
      for (let life = 1; life <= 4; life++) {
        const pid = Number(textOf(await weir.callTool('a:pid')));
        process.kill(pid, 'SIGKILL');
        const lost = performance.now();
        if (life === 4) break;
        await until(() => starts() > life, 30_000);
        pauses.push(performance.now() - lost);
        while (textOf(await weir.callTool('a:pid')) === '') await delay(50);
      }
      await weir.says("Server 'a' is disabled: 3 attempts in a row");
      for (const [i, expected] of [1000, 5000, 15_000].entries()) {
        expect(pauses[i]).toBeGreaterThanOrEqual(expected);
        expect(pauses[i]).toBeLessThan(expected + 3000);
      }
      expect(starts()).toBe(4);
      expect(await weir.tools()).not.toContain('a:pid');
    },
    60_000,
  );

  verifies(
    ['HEALTH-2', 'HEALTH-3'],
    'a server that crashes each time is disabled until a user enables it',
    async () => {
      const { weir, events } = watched({ a: fixture('crash'), e: fixture('echo') });
      await using _ = weir;
      await weir.tools();
      for (let times = 1; times <= 4; times++) {
        await told(events, 'server-connected', times + 1);
        await weir.callTool('a:kill');
        if (times < 4) await told(events, 'server-lost', times);
      }
      await told(events, 'server-auto-disabled');
      expect((await weir.call('notifications/message')).params).toMatchObject({
        level: 'error',
        logger: 'weir',
        data: expect.stringMatching(/^Server 'a' is disabled: 3 attempts.*"weir enable a"/u) as string,
      });
      const [report] = weir.gateway.reports();
      expect(report).toMatchObject({ serverKey: 'a', enabled: false, autoDisabled: true, failureCount: 3 });
      expect(report?.health.autoDisabledAt).toBeGreaterThan(Date.now() - 60_000);
      expect((await weir.callTool('a:pid')).error?.message).toContain(
        'it is disabled; enable it with "weir enable a"',
      );
      expect(weir.logged.join('\n')).toContain("error Server 'a' is disabled: 3 attempts in a row");
      await new Promise((resolve) => setTimeout(resolve, 500));
      expect(events.at(-1)?.type).toBe('server-auto-disabled');
      await weir.gateway.enable('a');
      expect(await weir.tools()).toContain('a:pid');
      expect(weir.gateway.reports()[0]).toMatchObject({
        enabled: true,
        autoDisabled: false,
        failureCount: 0,
      });
    },
  );

  verifies(
    ['HEALTH-2', 'AGG-CHILD-3'],
    'a server that fails to start is tried three times more, and not a fourth time',
    async () => {
      const { entry, starts } = counted(fixture('exit-at-start'));
      const { weir, events } = watched({ x: entry, e: fixture('echo') }, { keepGoing: true });
      await using _ = weir;
      expect((await weir.tools()).length).toBeGreaterThan(0);
      await told(events, 'server-auto-disabled');
      const before = starts();
      await new Promise((resolve) => setTimeout(resolve, 500));
      expect(starts()).toBe(before);
      // A server that exits at the probe is started a second time, with the legacy handshake.
      expect([4, 5, 6, 7, 8]).toContain(before);
      expect(events.filter(({ serverKey }) => serverKey === 'x').map(({ type }) => type)).toEqual([
        'server-connecting',
        'server-lost',
        'server-connecting',
        'server-lost',
        'server-connecting',
        'server-lost',
        'server-connecting',
        'server-auto-disabled',
      ]);
    },
  );

  verifies('HEALTH-2', 'repeated failures for the same reason are logged in one line each', async () => {
    const talkative = scripted(`
      for (let line = 0; line < 30; line++) console.error('frame', line, process.pid);
      process.exitCode = 1;`);
    const { weir, events } = watched({ x: talkative, e: fixture('echo') }, { keepGoing: true });
    await using _ = weir;
    await weir.tools();
    await told(events, 'server-auto-disabled');
    const lines = weir.logged
      .filter((entry) => !entry.startsWith('debug') && /'x'|\[x\]/u.test(entry))
      .flatMap((entry) => entry.split('\n'));
    const ofTalk = lines.filter((line) => line.includes('frame'));
    // As it comes, and once more with the reason.
    expect(ofTalk).toHaveLength(30 + 10);
    expect(lines.filter((line) => !line.includes('frame'))).toEqual([
      expect.stringMatching(
        /^info \[x\] The server ended before .*; Weir starts it once more, in the legacy era$/u,
      ),
      expect.stringMatching(/^error Server 'x' failed during initialization/u),
      expect.stringMatching(/^warn Server 'x' is tried again in [\d.]+ s \(attempt 1 of 3\)$/u),
      expect.stringMatching(/^warn Server 'x' failed again for the same reason; .* \(attempt 2 of 3\)$/u),
      expect.stringMatching(/^warn Server 'x' failed again for the same reason; .* \(attempt 3 of 3\)$/u),
      expect.stringMatching(/^error Server 'x' is disabled: 3 attempts/u),
    ]);
    // All lines that it wrote are kept.
    expect(weir.gateway.logsOf('x')?.filter(({ text }) => text.startsWith('frame')).length).toBeGreaterThan(
      100,
    );
  });

  for (const era of ['legacy', 'modern'] as const) {
    verifies('HEALTH-2', `a ${era} client keeps its subscriptions when the server restarts`, async () => {
      const mortal = scripted(`
        process.argv[2] = 'note';
        await import(${JSON.stringify(new URL('../../fixtures/resources.mjs', import.meta.url).href)});
        process.stdin.on('data', (chunk) => chunk.includes('"die"') && process.exit(1));`);
      const { weir, events } = watched({ n: mortal, e: fixture('echo') });
      await using _ = weir;
      const ask = await open(weir, era);
      await ask('tools/list');
      const uri = 'note://one';
      if (era === 'legacy') await ask('resources/subscribe', { uri });
      else {
        const params = { notifications: { resourceSubscriptions: [uri] }, ...modernMeta() };
        weir.send({ id: 'listen', method: 'subscriptions/listen', params });
        await weir.call('notifications/subscriptions/acknowledged');
      }
      await ask('tools/call', { name: 'n:touch', arguments: { uri: 'die' } });
      await told(events, 'server-connected', 3);
      await ask('tools/call', { name: 'n:touch', arguments: { uri } });
      expect((await weir.call('notifications/resources/updated')).params?.['uri']).toBe(uri);
    });
  }
});

describe.concurrent('a server that runs', () => {
  verifies('HEALTH-1', 'the gateway probes a server by ping or server/discover, by its era', async () => {
    const asked = join(temporaryFolder(), 'asked');
    const listening = (name: string): ServerEntry =>
      scripted(`
        import { appendFileSync } from 'node:fs';
        await import(${JSON.stringify(new URL(`../../fixtures/${name}.mjs`, import.meta.url).href)});
        process.stdin.on('data', (chunk) => appendFileSync(${JSON.stringify(asked)} + '-${name}', chunk));`);
    const { weir } = watched(
      { echo: listening('echo'), modern: listening('modern') },
      { supervision: { probeEveryMs: 100 } },
    );
    await using _ = weir;
    await weir.tools();
    const count = (name: string, method: string): number =>
      readFileSync(`${asked}-${name}`, 'utf8').split(`"method":"${method}"`).length - 1;
    await until(() => count('echo', 'ping') >= 2 && count('modern', 'server/discover') >= 3, 20_000);
    expect(count('modern', 'ping')).toBe(0);
    for (const { health } of weir.gateway.reports()) {
      expect(health.lastPingAt).toBeGreaterThan(Date.now() - 30_000);
      expect(health.pingLatency).toBeGreaterThanOrEqual(0);
      expect(health).toMatchObject({ connectionState: 'connected', consecutiveFailures: 0 });
    }
  });

  onLinux.slow('HEALTH-2', 'the gateway restarts a server that no longer answers probes', async () => {
    const { weir, events } = watched(
      { a: fixture('crash'), e: fixture('echo') },
      { supervision: { ...QUICK, probeEveryMs: 300, silenceMs: 500, probeLimitMs: 1000 } },
    );
    await using _ = weir;
    await weir.tools();
    const pid = Number(textOf(await weir.callTool('a:pid')));
    process.kill(pid, 'SIGSTOP');
    await told(events, 'server-lost');
    expect(events.find(({ type }) => type === 'server-lost')?.reason).toContain(
      'did not answer a probe within 0.5 s',
    );
    await told(events, 'server-connected', 3);
    expect(isAlive(pid)).toBe(false);
    expect(Number(textOf(await weir.callTool('a:pid')))).not.toBe(pid);
  });

  verifies(
    'HEALTH-1',
    'the gateway does not restart a server that is too busy with a call to answer probes',
    async () => {
      const busy = scripted(`
      import { serve, text, tool } from 'stdio';
      serve({ name: 'busy', tools: [tool('work')], call: { work: () => {
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1500);
        return text('done');
      } } });`);
      const { weir, events } = watched(
        { b: busy },
        { supervision: { probeEveryMs: 100, silenceMs: 200, probeLimitMs: 400 } },
      );
      await using _ = weir;
      await weir.tools();
      expect(textOf(await weir.callTool('b:work'))).toBe('done');
      expect(events.map(({ type }) => type)).toEqual(['server-connecting', 'server-connected']);
    },
  );

  verifies('HEALTH-3', 'a manual restart fails only the calls in flight of its own server', async () => {
    const { weir } = watched({ a: fixture('crash'), b: fixture('crash') });
    await using _ = weir;
    await weir.tools();
    const pid = textOf(await weir.callTool('a:pid'));
    const calls = ['a', 'b'].map((key) => weir.callTool(`${key}:slow`, { ms: 1000 }));
    await weir.callTool('a:pid');
    await weir.gateway.restart('a');
    expect((await calls[0])?.error?.message).toBe("Server 'a' is being restarted");
    expect(textOf((await calls[1]) ?? {})).toBe('waited 1000');
    expect(textOf(await weir.callTool('a:pid'))).not.toBe(pid);
  });
});

describe.concurrent('a server that is slow to start', () => {
  for (const [what, end] of [
    ['disabled', (weir: InProcess) => weir.gateway.disable('s')],
    ['taken out of the config', (weir: InProcess) => weir.gateway.reload({ mcpServers: {} })],
    ['ended with the gateway', (weir: InProcess) => weir.gateway.close()],
  ] as const)
    verifies('HEALTH-3', `a starting server that is ${what} logs no error`, async () => {
      const { weir } = watched({ s: fixture('slow-start', '4000'), e: fixture('echo') }, { keepGoing: true });
      await using _ = weir;
      await weir.tools();
      await end(weir);
      await until(() => weir.gateway.children.get('s')?.status !== 'initializing');
      await delay(100);
      expect(weir.logged.filter((line) => line.startsWith('error'))).toEqual([]);
    });
});

describe.concurrent('a per-session instance', () => {
  const own = { sharing: 'per-session' } as const;
  /** Tells the processes of this test from those of the others. */
  const MINE = 'of-sharing-test';

  onLinux(
    ['HEALTH-2', 'HEALTH-3'],
    'a per-session instance survives a crash of the shared one, and ends when its server is disabled',
    async () => {
      const { weir, events } = watched({ a: { ...fixture('crash', MINE), ...own }, e: fixture('echo') });
      await using _ = weir;
      await weir.tools();
      const pid = Number(textOf(await weir.callTool('a:pid')));
      const shared = children().find((child) => child !== pid && commandOf(child).includes(MINE)) ?? 0;
      process.kill(shared, 'SIGKILL');
      await told(events, 'server-connected', 3);
      expect(Number(textOf(await weir.callTool('a:pid')))).toBe(pid);
      await weir.gateway.disable('a');
      await until(() => !isAlive(pid));
    },
  );
});

/** The processes that this one has started. */
function children(): number[] {
  return readFileSync(`/proc/${process.pid}/task/${process.pid}/children`, 'utf8').split(' ').map(Number);
}

function commandOf(pid: number): string {
  return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
}

describe.concurrent('a remote server', () => {
  verifies(
    ['HEALTH-1', 'HEALTH-2'],
    'the gateway notices that a remote server is away, and connects when it is back',
    async () => {
      const first = await serveHttp(toolServer('legacy', says('first')));
      const { weir, events } = watched(
        { far: { url: first.url }, e: fixture('echo') },
        { supervision: { ...QUICK, backOffMs: [50, 400, 2000], probeEveryMs: 200 } },
      );
      await using _ = weir;
      await weir.tools();
      await until(() => first.posted('ping').length > 1);
      await first.close();
      await told(events, 'server-lost', 2);
      expect((await weir.tools()).some((name) => name.startsWith('far:'))).toBe(false);
      await using _second = await serveHttp(toolServer('legacy', says('second')), first.port);
      await told(events, 'server-connected', 3);
      expect(textOf(await weir.callTool('far:tool'))).toBe('second');
    },
  );

  /** An address where nothing listens, until a server is started on its port. */
  async function silentAddress(): Promise<{ url: string; port: number }> {
    const server = await serveHttp(says(''));
    await server.close();
    return server;
  }

  verifies(
    'HEALTH-2',
    'a remote server is disabled while its port refuses, and enabled once it listens',
    async () => {
      const { url, port } = await silentAddress();
      const { weir, events } = watched(
        { far: { url }, e: fixture('echo') },
        { keepGoing: true, supervision: { ...QUICK, reachEveryMs: 300 } },
      );
      await using _ = weir;
      await weir.tools();
      await told(events, 'server-auto-disabled');
      expect((await weir.call('notifications/message')).params?.['data']).toMatch(
        /^Server 'far' is unreachable and disabled: 3 attempts.* tries again every 0\.3 s/u,
      );
      expect(weir.gateway.reports()[0]).toMatchObject({
        enabled: false,
        autoDisabled: true,
        failureCount: 3,
      });
      expect((await weir.callTool('far:tool')).error?.message).toMatch(
        /its server 'far' is not running; it is unreachable, and Weir tries again/u,
      );
      await told(events, 'server-lost', 5);
      await using _server = await serveHttp(toolServer('legacy', says('back')), port);
      await told(events, 'server-connected', 2);
      expect(textOf(await weir.callTool('far:tool'))).toBe('back');
      expect(weir.gateway.reports()[0]).toMatchObject({
        enabled: true,
        autoDisabled: false,
        failureCount: 0,
      });
      expect(events.filter(({ type }) => type === 'server-auto-disabled')).toHaveLength(1);
    },
  );

  verifies('HEALTH-2', 'the next start tries a remote server again that could not be reached', async () => {
    const { url, port } = await silentAddress();
    const folder = temporaryFolder();
    const run = async (use: (weir: InProcess, events: ServerEvent[]) => Promise<void>): Promise<void> => {
      const { weir, events } = watched(
        { far: { url }, e: fixture('echo') },
        { keepGoing: true, state: join(folder, 'state'), configPath: join(folder, 'mcp.json') },
      );
      await using _ = weir;
      await weir.tools();
      await use(weir, events);
    };
    await run((_, events) => told(events, 'server-auto-disabled'));
    await using _server = await serveHttp(toolServer('legacy', says('back')), port);
    await run(async (weir) => expect(textOf(await weir.callTool('far:tool'))).toBe('back'));
  });

  verifies(
    'HEALTH-2',
    'a remote server that refuses its token is disabled without further attempts',
    async () => {
      await using server = await serveHttp((_, response) => sendJson(response, '{}', 401));
      const { weir, events } = watched(
        { far: { url: server.url }, e: fixture('echo') },
        { keepGoing: true, supervision: { ...QUICK, reachEveryMs: 50 } },
      );
      await using _ = weir;
      await weir.tools();
      await told(events, 'server-auto-disabled');
      const asked = server.seen.length;
      await delay(300);
      expect(server.seen).toHaveLength(asked);
      expect(weir.gateway.reports()[0]?.health.retryState).not.toHaveProperty('nextRetryAt');
    },
  );
});

describe.concurrent('stored records of a server', () => {
  /** Runs a gateway over this config in a folder of its own; the same folder remembers. */
  async function run(
    folder: string,
    entry: ServerEntry,
    use: (weir: InProcess, events: ServerEvent[]) => Promise<void>,
  ): Promise<string[]> {
    const { weir, events } = watched(
      { a: entry, e: fixture('echo') },
      { state: join(folder, 'state'), configPath: join(folder, 'mcp.json'), unexpanded: { a: entry } },
    );
    await using _ = weir;
    await weir.tools();
    await use(weir, events);
    return weir.logged;
  }

  verifies(
    'HEALTH-3',
    'a disabled server stays disabled over restarts of the gateway until it is enabled',
    async () => {
      const folder = temporaryFolder();
      const { entry, starts } = counted(fixture('crash'));
      await run(folder, entry, async (weir) => {
        await weir.gateway.disable('a');
        expect(await weir.tools()).not.toContain('a:pid');
      });
      expect(starts()).toBe(1);
      const logged = await run(folder, entry, async (weir) => {
        expect(await weir.tools()).not.toContain('a:pid');
        expect(weir.gateway.children.get('a')?.status).toBe('stopped');
        const [report] = weir.gateway.reports();
        expect(report).toMatchObject({ enabled: false, autoDisabled: false });
        expect(report?.lastConnectedAt).toBeGreaterThan(Date.now() - 60_000);
      });
      // A changed entry does not enable a server that a user has disabled.
      expect(logged.join('\n')).toMatch(/Server 'a' is disabled\. Enable it with "weir enable a"\.$/mu);
      expect(starts()).toBe(1);
      await run(folder, entry, async (weir) => {
        await weir.gateway.enable('a');
        expect(await weir.tools()).toContain('a:pid');
      });
      await run(folder, entry, async (weir) => expect(await weir.tools()).toContain('a:pid'));
      expect(starts()).toBe(3);
    },
  );

  verifies(
    'HEALTH-3',
    'failure counts survive a restart of the gateway, and a changed entry resets them',
    async () => {
      const folder = temporaryFolder();
      const entry = fixture('crash');
      await run(folder, entry, async (weir, events) => {
        for (let times = 1; times <= 3; times++) {
          await told(events, 'server-connected', times + 1);
          await weir.callTool('a:kill');
          await told(events, 'server-lost', times);
        }
      });
      await run(folder, entry, async (weir, events) => {
        expect(weir.gateway.reports()[0]).toMatchObject({ enabled: true, failureCount: 2 });
        await weir.callTool('a:kill');
        await told(events, 'server-auto-disabled');
      });
      await run(folder, entry, async (weir) => {
        expect(weir.gateway.reports()[0]).toMatchObject({
          enabled: false,
          autoDisabled: true,
          failureCount: 3,
          lastError: expect.stringMatching(/^Server 'a' .*SIGKILL/u) as string,
        });
      });
      await run(folder, { ...entry, env: { CHANGED: 'yes' } }, async (weir) => {
        expect(weir.gateway.reports()[0]).toMatchObject({
          enabled: true,
          autoDisabled: false,
          failureCount: 0,
        });
        expect(await weir.tools()).toContain('a:pid');
      });
    },
  );

  verifies('HEALTH-3', 'failure counts are reset after a run without a crash', async () => {
    const folder = temporaryFolder();
    const entry = fixture('crash');
    const crashTwice = async (weir: InProcess, events: ServerEvent[]): Promise<void> => {
      for (const times of [1, 2]) {
        await told(events, 'server-connected', times + 1);
        await weir.callTool('a:kill');
        await told(events, 'server-lost', times);
      }
    };
    await run(folder, entry, crashTwice);
    await run(folder, entry, async (weir) => {
      expect(weir.gateway.reports()[0]).toMatchObject({ enabled: true, failureCount: 1 });
      expect(await weir.tools()).toContain('a:pid');
    });
    await run(folder, entry, async (weir) => {
      expect(weir.gateway.reports()[0]).toMatchObject({ enabled: true, failureCount: 0 });
    });
  });

  verifies('HEALTH-3', '"enabled": false in the config wins over the stored record', async () => {
    const folder = temporaryFolder();
    const entry = fixture('crash');
    await run(folder, entry, (weir) => weir.gateway.disable('a'));
    await run(folder, { ...entry, enabled: false }, async (weir) => {
      await expect(weir.gateway.enable('a')).rejects.toThrow('switched off in the config file');
    });
    await run(folder, entry, async (weir) => expect(await weir.tools()).toContain('a:pid'));
  });

  verifies('HEALTH-3', 'unreadable records cause a warning, and the server starts as new', async () => {
    const folder = temporaryFolder();
    await run(folder, fixture('crash'), (weir) => weir.gateway.disable('a'));
    const records = join(folder, 'state', 'servers');
    for (const name of readdirSync(records)) appendFileSync(join(records, name), 'x');
    const logged = await run(folder, fixture('crash'), async (weir) => {
      expect(await weir.tools()).toContain('a:pid');
    });
    expect(logged.join('\n')).toMatch(
      /warn Cannot read the stored state of the servers in \S+, so only the config counts: \S+ is damaged/u,
    );
  });

  verifies('HEALTH-3', 'the command stores records under the path of its config', async () => {
    const folder = temporaryFolder();
    await using weir = startWeir({ a: fixture('crash') }, { folder });
    await weir.tools();
    await weir.close();
    const state = join(folder, 'state');
    const [name = '', ...others] = readdirSync(join(state, 'servers'));
    expect(others).toEqual([]);
    const kept = JSON.parse(readFileSync(join(state, 'servers', name), 'utf8')) as { servers: object };
    expect(kept).toMatchObject({ config: join(folder, 'mcp.json'), servers: { a: { enabled: true } } });
    expect(existsSync(join(state, 'master.key'))).toBe(false);
  });
});
