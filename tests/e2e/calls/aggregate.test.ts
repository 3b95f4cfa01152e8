// Several servers merged into one: instructions, capabilities, empty lists, cache hints, apps.
import { describe, expect } from 'vitest';
import { fleet } from '../../fleet/fleet.ts';
import {
  fixture,
  modernMeta,
  scripted,
  temporaryFolder,
  textOf,
  Weir,
  type Era,
  type Json,
  type ServerEntry,
} from '../../support/harness.ts';
import { open, serveInProcess, type Ask, type InProcess } from '../../support/in-process.ts';
import { itemsOf, type LineClient } from '../../support/line-client.ts';
import { verifies } from '../../verifies.ts';

const ERAS: readonly Era[] = ['legacy', 'modern'];

/** A server that offers only these instructions. */
function instructed(instructions: unknown): ServerEntry {
  return scripted(`
    import { serve } from 'stdio';
    serve({ name: 'instructed', capabilities: {}, instructions: ${JSON.stringify(instructions)} });
  `);
}

/** Returns the gateway's description of itself once all servers are up. */
async function introduced(weir: InProcess, era: Era): Promise<Json> {
  const ask = await open(weir, era);
  await ask('tools/list');
  const again = era === 'modern' ? await ask('server/discover') : await weir.initialize();
  return again.result ?? {};
}

describe.each(ERAS)('instructions for a client of the %s era', (era) => {
  verifies('AGG-CALL-3', 'the gateway passes on the instructions of an only server unchanged', async () => {
    await using weir = serveInProcess({ a: instructed('  Mind the *gap*.\n') });
    expect((await introduced(weir, era))['instructions']).toBe('  Mind the *gap*.\n');
  });

  verifies(
    'AGG-CALL-3',
    'the gateway lists instructions of several servers under their keys, in config order',
    async () => {
      await using weir = serveInProcess({
        slow: fixture('legacy-tasks', 'first'),
        none: instructed(undefined),
        modern: fixture('modern'),
        blank: instructed(' \n'),
      });
      expect((await introduced(weir, era))['instructions']).toBe(
        '## slow\n\nUse first with care.\n\n## modern\n\nOnly 2026-07-28.',
      );
    },
  );

  verifies('AGG-CALL-3', 'the gateway gives no instructions where no server gives any', async () => {
    await using weir = serveInProcess({ a: instructed(undefined), b: instructed(7) });
    expect(await introduced(weir, era)).not.toHaveProperty('instructions');
  });
});

