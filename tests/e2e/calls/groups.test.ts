// Groups in the config: the part of all servers and tools that a client sees.
import { readFileSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { dirname, join } from 'node:path';
import { createGateway, createLock, type GatewayReport, type McpConfig } from '@weir/gateway';
import { describe, expect, test } from 'vitest';
import {
  fixture,
  runWeir,
  scripted,
  serverWith,
  startWeir,
  temporaryFolder,
  textOf,
  type Ended,
  type Era,
  type Json,
  type Received,
} from '../../support/harness.ts';
import {
  Events,
  modern,
  open as openHttp,
  openSession,
  rpc,
  send,
  serveTest,
  wireText,
  type Answer,
  type HttpTest,
  type LegacyClient,
  type Sent,
} from '../../support/http.ts';
import { counted, serveInProcess, type InProcessOptions } from '../../support/in-process.ts';
import { until } from '../../support/processes.ts';

const ERAS: readonly Era[] = ['legacy', 'modern'];

/** Asks in one group, in one era. */
type Ask = (method: string, params?: Json) => Promise<Received>;

/** The path of a group; that of all servers without one. */
const at = (http: HttpTest, group: string | undefined): string =>
  group === undefined ? http.url : `${http.url}/${group}`;

async function asking(http: HttpTest, group: string | undefined, era: Era): Promise<Ask> {
  const url = at(http, group);
  if (era === 'modern') return async (method, params) => (await send(url, modern(method, params))).json;
  const session = await openSession(url);
  return async (method, params = {}) => (await session.post(rpc(method, params, 1))).json;
}

const namesIn = ({ result }: Received, list = 'tools', key = 'name'): string[] =>
  ((result?.[list] ?? []) as Record<string, string>[]).map((item) => item[key] ?? '');

describe('the truth table of group, allow, deny, rename, alias and era', () => {
  // In the order that a lock file has.
  const OWN = ['read_file', 'stat', 'write_file'];
  const GROUPS: Record<string, (tool: string) => boolean> = {
    whole: () => true,
    all: () => true,
    one: (tool) => tool === 'read_file',
    glob: (tool) => tool.endsWith('_file'),
    // A group goes by the server's own names: this is the new name of one.
    renamed: () => false,
    none: () => false,
    elsewhere: () => false,
  };
  const groups = {
    whole: ['files'],
    all: ['files:*', 'other'],
    one: ['files:read_file'],
    glob: ['other', 'files:*_file'],
    renamed: ['files:read'],
    none: [],
    elsewhere: ['other'],
  };
  const filters = [undefined, ['read_*', 'stat']].flatMap((allow) =>
    [undefined, ['stat']].flatMap((deny) => [undefined, 'read'].map((rename) => ({ allow, deny, rename }))),
  );
  /** The way in which the config came into force. */
  const MOMENTS = {
    'from the start': { separator: '__' },
    'after a reload, with plain names': { noPrefix: true },
    'before the server runs, from a lock file without any of it': { separator: '__', lazy: true },
  } satisfies Record<string, Partial<InProcessOptions>>;
  /** Names that lead to a tool, and others that look as if they might. */
  const aliases = (name: string): string[] => [
    ...[':', '__', '.', '/'].map((separator) => `files${separator}${name}`),
    name,
  ];
  const lookAlikes = (name: string): string[] => [
    `mcp__files__${name}`,
    `files:files:${name}`,
    `files__files__${name}`,
    `weir:files:${name}`,
    `FILES__${name}`,
    `files___${name}`,
    `files::${name}`,
    `files__${name}__`,
    `${name}:files`,
  ];

  for (const [moment, options] of Object.entries(MOMENTS))
    for (const { allow, deny, rename } of filters)
      test.concurrent(`groups list and call the right tools ${moment}: ${JSON.stringify({ allow, deny, rename })}`, async () => {
        const [isLazy, isReloaded] = ['lazy' in options, 'noPrefix' in options];
        const isWhole = !isLazy && !isReloaded;
        const entry = serverWith(OWN, 'files');
        const other = serverWith(['open'], 'other');
        const description = 'Reads “one” file.';
        const meant = {
          ...entry,
          ...(allow && { includeTools: allow }),
          ...(deny && { excludeTools: deny }),
          ...(rename !== undefined && { tools: { read_file: { rename, description } } }),
        };
        const isOffered = (tool: string): boolean =>
          (allow === undefined || tool !== 'write_file') && (deny === undefined || tool !== 'stat');
        const newName = (tool: string): string => (tool === 'read_file' ? (rename ?? tool) : tool);
        const configPath = join(temporaryFolder(), 'mcp.json');
        if (isLazy) {
          const env = { PATH: process.env['PATH'] };
          const text = await createLock(
            { mcpServers: { files: entry, other } },
            { configPath, unexpanded: {}, env },
          );
          writeFileSync(join(dirname(configPath), 'weir.lock.json'), text);
        }
        await using http = await serveTest(
          { files: isReloaded ? entry : meant, other },
          { ...options, configPath, config: { groups } },
        );
        if (isReloaded) await http.gateway.reload({ mcpServers: { files: meant, other }, groups });
        const asks = await Promise.all(
          [undefined, ...Object.keys(GROUPS).slice(isWhole ? 0 : 2)].flatMap((group) =>
            ERAS.map(async (era) => {
              const has = group === undefined ? () => true : (GROUPS[group] as (tool: string) => boolean);
              return { row: `${group} ${era}`, has, ask: await asking(http, group, era) };
            }),
          ),
        );
        const lists = new Map<string, Received>();
        for (const { row, has, ask } of asks) {
          const listed = await ask('tools/list');
          const prefix = isReloaded ? '' : 'files__';
          const seen = OWN.filter((tool) => isOffered(tool) && has(tool)).map(
            (tool) => prefix + newName(tool),
          );
          expect([row, namesIn(listed).filter((name) => !name.endsWith('open'))]).toEqual([row, seen]);
          const isDescribed = rename !== undefined && has('read_file');
          expect([row, JSON.stringify(listed).includes(description)]).toEqual([row, isDescribed]);
          lists.set(row, listed);
        }
        const states = http.gateway.reports().map(({ health }) => health.connectionState);
        expect(new Set(states)).toEqual(new Set([isLazy ? 'disconnected' : 'connected']));
        for (const { row, has, ask } of asks) {
          // Nothing but a call leads to a tool.
          for (const name of ['files__read_file', 'read_file']) {
            const completed = { ref: { type: 'ref/prompt', name }, argument: { name: 'a', value: 'a' } };
            expect((await ask('completion/complete', completed)).error).toBeDefined();
            expect((await ask('prompts/get', { name })).error).toBeDefined();
          }
          for (const tool of OWN)
            for (const name of new Set([tool, newName(tool)]))
              for (const alias of [...aliases(name), ...(isWhole ? lookAlikes(name) : [])]) {
                const answer = await ask('tools/call', { name: alias, arguments: {} });
                const isRight = name === newName(tool) && aliases(name).includes(alias);
                const isCallable = isRight && isOffered(tool) && has(tool);
                const cell = `${row} ${alias}`;
                if (isCallable) expect([cell, textOf(answer)]).toEqual([cell, `files: ${tool}`]);
                else expect([cell, answer.error?.code]).toEqual([cell, -32602]);
                if (!has(tool)) expect(answer.error?.message).not.toMatch(/held back|renamed/u);
              }
        }
        for (const { row, ask } of asks) {
          const again = await ask('tools/list');
          expect([row, again]).toEqual([row, lists.get(row)]);
          // A lock file has its own order of the keys in a definition.
          if (!isLazy) expect(JSON.stringify(again)).toBe(JSON.stringify(lists.get(row)));
        }
      });
});

/** `prompt` of a server of these fixtures, under its public name. */
const NOTES = ['one', 'two'].map((name) => `note://${name}`);

describe('a group', () => {
  test('a group gives the same error for a hidden tool as for an unknown one', async () => {
    const servers = { files: serverWith(['read'], 'files'), other: serverWith(['open'], 'other') };
    for (const noPrefix of [false, true])
      for (const era of ERAS) {
        await using http = await serveTest(servers, { noPrefix, config: { groups: { dev: ['other'] } } });
        const ask = await asking(http, 'dev', era);
        const error = async (method: string, params: Json, name: string): Promise<string> =>
          JSON.stringify((await ask(method, params)).error).replaceAll(name, '…');
        for (const form of ['TOOL', 'SERVER:TOOL', 'SERVER__TOOL', 'SERVER.TOOL']) {
          const [hidden, unknown] = [form.replace('SERVER', 'files'), form.replace('SERVER', 'nobody')];
          const [one, other] = [hidden.replace('TOOL', 'read'), unknown.replace('TOOL', 'nope')];
          expect(await error('tools/call', { name: one }, one)).toBe(
            await error('tools/call', { name: other }, other),
          );
        }
      }
  });

  test('a group offers prompts, resources, templates and completions of whole servers only', async () => {
    const servers = { notes: fixture('resources', 'note'), more: fixture('resources', 'more') };
    const groups = { whole: ['notes'], tools: ['notes:*', 'more'] };
    for (const era of ERAS) {
      await using http = await serveTest(servers, { config: { groups } });
      const [all, whole, tools] = await Promise.all(
        [undefined, 'whole', 'tools'].map((group) => asking(http, group, era)),
      );
      if (all === undefined || whole === undefined || tools === undefined) throw new Error('no client');
      const lists = async (ask: Ask): Promise<string[][]> => [
        namesIn(await ask('resources/list'), 'resources', 'uri'),
        namesIn(await ask('resources/templates/list'), 'resourceTemplates', 'uriTemplate'),
        namesIn(await ask('prompts/list'), 'prompts').map((name) => name.split(':')[0] ?? ''),
      ];
      const [uris = [], templates = [], prompts = []] = await lists(all);
      const ofNotes = (item: string): boolean => item.startsWith('note');
      expect(await lists(whole)).toEqual([NOTES, templates.filter(ofNotes), prompts.filter(ofNotes)]);
      expect(await lists(tools)).toEqual(
        [uris, templates, prompts].map((items) => items.filter((item) => !ofNotes(item))),
      );
      const [prompt = ''] = namesIn(await whole('prompts/list'), 'prompts');
      const requests: [string, Json][] = [
        ['resources/read', { uri: 'note://one' }],
        ['resources/read', { uri: 'note://item/7' }],
        ['resources/read', { uri: 'weir://notes/note://one' }],
        ['prompts/get', { name: prompt }],
        [
          'completion/complete',
          { ref: { type: 'ref/prompt', name: prompt }, argument: { name: 'a', value: 'a' } },
        ],
        [
          'completion/complete',
          { ref: { type: 'ref/resource', uri: 'note://item/{id}' }, argument: { name: 'id', value: 'a' } },
        ],
        ...(era === 'legacy'
          ? [['resources/subscribe', { uri: 'note://one' }] satisfies [string, Json]]
          : []),
      ];
      for (const [method, params] of requests) {
        if (!JSON.stringify(params).includes('weir://'))
          expect((await whole(method, params)).error).toBeUndefined();
        const { error } = await tools(method, params);
        expect([method, error === undefined]).toEqual([method, false]);
      }
      expect(textOf(await tools('tools/call', { name: 'notes:level', arguments: {} }))).toBe('info');
    }
  });

  test('clients of a group get notifications of its own servers and lists only', async () => {
    const servers = {
      changes: fixture('changing-lists'),
      notes: fixture('resources', 'note'),
      files: serverWith(['read'], 'files'),
    };
    const groups = {
      files: ['files'],
      first: ['files', 'changes:first'],
      changes: ['changes'],
      notes: ['notes'],
      tools: ['notes:*'],
    };
    await using http = await serveTest(servers, { config: { groups } });
    const heard = new Map<string, string[]>();
    const clients = new Map<string, LegacyClient>();
    for (const group of [...Object.keys(groups), 'all']) {
      const session = await openSession(at(http, group === 'all' ? undefined : group));
      await session.post(rpc('logging/setLevel', { level: 'debug' }, 'level'));
      const events: string[] = [];
      clients.set(group, session);
      heard.set(group, events);
      void collect(await session.listen(), events);
    }
    const listen = async (group: string): Promise<void> => {
      const events: string[] = [];
      heard.set(`modern ${group}`, events);
      const notifications = { toolsListChanged: true, resourceSubscriptions: ['note://one'] };
      const sent = modern('subscriptions/listen', { notifications });
      void collect(new Events(await openHttp(at(http, group), sent)), events);
      await until(() => events.length > 0);
      events.length = 0;
    };
    for (const group of Object.keys(groups)) await listen(group);
    const all = clients.get('all') as LegacyClient;
    await all.post(all.call('changes:add', { name: 'more' }));
    await until(() => heard.get('all')?.includes('tools/list_changed') === true);
    await (clients.get('notes') as LegacyClient).post(rpc('resources/subscribe', { uri: 'note://one' }, 7));
    await all.post(all.call('notes:touch', { uri: 'note://one' }));
    await all.post(all.call('notes:log', { level: 'error' }));
    await until(() => heard.get('notes')?.includes('message') === true);
    await new Promise((resolve) => setTimeout(resolve, 200));
    const of = (group: string): string[] => [...new Set(heard.get(group))].toSorted();
    expect(of('files')).toEqual([]);
    expect(of('first')).toEqual([]);
    expect(of('changes')).toEqual(['tools/list_changed']);
    expect(of('notes')).toEqual(['message', 'resources/updated']);
    expect(of('tools')).toEqual(['message']);
    expect(of('modern files')).toEqual([]);
    expect(of('modern first')).toEqual([]);
    expect(of('modern changes')).toEqual(['tools/list_changed']);
    expect(of('modern notes')).toEqual(['resources/updated']);
    expect(of('modern tools')).toEqual([]);
  });

  test('a group keeps the bytes of its list when tools outside it change', async () => {
    const servers = { changes: fixture('changing-lists'), files: serverWith(['a', 'b', 'c']) };
    const groups = { some: ['files:a', 'files:c', 'changes:first'] };
    await using http = await serveTest(servers, { config: { groups } });
    for (const era of ERAS) {
      const session = era === 'legacy' ? await openSession(at(http, 'some')) : undefined;
      const list = async (): Promise<string> =>
        session === undefined
          ? (await send(at(http, 'some'), modern('tools/list'))).text
          : (await session.post(rpc('tools/list', {}, 1))).text;
      const first = await list();
      expect(await list()).toBe(first);
      const view = http.gateway.fronts.view('some');
      const before = view.registry;
      const name = `more_${era}`;
      await http.gateway.callTool('changes:add', { name });
      await until(() => http.gateway.registry.has(`changes:${name}`));
      expect(view.registry).not.toBe(before);
      expect(await list()).toBe(first);
    }
  });

  test('a group shows instructions and lost servers of its own only', async () => {
    const telling = (name: string): ReturnType<typeof scripted> =>
      scripted(`
        import { serve, text, tool } from 'stdio';
        serve({ name: '${name}', tools: [tool('t')], instructions: 'How to use ${name}.', call: { t: () => text(1) } });
      `);
    const servers = { one: telling('one'), two: telling('two'), lost: { command: 'no-such-command-at-all' } };
    const groups = { one: ['one'], part: ['two:t'], lost: ['lost', 'one:x'] };
    await using http = await serveTest(servers, { statusTool: true, config: { groups } });
    await http.gateway.allAttempted;
    const opened = async (group?: string): Promise<[string, string[]]> => {
      const session = await openSession(at(http, group));
      const tools = namesIn((await session.post(rpc('tools/list', {}, 1))).json);
      return [String(session.opening.result?.['instructions']), tools];
    };
    expect(await opened('one')).toEqual(['How to use one.', ['one:t']]);
    expect(await opened('part')).toEqual(['How to use two.', ['two:t']]);
    const [lost, tools] = await opened('lost');
    expect(lost).toContain("not available: 'lost'.");
    expect(lost).not.toContain('two');
    expect(tools).toEqual(['weir:status']);
    const [all] = await opened();
    expect(all).toMatch(/How to use one.*How to use two/su);
    const ask = await asking(http, 'lost', 'modern');
    expect(textOf(await ask('tools/call', { name: 'weir:status', arguments: {} }))).toContain(
      "Server 'lost'",
    );
    const other = await asking(http, 'one', 'modern');
    expect((await other('tools/call', { name: 'weir:status', arguments: {} })).error?.code).toBe(-32602);
  });

  test('servers outside a group neither ask its client nor get its notifications', async () => {
    const curious = scripted(`
      import { ask, serve, text, tool } from 'stdio';
      let heard = 0;
      serve({
        name: 'curious',
        tools: [tool('later'), tool('heard')],
        call: {
          later: () => (setTimeout(() => ask('roots/list'), 50), text('soon')),
          heard: () => text(heard),
        },
        on: { 'notifications/roots/list_changed': () => void heard++ },
      });
    `);
    const servers = { curious, other: serverWith(['open']) };
    for (const [pattern, isAsked] of [
      ['other', false],
      ['curious:heard', true],
    ] as const) {
      await using client = serveInProcess(servers, { config: { groups: { dev: [pattern] } }, group: 'dev' });
      await client.initialize({ roots: { listChanged: true } });
      await client.request('tools/list');
      client.notify('notifications/roots/list_changed');
      await client.request('ping');
      await client.gateway.callTool('curious:later');
      if (isAsked) client.send({ id: (await client.call('roots/list')).id, result: { roots: [] } });
      // While a call of the program is in flight, the question would be taken for one to the program.
      await new Promise((resolve) => setTimeout(resolve, 200));
      expect(client.messages.some(({ method }) => method === 'roots/list')).toBe(isAsked);
      const heard = await client.gateway.callTool('curious:heard');
      expect(textOf({ result: heard as Json })).toBe(isAsked ? '1' : '0');
    }
  });

  test('a group knows the tasks of its own tools only', async () => {
    const servers = { a: fixture('legacy-tasks', 'A'), b: fixture('legacy-tasks', 'B') };
    await using http = await serveTest(servers, { config: { groups: { dev: ['a:work'], whole: ['b'] } } });
    const begin = async (session: LegacyClient, name: string): Promise<Json> => {
      const body = rpc('tools/call', { name, arguments: {}, task: { ttl: 60_000 } }, 1);
      return (await session.post(body)).json.result?.['task'] as Json;
    };
    const [dev, whole] = [await openSession(at(http, 'dev')), await openSession(at(http, 'whole'))];
    const [one, other] = [await begin(dev, 'a:work'), await begin(whole, 'b:work')];
    const get = async (session: LegacyClient, task: Json): Promise<Received> =>
      (await session.post(rpc('tasks/get', { taskId: task['taskId'] }, 2))).json;
    expect((await get(dev, one)).result).toEqual(one);
    expect((await get(whole, other)).result).toEqual(other);
    const unknown = (await get(dev, { taskId: 'nope' })).error?.message;
    for (const [session, task] of [
      [dev, other],
      [whole, one],
    ] as const)
      expect((await get(session, task)).error?.message.replace(String(task['taskId']), 'nope')).toBe(unknown);
    const listed = async (session: LegacyClient): Promise<unknown> =>
      (await session.post(rpc('tasks/list', {}, 3))).json.result?.['tasks'];
    expect([await listed(dev), await listed(whole)]).toEqual([[one], [other]]);
  });

  test("the gateway warns once of a group's pattern that matches no tool", async () => {
    const config = { groups: { dev: ['files:raed', 'files:*'], more: ['files:x?'] } };
    await using client = serveInProcess({ files: serverWith(['read', 'stat']) }, { config, group: 'dev' });
    expect(await client.tools()).toEqual(['files:read', 'files:stat']);
    const warnings = client.logged.filter((line) => line.includes('Group'));
    expect(warnings).toEqual([
      `warn Group 'dev' names "raed" of server 'files', but the server lists no such tool; it lists read, stat`,
      `warn Group 'more' names "x?" of server 'files', but the server lists no such tool; it lists read, stat`,
    ]);
  });

  test('a program that asks for a group sees only that group', async () => {
    const mcpServers = {
      files: serverWith(['read', 'write'], 'files'),
      other: serverWith(['open'], 'other'),
    };
    const gateway = createGateway(
      { mcpServers, groups: { dev: ['files:read'] } },
      { env: { PATH: process.env['PATH'] } },
    );
    try {
      const dev = gateway.group('dev');
      expect((await dev.listTools()).map(({ name }) => name)).toEqual(['files:read']);
      expect(textOf({ result: (await dev.callTool('files:read')) as Json })).toBe('files: read');
      await expect(dev.callTool('files:write')).rejects.toThrow('Tool not found: files:write');
      expect(await gateway.listTools()).toHaveLength(3);
      expect(() => gateway.group('dve1')).toThrow(`There is no group 'dve1'; "groups" in the config has dev`);
      expect(() => gateway.group('devs')).toThrow("did you mean 'dev'?");
      expect(() => createGateway({ mcpServers, groups: { dev: [] } }, { group: 'devs' })).toThrow(
        "did you mean 'dev'?",
      );
    } finally {
      await gateway.close();
    }
  });

  test('an unknown group is an error on stdio that names the nearest one', async () => {
    const options = { config: { groups: { develop: ['files'] } }, group: 'devlop' };
    const client = serveInProcess({ files: serverWith(['read']) }, options);
    await expect(client.served).rejects.toThrow("There is no group 'devlop'; did you mean 'develop'?");
  });
});

describe('weir --group', () => {
  test('weir --group shows the client that group, from a lock file and lazily', async () => {
    const folder = temporaryFolder();
    const { entry, starts } = counted(fixture('echo'));
    const other = counted(fixture('resources', 'note'));
    const tools = { echo: { rename: 'say' } };
    const config = JSON.stringify({
      mcpServers: { echo: { ...entry, tools }, notes: other.entry },
      groups: { dev: ['echo:echo', 'echo:a*'], whole: ['notes'] },
    });
    const file = join(folder, 'mcp.json');
    writeFileSync(file, config);
    await runWeir(['lock', '--config', file, '--state', join(folder, 'locked')], { folder });
    const locked = JSON.parse(readFileSync(join(folder, 'weir.lock.json'), 'utf8')) as {
      servers: { echo: { tools: unknown[] } };
    };
    expect(locked.servers.echo.tools).toHaveLength(8);
    await using weir = startWeir(config, { folder, args: ['--lazy', '--group', 'dev'] });
    expect(await weir.tools()).toEqual(['echo:add', 'echo:say']);
    expect([starts(), other.starts()]).toEqual([1, 1]);
    for (const name of ['echo:fail', 'echo:echo', 'notes:level'])
      expect((await weir.callTool(name)).error?.code).toBe(-32602);
    expect((await weir.request('resources/list')).result?.['resources']).toEqual([]);
    expect((await weir.request('resources/read', { uri: 'note://one' })).error?.message).toContain(
      'not found',
    );
    // Nothing of that has started a server.
    expect([starts(), other.starts()]).toEqual([1, 1]);
    expect(textOf(await weir.callTool('echo:say', { text: 'x' }))).toBe('x');
    expect([starts(), other.starts()]).toEqual([2, 1]);
    expect(await weir.tools()).toEqual(['echo:add', 'echo:say']);
  });

  test('weir --group runs only the servers of its group, before and after a reload', async () => {
    const folder = temporaryFolder();
    const state = join(folder, 'state');
    const servers = Object.fromEntries(
      ['files', 'git', 'a:b', 'db', 'gone'].map((key) => [key, counted(fixture('echo', key))] as const),
    );
    const starts = (): string =>
      Object.entries(servers)
        .map(([key, server]) => `${key} ${server.starts()}`)
        .join();
    const entries = Object.fromEntries(Object.entries(servers).map(([key, { entry }]) => [key, entry]));
    const config = (dev: string[] | undefined): string =>
      JSON.stringify({
        mcpServers: {
          ...entries,
          broken: { command: 'no-such-command-at-all' },
          off: { ...fixture('echo'), enabled: false },
        },
        groups: { ...(dev && { dev }), other: ['db', 'broken'] },
      });
    const ps = async (): Promise<string[]> => {
      const { stdout } = await runWeir(['ps', '--json', '--state', state], { folder });
      const [report] = JSON.parse(stdout) as GatewayReport[];
      return [
        report?.group ?? '',
        ...(report?.servers ?? []).map(({ id, health }) => `${id} ${health?.connectionState}`),
      ];
    };
    const on = (...args: string[]): Promise<Ended> => runWeir([...args, '--state', state], { folder });
    // Another gateway has disabled a server that is outside the group: that is kept.
    {
      await using weir = startWeir({ ...entries }, { folder });
      await weir.tools();
      expect((await on('disable', 'gone')).stderr).toBe('');
      expect(starts()).toBe('files 1,git 1,a:b 1,db 1,gone 1');
    }

    // Each start must succeed: the broken server would let it fail.
    await using weir = startWeir(config(['files', 'git:e*', 'a:b:nothing', 'off']), {
      folder,
      args: ['--group', 'dev', '--separator', '__'],
    });
    await weir.initialize();
    const tools = async (): Promise<string[]> =>
      namesIn(await weir.request('tools/list')).filter((name) => name.endsWith('__echo'));
    expect(await tools()).toEqual(['files__echo', 'git__echo']);
    expect(starts()).toBe('files 2,git 2,a:b 2,db 1,gone 1');
    expect(await ps()).toEqual(['dev', 'files connected', 'git connected', 'a:b connected', 'off undefined']);
    expect((await on('ps')).stdout).toContain('mcp.json, group dev, up');
    for (const action of ['restart', 'enable', 'disable', 'logs'])
      expect((await on(action, 'db')).stderr).toContain(
        "Server 'db' does not run here: this gateway serves only group 'dev', which does not contain it",
      );

    const reload = async (dev: string[] | undefined): Promise<void> => {
      const reloaded = weir.stderr.split('Config reloaded').length;
      writeFileSync(join(folder, 'mcp.json'), config(dev));
      await until(() => weir.stderr.split('Config reloaded').length > reloaded, 10_000);
      await weir.call('notifications/tools/list_changed');
    };
    await reload(['db:echo', 'gone', 'files']);
    expect(await ps()).toEqual(['dev', 'files connected', 'db connected', 'gone disconnected']);
    expect(starts()).toBe('files 2,git 2,a:b 2,db 2,gone 1');
    expect(await tools()).toEqual(['files__echo', 'db__echo']);

    await reload(undefined);
    expect(await ps()).toEqual(['dev']);
    expect(await tools()).toEqual([]);
    await reload(['files:echo']);
    expect(await ps()).toEqual(['dev', 'files connected']);
    expect(await tools()).toEqual(['files__echo']);
    expect(starts()).toBe('files 3,git 2,a:b 2,db 2,gone 1');
    expect(await weir.close()).toMatchObject({ code: 0 });

    // Lists of servers outside the group are remembered still.
    await using lazy = startWeir({ ...entries }, { folder, args: ['--lazy'] });
    expect((await lazy.tools()).filter((name) => name.endsWith(':echo'))).toEqual(
      ['files', 'git', 'a:b', 'db'].map((key) => `${key}:echo`),
    );
    expect(starts()).toBe('files 3,git 2,a:b 2,db 2,gone 1');
  });

  test('weir --group fails with the nearest name for an unknown group, and starts nothing', async () => {
    const folder = temporaryFolder();
    const { entry, starts } = counted(fixture('echo'));
    const file = join(folder, 'mcp.json');
    writeFileSync(file, JSON.stringify({ mcpServers: { echo: entry }, groups: { review: ['echo'] } }));
    const { code, stderr } = await runWeir(['--config', file, '--group', 'reviews'], { folder });
    expect(stderr).toContain("There is no group 'reviews'; did you mean 'review'?\nNothing was started.");
    expect([code, starts()]).toEqual([1, 0]);
  });
});

describe('the path of a group', () => {
  const config = { groups: { dev: ['files'], ops: ['files'] } };
  const list = rpc('tools/list', {}, 1);

  test('the gateway answers 404 for the path of an unknown group, however it is written', async () => {
    await using http = await serveTest({ files: serverWith(['read']) }, { config });
    const paths = [
      'nope',
      'DEV',
      'dev/x',
      'dev%2f',
      'd%65v',
      '..',
      '../mcp/dev/..',
      '%2e%2e',
      '.',
      '__proto__',
      'constructor',
      'toString',
      '/dev',
      'dev;x',
      '%00',
      '%',
      'dev%20',
      'x'.repeat(8000),
      'd\u00e9v'.normalize('NFD').replaceAll(/[^\w]/gu, '%C3'),
    ];
    for (const path of paths) {
      const { status, json } = await raw(http, `/mcp/${path}`, modern('tools/list'));
      expect([path.slice(0, 20), status]).toEqual([path.slice(0, 20), 404]);
      expect(json.error?.message.length).toBeLessThan(500);
    }
    expect((await send(`${http.url}/nope`, { body: list })).json.error?.message).toBe(
      "There is no group 'nope' in the config of this gateway. Check the end of the URL, or use /mcp for all servers.",
    );
    for (const path of ['/mcp/dev', '/mcp/dev/', '/mcp/dev?x=1', '/mcp', '/mcp/'])
      expect([path, (await raw(http, path, modern('tools/list'))).status]).toEqual([path, 200]);
  });

  test('a client without the token cannot find out which groups exist', async () => {
    await using http = await serveTest({ files: serverWith(['read']) }, { config });
    for (const group of ['dev', 'nope']) {
      const headers = { Authorization: 'Bearer wrong' };
      expect((await send(at(http, group), { headers, body: list })).status).toBe(401);
    }
  });

  test('a session exists only under the path of its group', async () => {
    await using http = await serveTest({ files: serverWith(['read']) }, { config });
    const session = await openSession(at(http, 'dev'));
    const { headers } = session;
    expect((await session.post(list)).status).toBe(200);
    const get = { ...headers, 'Content-Type': undefined, Accept: 'text/event-stream' };
    for (const group of [undefined, 'ops']) {
      const url = at(http, group);
      expect((await send(url, { headers, body: list })).status).toBe(404);
      expect((await send(url, { headers, body: `[${list}]` })).status).toBe(404);
      expect((await send(url, { method: 'GET', headers: get })).status).toBe(404);
      expect((await send(url, { method: 'DELETE', headers: get })).status).toBe(404);
    }
    const whole = await openSession(http.url);
    expect((await send(at(http, 'dev'), { headers: whole.headers, body: list })).status).toBe(404);
    expect((await session.post(list)).status).toBe(200);
  });
});

describe('a reload of groups', () => {
  test('a reload changes the groups of sessions, notifies only these, and restarts nothing', async () => {
    const { entry, starts } = counted(fixture('echo'));
    const mcpServers = { echo: entry, other: serverWith(['open'], 'other') };
    const config = (groups: Record<string, string[]>, more: object = {}): McpConfig => ({
      mcpServers: { ...mcpServers, echo: { ...entry, ...more } },
      groups,
    });
    await using http = await serveTest(mcpServers, {
      config: { groups: { dev: ['echo:add'], ops: ['other'] } },
    });
    const dev = await openSession(at(http, 'dev'));
    const ops = await openSession(at(http, 'ops'));
    const [heardDev, heardOps]: [string[], string[]] = [[], []];
    void collect(await dev.listen(), heardDev);
    void collect(await ops.listen(), heardOps);
    const tools = async (session: LegacyClient): Promise<string[]> =>
      namesIn((await session.post(rpc('tools/list', {}, 1))).json);
    expect(await tools(dev)).toEqual(['echo:add']);

    const steps: [McpConfig, string[]][] = [
      [config({ dev: ['echo:a*', 'echo:echo'], ops: ['other'] }), ['echo:echo', 'echo:add']],
      [config({ dev: ['echo:a*', 'echo:echo'], ops: ['other'] }, { excludeTools: ['add'] }), ['echo:echo']],
      [config({ dev: ['echo:echo'], ops: ['other'] }, { tools: { echo: { rename: 'say' } } }), ['echo:say']],
    ];
    for (const [index, [next, names]] of steps.entries()) {
      await http.gateway.reload(next);
      await until(() => heardDev.length === index + 1);
      expect(await tools(dev)).toEqual(names);
    }
    // The part that the group has stays the same.
    await http.gateway.reload(
      config({ dev: ['echo:echo', 'echo:ech?'], ops: ['other'] }, { tools: { echo: { rename: 'say' } } }),
    );
    await new Promise((resolve) => setTimeout(resolve, 150));
    expect(heardDev).toEqual(Array(steps.length).fill('tools/list_changed'));
    expect(heardOps).toEqual([]);
    expect(http.logged.join('\n')).toContain('Config reloaded; groups changed: dev');
    expect(starts()).toBe(1);
  });

  test('a reload sends list_changed in both eras to the clients whose lists differ, and to no others', async () => {
    const own = ['read', 'write', 'stat'];
    const files = serverWith(own, 'files');
    const other = serverWith(['open'], 'other');
    const config = (entry: Json = {}, dev = ['files:read', 'files:write']): McpConfig => ({
      mcpServers: { files: { ...files, ...entry }, other },
      groups: { dev, ops: ['files:stat', 'other'], away: ['other'] },
    });
    const described = { tools: { read: { rename: 'get', description: 'Gets.' } } };
    /** A change, whose clients hear of it, and what the group `dev` has afterwards. */
    const steps: [change: McpConfig, hears: string[], dev: string[]][] = [
      [config({ includeTools: ['read', 'stat'] }), ['all', 'dev'], ['read']],
      [config({ includeTools: ['*'] }), ['all', 'dev'], ['read', 'write']],
      [config({ excludeTools: ['stat'] }), ['all', 'ops'], ['read', 'write']],
      [config({ excludeTools: ['write'] }), ['all', 'dev', 'ops'], ['read']],
      [config({ tools: { stat: { rename: 'state' } } }), ['all', 'dev', 'ops'], ['read', 'write']],
      [config({ tools: { read: { rename: 'get' } } }), ['all', 'dev', 'ops'], ['get', 'write']],
      [config(described), ['all', 'dev'], ['get Gets.', 'write']],
      [config(described, ['files:read']), ['dev'], ['get Gets.']],
      [config(described, ['files:get', 'files:re??']), [], ['get Gets.']],
      [config({ ...described, timeout: 5000 }, ['files:re*']), [], ['get Gets.']],
      [config(described, ['other']), ['dev'], []],
      [config({}, ['files']), ['all', 'dev'], ['read', 'write', 'stat']],
    ];
    await using http = await serveTest({ files, other }, { config: { groups: config().groups ?? {} } });
    const groups = ['all', 'dev', 'ops', 'away'];
    const heard = new Map(groups.flatMap((group) => ERAS.map((era) => [`${group} ${era}`, [] as string[]])));
    const asks = new Map<string, Ask>();
    for (const group of groups) {
      const url = at(http, group === 'all' ? undefined : group);
      const session = await openSession(url);
      void collect(await session.listen(), heard.get(`${group} legacy`) ?? []);
      const listen = modern('subscriptions/listen', { notifications: { toolsListChanged: true } });
      void collect(new Events(await openHttp(url, listen)), heard.get(`${group} modern`) ?? []);
      await until(() => heard.get(`${group} modern`)?.length === 1);
      for (const era of ERAS)
        asks.set(`${group} ${era}`, await asking(http, group === 'all' ? undefined : group, era));
    }
    const expected = new Map(Array.from(heard, ([who, events]) => [who, [...events]]));
    for (const [change, hears, dev] of steps) {
      await http.gateway.reload(change);
      for (const [who, events] of expected)
        if (hears.includes(who.split(' ')[0] ?? '')) events.push('tools/list_changed');
      await until(() =>
        [...heard].every(([who, events]) => events.length >= (expected.get(who)?.length ?? 0)),
      );
      expect(Object.fromEntries(heard)).toEqual(Object.fromEntries(expected));
      for (const era of ERAS) {
        const ask = asks.get(`dev ${era}`) as Ask;
        const { result } = await ask('tools/list');
        const tools = result?.['tools'] as { name: string; description?: string }[];
        const shown = tools
          .filter(({ name }) => name.startsWith('files:'))
          .map(({ name, description = '' }) => [
            name.slice('files:'.length),
            ...(description.startsWith('The tool ') ? [] : [description]),
          ]);
        expect(shown.map((parts) => parts.join(' '))).toEqual(dev);
        const names = new Set(shown.map(([name]) => name));
        for (const name of [...own, 'get', 'state'])
          for (const alias of [`files:${name}`, `files__${name}`, name]) {
            const { error } = await ask('tools/call', { name: alias, arguments: {} });
            expect([dev, alias, error === undefined]).toEqual([dev, alias, names.has(name)]);
          }
      }
    }
    await new Promise((resolve) => setTimeout(resolve, 150));
    expect(Object.fromEntries(heard)).toEqual(Object.fromEntries(expected));
  });

  test('sessions of a removed group get 404 until the group is back', async () => {
    const mcpServers = { files: serverWith(['read'], 'files') };
    await using http = await serveTest(mcpServers, { config: { groups: { dev: ['files'] } } });
    const session = await openSession(at(http, 'dev'));
    const heard: string[] = [];
    void collect(await session.listen(), heard);
    const list = rpc('tools/list', {}, 1);
    for (let round = 0; round < 2; round++) {
      await http.gateway.reload({ mcpServers });
      await until(() => heard.length === 2 * round + 1);
      expect((await session.post(list)).status).toBe(404);
      expect((await send(at(http, 'dev'), modern('tools/list'))).status).toBe(404);
      expect(() => http.gateway.group('dev')).toThrow('There is no group');
      await http.gateway.reload({ mcpServers, groups: { dev: ['files'] } });
      await until(() => heard.length === 2 * round + 2);
      expect(namesIn((await session.post(list)).json)).toEqual(['files:read']);
    }
    await session.end();
    // No session has its view any more.
    await http.gateway.reload({ mcpServers, groups: { next: ['files'] } });
    await http.gateway.reload({ mcpServers, groups: { next: ['files:read'] } });
    expect(http.gateway.fronts.findView('dev')).toBeUndefined();
    expect((await send(at(http, 'next'), modern('tools/list'))).status).toBe(200);
  });

  test('a reload ends subscriptions to resources that a group no longer has', async () => {
    const mcpServers = { notes: fixture('resources', 'note'), other: serverWith(['open']) };
    await using client = serveInProcess(mcpServers, { config: { groups: { dev: ['notes'] } }, group: 'dev' });
    await client.initialize();
    const uri = 'note://one';
    expect((await client.request('resources/subscribe', { uri })).error).toBeUndefined();
    expect(textOf(await client.callTool('notes:touch', { uri }))).toBe('true');
    await client.call('notifications/resources/updated');
    await client.gateway.reload({ mcpServers, groups: { dev: ['notes:*'] } });
    await client.call('notifications/resources/list_changed');
    expect(textOf(await client.callTool('notes:touch', { uri }))).toBe('true');
    expect(client.messages.filter(({ method }) => method === 'notifications/resources/updated')).toHaveLength(
      1,
    );
    expect((await client.request('resources/read', { uri })).error?.message).toContain('Resource not found');
  });

  test('a reload that removes a group empties the lists of its client on stdio, with a notice', async () => {
    const mcpServers = { files: serverWith(['read'], 'files') };
    await using client = serveInProcess(mcpServers, { config: { groups: { dev: ['files'] } }, group: 'dev' });
    expect(await client.tools()).toEqual(['files:read']);
    await client.gateway.reload({ mcpServers });
    await client.call('notifications/tools/list_changed');
    expect(await client.tools()).toEqual([]);
    expect((await client.callTool('files:read')).error?.message).toBe('Tool not found: files:read');
  });
});

/** Sends a request to a path exactly as it is written: a URL would be put right. */
async function raw(http: HttpTest, path: string, { headers, body }: Sent): Promise<Answer> {
  const { hostname, port } = new URL(http.url);
  const socket = connect(Number(port), hostname);
  const text = wireText(http.url, { headers: { ...headers, Connection: 'close' }, body: body ?? '' });
  socket.end(text.replace(' /mcp ', ` ${path} `));
  let answer = '';
  for await (const chunk of socket.setEncoding('utf8')) answer += String(chunk);
  const [head = '', ...rest] = answer.split('\r\n\r\n');
  const json = rest.join('').match(/\{.*\}/su)?.[0] ?? '{}';
  return {
    status: Number(head.split(' ')[1]),
    headers: {},
    text: answer,
    json: JSON.parse(json) as Received,
  };
}

/** Notes the methods of the notifications in a stream, without their first word. */
async function collect(events: Events, heard: string[]): Promise<void> {
  for (let event = await events.next(); event !== undefined; event = await events.next())
    if (event.data?.method !== undefined) heard.push(event.data.method.replace('notifications/', ''));
}
