// Lazy servers: their catalogues are stored, and the first call starts them.
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import {
  fixture,
  modernMeta,
  runWeir,
  scripted,
  startWeir,
  temporaryFolder,
  textOf,
  type ServerEntry,
} from '../../support/harness.ts';
import { counted, open, serveInProcess } from '../../support/in-process.ts';
import { isAlive, until } from '../../support/processes.ts';
import { verifies } from '../../verifies.ts';

/** Lists the tools that a file names at the moment, and notes its starts in another. */
function changeable(...names: string[]): {
  entry: ServerEntry;
  now(...tools: string[]): void;
  breaks(): void;
  starts(): number;
} {
  const folder = temporaryFolder();
  const [list, starts] = [join(folder, 'tools'), join(folder, 'starts')];
  const now = (...tools: string[]): void => writeFileSync(list, JSON.stringify(tools));
  now(...names);
  writeFileSync(starts, '');
  const entry = scripted(`
    import { appendFileSync, readFileSync } from 'node:fs';
    import { serve, text, tool } from 'stdio';
    appendFileSync(${JSON.stringify(starts)}, 'x');
    const names = JSON.parse(readFileSync(${JSON.stringify(list)}, 'utf8'));
    serve({
      name: 'changeable',
      tools: names.map((name) => tool(name)),
      on: { 'tools/call': ({ name }) => text(process.pid + ' ' + name) },
    });
  `);
  const breaks = (): void => writeFileSync(list, 'no list');
  return { entry, now, breaks, starts: () => readFileSync(starts, 'utf8').length };
}

const LAZY = { args: ['--lazy'] };