verifies(
  'AGG-CALL-3',
  'the gateway cuts instructions that are too long, each to its share, and says so',
  async () => {
    const endless = 'x'.repeat(100_000);
    await using weir = serveInProcess({ a: instructed(endless), b: instructed('Short.') });
    const text = String((await introduced(weir, 'legacy'))['instructions']);
    expect(text.length).toBeLessThanOrEqual(2000);
    expect(text).toMatch(/^## a\n\nx{1800,} \[…\]\n\n## b\n\nShort\.\n\n\[Some texts are cut\. .*\]$/);
  },
);

verifies('ERA-4', 'the first answer waits for no server and offers all that servers may have', async () => {
  await using weir = serveInProcess({ a: fixture('slow-start'), b: fixture('legacy-tasks') });
  const { result } = await weir.initialize();
  expect(result).toMatchObject({ capabilities: { tasks: { requests: { tools: { call: {} } } } } });
  expect(result).not.toHaveProperty('instructions');
});

describe('capabilities of the gateway once its servers are known', () => {
  const CARRIED = { tasks: { list: {}, cancel: {}, requests: { tools: { call: {} } } } };
  const EXTENSION = { extensions: { 'io.modelcontextprotocol/tasks': {} } };

  verifies('AGG-CALL-3', 'the gateway offers tasks where a server of the same era has them', async () => {
    await using weir = serveInProcess({ a: fixture('legacy-tasks'), b: fixture('modern-tasks') });
    const legacy = await introduced(weir, 'legacy');
    expect(legacy['capabilities']).toMatchObject(CARRIED);
    expect(legacy['capabilities']).not.toHaveProperty('extensions');
    const modern = await weir.request('server/discover', modernMeta());
    expect(modern.result?.['capabilities']).toMatchObject(EXTENSION);
    expect(modern.result?.['capabilities']).not.toHaveProperty('tasks');
  });

  verifies('AGG-CALL-3', 'the gateway offers no tasks where no server has any', async () => {
    await using weir = serveInProcess({ a: fixture('echo'), b: fixture('modern') });
    expect((await introduced(weir, 'legacy'))['capabilities']).not.toHaveProperty('tasks');
    const modern = await weir.request('server/discover', modernMeta());
    expect(modern.result?.['capabilities']).not.toHaveProperty('extensions');
  });
});

const SERVERS: Record<string, Record<string, ServerEntry>> = {
  'no server': {},
  'servers with tools alone': { a: fixture('echo'), b: fixture('echo') },
};

describe.each(ERAS)('offered capabilities for a client of the %s era', (era) => {
  for (const [what, servers] of Object.entries(SERVERS)) {
    verifies('AGG-CALL-3', `every offered method answers with ${what}`, async () => {
      await using weir = serveInProcess(servers);
      const ask = await open(weir, era);
      const lists = ['prompts', 'resources', 'resourceTemplates'];
      for (const [index, method] of ['prompts/list', 'resources/list', 'resources/templates/list'].entries())
        expect((await ask(method)).result).toMatchObject({ [lists[index]!]: [] });
      expect(itemsOf(await ask('tools/list'), 'tools').length > 0).toBe(servers['a'] !== undefined);
      await answersOthers(ask, era, weir);
    });
  }
});

async function answersOthers(ask: Ask, era: Era, weir: InProcess): Promise<void> {
  const argument = { name: 'a', value: '' };
  const refs = [{ type: 'ref/prompt', name: 'none' }, { type: 'ref/resource', uri: 'none://x' }, {}];
  for (const ref of refs)
    expect((await ask('completion/complete', { ref, argument })).error?.code).toBe(-32602);
  expect((await ask('prompts/get', { name: 'none' })).error?.code).toBe(-32602);
  expect((await ask('resources/read', { uri: 'none://x' })).error?.code).toBe(-32602);
  expect((await ask('tools/call', { name: 'none' })).error?.code).toBe(-32602);
  if (era === 'legacy') {
    expect((await ask('logging/setLevel', { level: 'error' })).result).toEqual({});
    expect((await ask('tasks/list')).result).toEqual({ tasks: [] });
    expect((await ask('tasks/get', { taskId: 'a~1' })).error?.code).toBe(-32602);
    expect((await ask('resources/subscribe', { uri: 'none://x' })).error?.code).toBe(-32602);
    return;
  }
  const resourceSubscriptions = ['none://x'];
  weir.send({
    id: 'listen',
    method: 'subscriptions/listen',
    params: { notifications: { toolsListChanged: true, resourceSubscriptions }, ...modernMeta() },
  });
  const { params } = await weir.call('notifications/subscriptions/acknowledged');
  expect(params?.['notifications']).toEqual({ toolsListChanged: true, resourceSubscriptions: [] });
}

/** A modern server whose lists have these cache hints. */
function hinting(ttlMs: number, cacheScope: string): ServerEntry {
  return scripted(`
    import { answer, readMessages, tool } from 'stdio';
    const complete = (result) => ({ resultType: 'complete', ttlMs: ${ttlMs}, cacheScope: '${cacheScope}', ...result });
    const capabilities = { tools: {}, resources: {} };
    const methods = {
      'server/discover': () => complete({ supportedVersions: ['2026-07-28'], capabilities }),
      'tools/list': () => complete({ tools: [tool('t')] }),
      'resources/list': () => complete({ resources: [{ uri: 'hint://${ttlMs}', name: 'r' }] }),
      'resources/read': ({ uri }) => complete({ contents: [{ uri, text: '' }] }),
    };
    readMessages((message) => answer(methods, message));
  `);
}

describe('cache hints', () => {
  const hintsOf = ({ result }: { result?: Json }): unknown => [result?.['ttlMs'], result?.['cacheScope']];

  verifies('ERA-5', 'a list gets the shortest and most private cache hints of its servers', async () => {
    const lists = async (servers: Record<string, ServerEntry>): Promise<unknown> => {
      await using weir = serveInProcess(servers);
      return hintsOf(await (await open(weir, 'modern'))('tools/list'));
    };
    const [long, short, secret] = [hinting(9000, 'public'), hinting(500, 'public'), hinting(7000, 'private')];
    expect(await lists({ long })).toEqual([9000, 'public']);
    expect(await lists({ long, short })).toEqual([500, 'public']);
    expect(await lists({ long, secret })).toEqual([7000, 'private']);
    expect(await lists({ long, old: fixture('echo') })).toEqual([0, 'private']);
    expect(await lists({})).toEqual([0, 'private']);
  });

  verifies('ERA-5', "a read resource keeps its server's cache hints; a legacy client gets none", async () => {
    const servers = { a: hinting(9000, 'public'), b: fixture('resources') };
    await using weir = serveInProcess(servers);
    const ask = await open(weir, 'modern');
    expect(hintsOf(await ask('resources/read', { uri: 'hint://9000' }))).toEqual([9000, 'public']);
    expect(hintsOf(await ask('resources/read', { uri: 'note://one' }))).toEqual([0, 'private']);
    await using old = serveInProcess(servers);
    const askOld = await open(old, 'legacy');
    for (const method of ['tools/list', 'resources/list'])
      expect(hintsOf(await askOld(method))).toEqual([undefined, undefined]);
    expect(hintsOf(await askOld('resources/read', { uri: 'hint://9000' }))).toEqual([undefined, undefined]);
  });
});

describe.each(ERAS)('trace context of a client of the %s era', (era) => {
  const trace = {
    traceparent: '00-0af7651916cd43dd8448eb211c80319c-00f067aa0ba902b7-01',
    tracestate: 'vendor=1',
    baggage: 'userId=alice',
  };

  verifies('ERA-5', 'trace context reaches servers of both eras unchanged', async () => {
    await using weir = serveInProcess({ old: fixture('echo'), modern: fixture('modern') });
    const ask = await open(weir, era);
    for (const name of ['old:meta', 'modern:meta']) {
      const answer = await ask('tools/call', { name }, trace);
      expect(JSON.parse(textOf(answer))).toMatchObject(trace);
    }
  });
});

interface App {
  name: string;
  _meta?: { ui?: { resourceUri?: unknown }; 'ui/resourceUri'?: string };
}

/** The resource that each tool with an app names, by tool. */
async function appsOf(ask: Ask): Promise<Map<string, string>> {
  const tools = itemsOf<App>(await ask('tools/list'), 'tools');
  const apps = tools.map(({ name, _meta }) => [name, _meta?.ui?.resourceUri ?? _meta?.['ui/resourceUri']]);
  return new Map(apps.filter((app): app is [string, string] => typeof app[1] === 'string'));
}

describe('apps', () => {
  verifies('AGG-CALL-3', 'apps of one server keep their URIs and can be read, listed or not', async () => {
    await using weir = serveInProcess({ a: fixture('apps', 'A'), b: fixture('resources') });
    const ask = await open(weir, 'legacy');
    expect([...(await appsOf(ask)).values()]).toEqual(['ui://app/listed.html', 'ui://app/hidden.html']);
    for (const uri of ['ui://app/listed.html', 'ui://app/hidden.html']) {
      const [page] = itemsOf(await ask('resources/read', { uri }), 'contents');
      expect(page).toMatchObject({ uri, text: '<h1>A</h1>', _meta: { ui: { csp: {} } } });
    }
  });

  verifies(
    'AGG-CALL-3',
    'apps of several servers under one URI get different URIs of the same scheme',
    async () => {
      await using weir = serveInProcess({ a: fixture('apps', 'A'), 'b c': fixture('apps', 'B') });
      const ask = await open(weir, 'modern');
      const tools = itemsOf<App>(await ask('tools/list'), 'tools');
      expect(tools[0]?._meta).toEqual({
        ui: { resourceUri: 'ui://weir.a/ui%3A%2F%2Fapp%2Flisted.html', visibility: ['model'] },
        'ui/resourceUri': 'ui://weir.a/ui%3A%2F%2Fapp%2Flisted.html',
      });
      expect(tools[2]?._meta?.ui).toEqual({ resourceUri: 7 });
      // Only tools have apps.
      const prompts = itemsOf<App>(await ask('prompts/list'), 'prompts');
      expect(prompts.map(({ _meta }) => _meta?.ui?.resourceUri)).toEqual(
        Array(2).fill('ui://app/listed.html'),
      );
      for (const [name, uri] of await appsOf(ask)) {
        const [page] = itemsOf(await ask('resources/read', { uri }), 'contents');
        const label = name.startsWith('a:') ? 'A' : 'B';
        expect(new URL(uri).protocol).toBe('ui:');
        expect(page).toMatchObject({ uri, text: `<h1>${label}</h1>` });
      }
      const ambiguous = await ask('resources/read', { uri: 'ui://app/listed.html' });
      expect(ambiguous.error?.message).toContain('ui://weir.b%20c/ui%3A%2F%2Fapp%2Flisted.html');
    },
  );

  verifies(
    'AGG-CALL-3',
    'clients get a notice when an app gets a new URI because another server lists the old one',
    async () => {
      await using weir = serveInProcess({ a: fixture('apps', 'A'), b: fixture('resources') });
      const ask = await open(weir, 'legacy');
      await ask('tools/call', { name: 'b:add', arguments: { uri: 'ui://app/listed.html' } });
      await weir.call('notifications/tools/list_changed');
      expect((await appsOf(ask)).get('a:show')).toBe('ui://weir.a/ui%3A%2F%2Fapp%2Flisted.html');
    },
  );

  verifies.slow(
    'AGG-CALL-3',
    'apps of real servers read as they do directly, also where each server runs twice',
    async () => {
      const { pdf, map, threejs, react } = fleet(temporaryFolder());
      const single = { pdf, map, threejs, react } as Record<string, ServerEntry>;
      const twice = Object.entries(single).flatMap(([key, entry]) => [
        [`${key}1`, entry],
        [`${key}2`, entry],
      ]);
      const direct = new Map<string, string>();
      for (const [key, { command = '', args = [] }] of Object.entries(single)) {
        await using server = new Weir({ command, args, env: {}, cwd: temporaryFolder() });
        direct.set(key, (await readApps(server)).join());
      }
      await using once = serveInProcess(single, { startupTimeout: 30_000 });
      expect(await readApps(once)).toEqual([...direct.values()]);
      await using both = serveInProcess(Object.fromEntries(twice) as Record<string, ServerEntry>, {
        startupTimeout: 30_000,
      });
      expect(await readApps(both)).toEqual([...direct.values()].flatMap((text) => [text, text]));
    },
  );
});

/** All that is read of the apps that tools name, but for their URIs. */
async function readApps(client: LineClient): Promise<string[]> {
  const ask = await open(client, 'legacy');
  const pages: string[] = [];
  for (const uri of (await appsOf(ask)).values()) {
    expect(uri).toMatch(/^ui:\/\//);
    const answer = await ask('resources/read', { uri });
    expect(itemsOf<{ uri: string }>(answer, 'contents')[0]?.uri).toBe(uri);
    pages.push(JSON.stringify(answer.result).replaceAll(JSON.stringify(uri), '""'));
  }
  return pages;
}
