// Filters in the config: which tools of a server are offered at all.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import {
  fixture,
  runWeir,
  serverWith,
  startWeir,
  temporaryFolder,
  textOf,
  type Json,
} from '../../support/harness.ts';
import { counted, serveInProcess, type InProcessOptions } from '../../support/in-process.ts';
import { until } from '../../support/processes.ts';
import { verifies } from '../../verifies.ts';

const NAMES = ['read_graph', 'read_node', 'delete_node', 'delete_all'];

const memory = (filter: Json): Record<string, ReturnType<typeof serverWith>> => ({
  memory: { ...serverWith(NAMES, 'memory'), ...filter },
  other: serverWith(['open', 'close'], 'other'),
});

const offered = (tools: readonly string[]): string[] =>
  tools.filter((name) => name.startsWith('memory')).map((name) => name.replace(/^memory(?::|__)/u, ''));

describe('filters of tools', () => {
  const rows: [filter: Json, offers: string[]][] = [
    [{}, NAMES],
    [{ tools: ['read_graph'] }, ['read_graph']],
    [{ tools: ['*'] }, NAMES],
    [{ tools: [] }, []],
    [{ tools: { delete_all: { enabled: false } } }, ['read_graph', 'read_node', 'delete_node']],
    [{ tools: { 'delete_*': { enabled: false } } }, ['read_graph', 'read_node']],
    [{ tools: { read_graph: { enabled: true }, read_node: { timeout: 5000 } } }, NAMES],
    [{ includeTools: ['read_*'] }, ['read_graph', 'read_node']],
    [{ includeTools: ['*_node'], excludeTools: ['delete_*'] }, ['read_node']],
    [{ includeTools: ['delete_all'], excludeTools: ['delete_all'] }, []],
    [{ excludeTools: ['delete_???'] }, ['read_graph', 'read_node', 'delete_node']],
    [{ excludeTools: [] }, NAMES],
    [{ includeTools: [] }, []],
    [{ tools: ['read_*'], includeTools: ['*_node'] }, ['read_node']],
    [{ enabledTools: ['read_graph'] }, ['read_graph']],
    [{ disabledTools: ['delete_*'] }, ['read_graph', 'read_node']],
    [{ enabled_tools: ['*_node'], disabled_tools: ['delete_node'] }, ['read_node']],
    [{ alwaysAllow: ['read_graph'], autoApprove: ['read_graph'], trust: true }, NAMES],
  ];
  for (const [filter, offers] of rows)
    verifies(
      'AGG-CFG-4',
      `the filter ${JSON.stringify(filter)} offers ${offers.length} of ${NAMES.length} tools`,
      async () => {
        await using client = serveInProcess(memory(filter));
        expect(offered(await client.tools())).toEqual(offers);
        for (const name of NAMES) {
          const answer = await client.callTool(`memory:${name}`);
          if (offers.includes(name)) expect(textOf(answer)).toBe(`memory: ${name}`);
          else expect(answer.error?.message).toMatch(/hidden by ".+" of server 'memory' in the config/u);
        }
      },
    );

  verifies('AGG-CFG-4', 'the gateway refuses a hidden tool under each of its names', async () => {
    const long = 'x'.repeat(80);
    const servers = {
      memory: { ...serverWith(['keep', 'gone', long], 'memory'), excludeTools: ['gone', 'x*'] },
      // Its own name looks like the full name of what is held back.
      other: serverWith(['memory__gone', 'open'], 'other'),
    };
    await using client = serveInProcess(servers, { separator: '__' });
    expect(await client.tools()).toEqual(['memory__keep', 'other__memory__gone', 'other__open']);
    const shortened = `memory__${long}`.slice(0, 55);
    const names = [
      'memory__gone',
      'memory:gone',
      'memory.gone',
      'memory/gone',
      'gone',
      `memory__${long}`,
      long,
    ];
    for (const name of names) {
      const { error } = await client.callTool(name);
      expect(error).toMatchObject({ code: -32602 });
      expect(error?.message).toContain(`hidden by "excludeTools" of server 'memory' in the config`);
    }
    await using unfiltered = serveInProcess({ ...servers, memory: serverWith([long]) }, { separator: '__' });
    const [name = ''] = (await unfiltered.tools()).filter((one) => one.startsWith(shortened));
    expect(name).toHaveLength(64);
    expect((await client.callTool(name)).error?.message).toContain('hidden by "');
  });

  verifies(['AGG-CFG-4', 'AGG-SEP-4'], 'a hidden tool takes no name from another server', async () => {
    const servers = {
      one: { ...serverWith(['same', 'mine'], 'one'), excludeTools: ['same'] },
      two: serverWith(['same'], 'two'),
    };
    await using bare = serveInProcess(servers, { noPrefix: true });
    expect(await bare.tools()).toEqual(['mine', 'same']);
    expect(textOf(await bare.callTool('same'))).toBe('two: same');
    await using prefixed = serveInProcess(servers);
    await prefixed.initialize();
    expect(textOf(await prefixed.callTool('same'))).toBe('two: same');
    expect((await prefixed.callTool('one:same')).error?.message).toContain('hidden by');
  });

  verifies(
    ['AGG-CFG-4', 'AGG-SEP-4'],
    'an only server gets no call of an unlisted tool that its filter does not allow',
    async () => {
      const servers = {
        memory: { ...serverWith(['read', 'gone'], 'memory'), includeTools: ['read', 'hidden_*'] },
      };
      await using client = serveInProcess(servers, { noPrefix: true });
      expect(await client.tools()).toEqual(['read']);
      expect((await client.callTool('gone')).error?.message).toContain('hidden by');
      expect((await client.callTool('secret')).error?.message).toContain('hidden by');
      expect(textOf(await client.callTool('hidden_one'))).toBe('unknown: hidden_one');
    },
  );

  verifies(
    'AGG-CFG-4',
    'a listed resource of a hidden tool can be read, but is not kept as an app',
    async () => {
      const servers = {
        apps: { ...fixture('apps'), excludeTools: ['show', 'peek'] },
        other: serverWith(['open']),
      };
      await using client = serveInProcess(servers);
      await client.initialize();
      const read = async (uri: string): Promise<unknown> =>
        (await client.request('resources/read', { uri })).error?.message ?? 'read';
      expect(await read('ui://app/listed.html')).toBe('read');
      await using open = serveInProcess({ ...servers, apps: fixture('apps') });
      expect((await open.tools()).filter((name) => name.startsWith('apps'))).toHaveLength(3);
      expect(client.gateway.fronts.view().registry.apps.size).toBe(0);
      expect(open.gateway.fronts.view().registry.apps.size).toBe(1);
    },
  );

  verifies(
    'AGG-CFG-4',
    'a pattern that matches no tool causes one warning with the nearest name',
    async () => {
      const filter = { includeTools: ['read_grph', 'read_*'], excludeTools: ['erase', '*'] };
      await using client = serveInProcess(memory(filter));
      await client.tools();
      const warnings = client.logged.filter((line) => line.startsWith('warn') && line.includes('Tools"'));
      expect(warnings).toEqual([
        `warn "includeTools" of server 'memory' names "read_grph", but the server lists no such tool; did you mean "read_graph"?`,
        `warn "excludeTools" of server 'memory' names "erase", but the server lists no such tool; it lists read_graph, read_node, delete_node, delete_all`,
      ]);
    },
  );

  verifies('AGG-CFG-4', 'a filter applies to per-session servers and to lazy ones', async () => {
    const asleep = counted(fixture('echo'));
    const folder = temporaryFolder();
    const options: InProcessOptions = { state: join(folder, 'state'), configPath: join(folder, 'mcp.json') };
    const servers = {
      echo: { ...asleep.entry, includeTools: ['a*', 'echo'], lazy: true },
      own: { ...serverWith(NAMES, 'own'), includeTools: ['read_*'], sharing: 'per-session' },
    };
    for (const starts of [1, 1, 2]) {
      await using client = serveInProcess(servers, options);
      expect((await client.tools()).toSorted()).toEqual([
        'echo:add',
        'echo:echo',
        'own:read_graph',
        'own:read_node',
      ]);
      expect((await client.callTool('echo:fail')).error?.message).toContain('hidden by');
      expect((await client.callTool('own:delete_all')).error?.message).toContain('hidden by');
      expect(textOf(await client.callTool('own:read_node'))).toBe('own: read_node');
      if (starts === 2) expect(textOf(await client.callTool('echo:echo', { text: 'x' }))).toBe('x');
      expect(asleep.starts()).toBe(starts);
    }
  });

  verifies(
    ['AGG-CFG-4', 'HEALTH-3'],
    'a changed filter takes effect without a restart of its server, with one notice',
    async () => {
      const { entry, starts } = counted(fixture('echo'));
      const other = serverWith(['echo'], 'other');
      await using weir = startWeir({ echo: { ...entry, includeTools: ['e*'] }, other });
      expect(await weir.tools()).toEqual(['echo:echo', 'echo:error', 'other:echo']);
      const rewrite = (filter: Json): void => {
        const mcpServers = { echo: { ...entry, ...filter }, other };
        writeFileSync(join(weir.folder, 'mcp.json'), JSON.stringify({ mcpServers }));
      };
      rewrite({ excludeTools: ['e*', '?????*', 'raw', 'line', 'seen', 'meta'] });
      await weir.call('notifications/tools/list_changed');
      expect(await weir.tools()).toEqual(['echo:add', 'echo:fail', 'other:echo']);
      expect((await weir.callTool('echo:echo')).error?.message).toContain('"excludeTools"');
      // Its bare name has one owner now.
      expect(textOf(await weir.callTool('echo'))).toBe('other: echo');
      await until(() => weir.stderr.includes('changed without a restart: echo'));
      rewrite({ excludeTools: ['e*', '?????*', 'raw', 'line', 'seen', 'meta'], tools: {} });
      await until(() => weir.stderr.split('Config reloaded').length === 3);
      const notices = weir.messages.filter(({ method }) => method === 'notifications/tools/list_changed');
      expect(notices).toHaveLength(1);
      expect(starts()).toBe(1);
    },
  );

  verifies(
    ['AGG-CFG-4', 'HEALTH-3'],
    'a filter stays active when the same config is read again',
    async () => {
      const servers = memory({ includeTools: ['read_*'] });
      await using client = serveInProcess(servers);
      await client.tools();
      await client.gateway.reload({ mcpServers: servers });
      expect((await client.callTool('memory:delete_all')).error?.message).toContain('hidden by "');
      await client.gateway.reload({ mcpServers: memory({}) });
      expect(textOf(await client.callTool('memory:delete_all'))).toBe('memory: delete_all');
    },
  );

  verifies('AGG-CFG-4', 'clients get no notice when only hidden tools change', async () => {
    await using client = serveInProcess({ c: { ...fixture('changing-lists'), excludeTools: ['hidden*'] } });
    const tools = await client.tools();
    await client.callTool('c:add', { name: 'hidden1' });
    await client.callTool('c:add', { name: 'hidden2' });
    const listed = (): number => client.gateway.children.get('c')?.catalogue.tools.items.length ?? 0;
    await until(() => listed() === tools.length + 2);
    await new Promise((resolve) => setTimeout(resolve, 200));
    const notices = (): number =>
      client.messages.filter(({ method }) => method === 'notifications/tools/list_changed').length;
    expect(notices()).toBe(0);
    await client.callTool('c:add', { name: 'shown' });
    await client.call('notifications/tools/list_changed');
    expect(await client.tools()).toEqual([...tools, 'c:shown']);
    expect(notices()).toBe(1);
  });

  verifies('AGG-CFG-4', 'the lock file keeps all tools of a server, whatever the filter', async () => {
    const folder = temporaryFolder();
    const { entry, starts } = counted(fixture('echo'));
    const config = (filter: Json): string =>
      JSON.stringify({ mcpServers: { echo: { ...entry, ...filter } } });
    const file = join(folder, 'mcp.json');
    writeFileSync(file, config({ includeTools: ['e*'] }));
    await runWeir(['lock', '--config', file, '--state', join(folder, 'locked')], { folder });
    const locked = JSON.parse(readFileSync(join(folder, 'weir.lock.json'), 'utf8')) as {
      servers: { echo: { tools: unknown[] } };
    };
    expect(locked.servers.echo.tools).toHaveLength(8);
    await using weir = startWeir(config({ includeTools: ['add'] }), { folder, args: ['--lazy'] });
    expect(await weir.tools()).toEqual(['echo:add']);
    expect(starts()).toBe(1);
  });
});