describe.concurrent('a lazy server', () => {
  verifies(
    'AGG-REG-1',
    'a lazy server starts once for its lists; later lists come from its stored catalogue',
    async () => {
      const folder = temporaryFolder();
      const server = changeable('a', 'b');
      for (const starts of [1, 1, 1]) {
        await using weir = startWeir({ s: server.entry }, { ...LAZY, folder });
        expect((await weir.tools()).toSorted()).toEqual(['s:a', 's:b']);
        expect(server.starts()).toBe(starts);
        expect((await weir.request('resources/list')).result).toEqual({ resources: [] });
      }
      expect(readdirSync(join(folder, 'state', 'catalogues'))).toHaveLength(1);
    },
  );

  verifies(
    ['AGG-REG-1', 'AGG-CHILD-1'],
    'concurrent first calls start their lazy server once, and no other server',
    async () => {
      const folder = temporaryFolder();
      const servers = Object.fromEntries(Array.from({ length: 5 }, (_, i) => [`s${i}`, changeable('pid')]));
      const config = Object.fromEntries(
        Object.entries(servers).map(([key, { entry }]) => [key, { ...entry, lazy: true }]),
      );
      await (async () => {
        await using weir = startWeir(config, { folder });
        await weir.tools();
      })();
      await using weir = startWeir(config, { folder });
      expect(await weir.tools()).toHaveLength(5);
      const answers = await Promise.all(Array.from({ length: 20 }, () => weir.callTool('s2:pid')));
      expect(new Set(answers.map(textOf)).size).toBe(1);
      expect(Object.values(servers).map(({ starts }) => starts())).toEqual([1, 1, 2, 1, 1]);
      expect(weir.messages.filter(({ method }) => method !== undefined)).toEqual([]);
    },
  );

  verifies(
    'AGG-REG-1',
    'a lazy server is listed from the lock file, or from a newer stored catalogue',
    async () => {
      const folder = temporaryFolder();
      const server = changeable('a');
      const start = (): ReturnType<typeof startWeir> => startWeir({ s: server.entry }, { ...LAZY, folder });
      const lock = async (): Promise<void> => {
        const args = ['lock', '--config', join(folder, 'mcp.json'), '--state', join(folder, 'state')];
        expect(await runWeir(args, { folder })).toMatchObject({ code: 0 });
      };
      writeFileSync(join(folder, 'mcp.json'), JSON.stringify({ mcpServers: { s: server.entry } }));
      await lock();
      const locked = readFileSync(join(folder, 'weir.lock.json'), 'utf8');
      server.now('a', 'more');
      await (async () => {
        await using weir = start();
        expect(await weir.tools()).toEqual(['s:a']);
        expect(server.starts()).toBe(1);
        await weir.callTool('s:a');
        await weir.call('notifications/tools/list_changed');
        expect(await weir.tools()).toEqual(['s:a', 's:more']);
        await weir.says("The tools of server 's' differ from the cached lists");
      })();
      await (async () => {
        await using weir = start();
        expect(await weir.tools()).toEqual(['s:a', 's:more']);
        expect(server.starts()).toBe(2);
      })();
      expect(readFileSync(join(folder, 'weir.lock.json'), 'utf8')).toBe(locked);
      server.now('other');
      await lock();
      await using weir = start();
      expect(await weir.tools()).toEqual(['s:other']);
      expect(server.starts()).toBe(3);
    },
  );

  verifies(
    ['ERA-5', 'AGG-REG-2'],
    'a lazy server lists its tools in the same order before and after its first call',
    async () => {
      const folder = temporaryFolder();
      const server = changeable('b', 'c', 'a');
      writeFileSync(join(folder, 'mcp.json'), JSON.stringify({ mcpServers: { s: server.entry } }));
      const args = ['lock', '--config', join(folder, 'mcp.json'), '--state', join(folder, 'state')];
      expect(await runWeir(args, { folder })).toMatchObject({ code: 0 });
      const orders: string[][] = [];
      for (const args of [['--lazy'], ['--lazy'], []]) {
        await using weir = startWeir({ s: server.entry }, { args, folder });
        orders.push(await weir.tools());
        const [first = ''] = orders.flat();
        expect(textOf(await weir.callTool(first))).toMatch(/\d/u);
        orders.push(await weir.tools());
        expect(weir.messages.flatMap(({ method }) => method ?? [])).toEqual([]);
      }
      expect(new Set(orders.map((names) => names.join())).size).toBe(1);
    },
  );

  verifies(
    'AGG-REG-1',
    'a lazy server starts for its lists where the lock file is unreadable, with a warning',
    async () => {
      const folder = temporaryFolder();
      mkdirSync(join(folder, 'weir.lock.json'));
      await using weir = startWeir({ s: changeable('a').entry }, { ...LAZY, folder });
      expect(await weir.tools()).toEqual(['s:a']);
      await weir.says('weir.lock.json cannot be read and is ignored');
    },
  );

  verifies(
    'AGG-REG-1',
    "a lazy server starts again for its lists when its entry or the client's capabilities change",
    async () => {
      const folder = temporaryFolder();
      const server = changeable('a');
      const run = async (entry: ServerEntry, capabilities = {}): Promise<number> => {
        await using weir = startWeir({ s: entry }, { ...LAZY, folder });
        await weir.initialize(capabilities);
        await weir.tools();
        return server.starts();
      };
      expect(await run(server.entry)).toBe(1);
      expect(await run(server.entry)).toBe(1);
      expect(await run(server.entry, { roots: {} })).toBe(2);
      expect(await run(server.entry, { roots: {} })).toBe(2);
      expect(await run({ ...server.entry, env: { X: '1' } })).toBe(3);
    },
  );

  verifies('AGG-REG-1', 'an idle lazy server stops and starts again without notices to clients', async () => {
    const server = changeable('pid');
    const weir = serveInProcess({ s: server.entry, e: fixture('echo') }, { lazy: true, idleAfter: 300 });
    await using _ = weir;
    await weir.tools();
    const first = textOf(await weir.callTool('s:pid'));
    await until(() => weir.gateway.reports()[0]?.health.connectionState === 'disconnected', 10_000);
    expect(await weir.tools()).toContain('s:pid');
    const second = textOf(await weir.callTool('s:pid'));
    expect(second).not.toBe(first);
    expect(server.starts()).toBe(2);
    expect(weir.messages.filter(({ method }) => method !== undefined)).toEqual([]);
  });

  verifies('AGG-REG-1', 'a lazy server does not stop while a call is in flight', async () => {
    const { entry, starts } = counted(fixture('stall'));
    const slow = scripted(`
      import { serve, text, tool } from 'stdio';
      serve({ name: 'slow', tools: [tool('wait')], call: { wait: () => new Promise((resolve) => setTimeout(() => resolve(text('done')), 1500)) } });
    `);
    const weir = serveInProcess({ s: slow, e: entry }, { lazy: true, idleAfter: 200 });
    await using _ = weir;
    await weir.tools();
    expect(textOf(await weir.callTool('s:wait'))).toBe('done');
    expect(starts()).toBe(1);
  });

  for (const sharing of ['per-session', 'per-call'])
    verifies('AGG-REG-1', `an idle lazy server does not end ${sharing} instances`, async () => {
      const slow = scripted(`
        import { serve, text, tool } from 'stdio';
        serve({ name: 'slow', tools: [tool('wait')], call: { wait: () => new Promise((resolve) => setTimeout(() => resolve(text('done')), 1500)) } });
      `);
      const weir = serveInProcess({ s: { ...slow, sharing } }, { lazy: true, idleAfter: 200 });
      await using _ = weir;
      await weir.tools();
      expect(textOf(await weir.callTool('s:wait'))).toBe('done');
    });

  for (const how of ['disable', 'restart'] as const)
    verifies(
      ['AGG-REG-1', 'HEALTH-3'],
      `${how} of a stopped lazy server ends its per-session instances`,
      async () => {
        const entry = { ...changeable('pid').entry, sharing: 'per-session' };
        const weir = serveInProcess({ s: entry }, { lazy: true, idleAfter: 300 });
        await using _ = weir;
        await weir.tools();
        const pid = Number.parseInt(textOf(await weir.callTool('s:pid')), 10);
        await until(() => weir.gateway.reports()[0]?.health.connectionState === 'disconnected', 10_000);
        expect(isAlive(pid)).toBe(true);
        await weir.gateway[how]('s');
        await until(() => !isAlive(pid));
      },
    );

  verifies(
    ['AGG-REG-1', 'HEALTH-2'],
    'calls of a lazy server that fails to start get the reason, and do not start it more often',
    async () => {
      const folder = temporaryFolder();
      const server = changeable('a');
      await (async () => {
        await using weir = startWeir({ s: server.entry }, { ...LAZY, folder });
        await weir.tools();
      })();
      server.breaks();
      await using weir = startWeir({ s: server.entry }, { ...LAZY, folder });
      expect(await weir.tools()).toEqual(['s:a']);
      const { error: refused } = await weir.callTool('s:a');
      expect(refused?.message).toMatch(/^Weir could not start a server.*'s'[^\n]*$/u);
      // The stderr of the server is in the log, with the reason; the client does not get it.
      expect(refused?.message).not.toContain('stderr');
      await weir.says(/error Server 's' failed .*\n +stderr \| /u);
      await weir.says("Server 's' is tried again in 1 s (attempt 1 of 3)");
      const calls = await Promise.all(Array.from({ length: 5 }, () => weir.callTool('s:a')));
      for (const { error } of calls) expect(error?.message).toMatch(/'s' .*(tried again|started)/su);
      expect(server.starts()).toBeLessThan(4);
      server.now('a');
      await weir.says("Server 's' is running again");
      expect(textOf(await weir.callTool('s:a'))).toMatch(/ a$/u);
    },
  );

  verifies(['HEALTH-3', 'AGG-REG-1'], 'a disabled lazy server is not listed', async () => {
    const server = changeable('a');
    const weir = serveInProcess({ s: server.entry, e: fixture('echo') }, { lazy: true, idleAfter: 300 });
    await using _ = weir;
    await weir.tools();
    await weir.gateway.disable('s');
    expect(await weir.tools()).not.toContain('s:a');
    await weir.gateway.enable('s');
    expect(await weir.tools()).toContain('s:a');
  });

  verifies(
    ['HEALTH-3', 'AGG-REG-1'],
    'a reload does not start an added lazy server with a stored catalogue',
    async () => {
      const folder = temporaryFolder();
      const [a, b] = [changeable('a'), changeable('b')];
      const both = { a: a.entry, b: b.entry };
      await (async () => {
        await using weir = startWeir(both, { ...LAZY, folder });
        await weir.tools();
      })();
      await using weir = startWeir({ a: a.entry }, { ...LAZY, folder });
      expect(await weir.tools()).toEqual(['a:a']);
      writeFileSync(join(folder, 'mcp.json'), JSON.stringify({ mcpServers: both }));
      await weir.call('notifications/tools/list_changed');
      expect(await weir.tools()).toEqual(['a:a', 'b:b']);
      expect([a.starts(), b.starts()]).toEqual([1, 1]);
      expect(textOf(await weir.callTool('b:b'))).toMatch(/ b$/u);
      expect([a.starts(), b.starts()]).toEqual([1, 2]);
    },
  );

  verifies(
    ['HEALTH-3', 'AGG-REG-2'],
    'clients get a notice when a reload removes a stopped lazy server',
    async () => {
      const servers = { s: changeable('a').entry, e: fixture('echo') };
      const weir = serveInProcess(servers, { lazy: true, idleAfter: 300 });
      await using _ = weir;
      await weir.tools();
      await until(() => weir.gateway.reports()[0]?.health.connectionState === 'disconnected', 10_000);
      await weir.gateway.reload({ mcpServers: { e: servers.e } });
      await weir.call('notifications/tools/list_changed');
      expect(await weir.tools()).not.toContain('s:a');
    },
  );

  verifies('HEALTH-3', 'two quick reloads can add and remove a lazy server', async () => {
    const [a, b] = [changeable('a').entry, changeable('b').entry];
    const weir = serveInProcess({ a }, { lazy: true });
    await using _ = weir;
    await weir.tools();
    const reloads = [{ a, b }, { a }].map((mcpServers) => weir.gateway.reload({ mcpServers }));
    expect(await Promise.all(reloads)).toMatchObject([{ added: ['b'] }, { removed: ['b'] }]);
    expect(await weir.tools()).toEqual(['a:a']);
  });

  verifies(
    ['HEALTH-3', 'AGG-REG-2'],
    'enabling a lazy server that waits for a restart sends no notices of unchanged lists',
    async () => {
      const weir = serveInProcess(
        { s: fixture('crash'), e: fixture('echo') },
        { lazy: true, supervision: { backOffMs: [60_000] } },
      );
      await using _ = weir;
      const before = await weir.tools();
      await weir.callTool('s:crash');
      await until(() => weir.gateway.reports()[0]?.health.connectionState === 'error');
      await weir.gateway.enable('s');
      expect(await weir.tools()).toEqual(before);
      await new Promise((resolve) => setTimeout(resolve, 200));
      expect(weir.messages.filter(({ method }) => method !== undefined)).toEqual([]);
    },
  );

  for (const era of ['legacy', 'modern'] as const)
    verifies(
      'AGG-REG-1',
      `a stopped lazy server lists and reads resources for a ${era} client as if it ran`,
      async () => {
        const { entry, starts } = counted(fixture('resources'));
        const state = join(temporaryFolder(), 'state');
        const options = { lazy: true, state, configPath: '/somewhere/mcp.json', idleAfter: 60_000 };
        await (async () => {
          await using weir = serveInProcess({ r: entry, e: fixture('echo') }, options);
          await (
            await open(weir, era)
          )('resources/list');
        })();
        await using weir = serveInProcess({ r: entry, e: fixture('echo') }, options);
        const ask = await open(weir, era);
        expect((await ask('resources/list')).result?.['resources']).toHaveLength(2);
        expect((await ask('resources/templates/list')).result?.['resourceTemplates']).toHaveLength(1);
        expect((await ask('prompts/list')).result?.['prompts']).not.toEqual([]);
        expect(starts()).toBe(1);
        expect((await ask('resources/read', { uri: 'note://one' })).result).toMatchObject({
          contents: [{ text: 'note: note://one' }],
        });
        expect(starts()).toBe(2);
      },
    );

  for (const era of ['legacy', 'modern'] as const)
    verifies(
      ['AGG-REG-1', 'HEALTH-3'],
      `a lazy server that a reload adds again runs while a ${era} client is subscribed to it`,
      async () => {
        const e = fixture('echo');
        const r = fixture('resources');
        const state = temporaryFolder();
        const options = { lazy: true, state, configPath: join(state, 'mcp.json') };
        await using weir = serveInProcess({ r, e }, options);
        const ask = await open(weir, era);
        await ask('tools/list');
        const uri = 'note://one';
        if (era === 'legacy') await ask('resources/subscribe', { uri });
        else {
          const params = { notifications: { resourceSubscriptions: [uri] }, ...modernMeta() };
          weir.send({ id: 'listen', method: 'subscriptions/listen', params });
          await weir.call('notifications/subscriptions/acknowledged');
        }
        await weir.gateway.reload({ mcpServers: { e } });
        await weir.gateway.reload({ mcpServers: { r, e } });
        expect(weir.gateway.reports()[0]?.health.connectionState).toBe('connected');
        await ask('tools/call', { name: 'r:touch', arguments: { uri } });
        expect((await weir.call('notifications/resources/updated')).params?.['uri']).toBe(uri);
      },
    );

  verifies('AGG-REG-1', 'a subscription starts a lazy server and keeps it running', async () => {
    const { entry, starts } = counted(fixture('resources'));
    await using weir = serveInProcess({ r: entry, e: fixture('echo') }, { lazy: true, idleAfter: 250 });
    await weir.tools();
    await until(() => weir.gateway.reports()[0]?.health.connectionState === 'disconnected', 10_000);
    expect((await weir.request('resources/subscribe', { uri: 'note://one' })).error).toBeUndefined();
    expect(starts()).toBe(2);
    await new Promise((resolve) => setTimeout(resolve, 1000));
    await weir.callTool('r:touch', { uri: 'note://one' });
    expect((await weir.call('notifications/resources/updated')).params?.['uri']).toBe('note://one');
    expect(starts()).toBe(2);
    await weir.request('resources/unsubscribe', { uri: 'note://one' });
    await until(() => weir.gateway.reports()[0]?.health.connectionState === 'disconnected', 10_000);
  });

  const form = '{"message":"?","requestedSchema":{"type":"object","properties":{}}}';
  const answer = { action: 'accept', content: {} };

  verifies(
    ['HEALTH-3', 'ERA-2'],
    'a lazy server does not stop while its client is asked between two rounds',
    async () => {
      await using weir = serveInProcess({ r: fixture('modern-rounds') }, { lazy: true, idleAfter: 50 });
      await weir.initialize({ elicitation: {} });
      const question = `{"method":"elicitation/create","params":${form}}`;
      const rounds = [`{"resultType":"input_required","inputRequests":{"a":${question}}}`];
      const call = weir.callTool('r:rounds', { key: 'k', rounds });
      const { id } = await weir.call('elicitation/create');
      await new Promise((resolve) => setTimeout(resolve, 500));
      weir.send({ id, result: answer });
      expect(textOf(await call)).toContain('accept');
      await until(() => weir.gateway.reports()[0]?.health.connectionState === 'disconnected', 10_000);
    },
  );

  verifies(
    ['HEALTH-3', 'AGG-CALL-3'],
    'a lazy server does not stop while it waits for the answer to its own question',
    async () => {
      const asksLater = scripted(`
      import { ask, notify, serve, text, tool } from 'stdio';
      const told = ({ result }) => notify('notifications/message', { level: 'error', data: result });
      serve({
        name: 'asks-later',
        capabilities: { tools: {}, logging: {} },
        tools: [tool('begin')],
        call: { begin: () => (setTimeout(() => ask('elicitation/create', ${form}).then(told), 20), text('begun')) },
      });`);
      await using weir = serveInProcess({ a: asksLater }, { lazy: true, idleAfter: 200 });
      await weir.initialize({ elicitation: {} });
      await weir.callTool('a:begin');
      const { id } = await weir.call('elicitation/create');
      await new Promise((resolve) => setTimeout(resolve, 700));
      weir.send({ id, result: answer });
      expect((await weir.call('notifications/message')).params?.['data']).toEqual(answer);
      await until(() => weir.gateway.reports()[0]?.health.connectionState === 'disconnected', 10_000);
    },
  );
});
