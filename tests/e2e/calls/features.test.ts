// Everything that is not a tool call, in every combination of a client's era and a server's.
import { describe, expect } from 'vitest';
import { connectClient, type AnotherClient } from '../../support/clients.ts';
import {
  commandFor,
  connectSdk,
  fixture,
  modernMeta,
  scripted,
  textOf,
  type Era,
  type Json,
  type Received,
  type ServerEntry,
} from '../../support/harness.ts';
import { createTestGateway, open, serveInProcess, type InProcess } from '../../support/in-process.ts';
import { itemsOf, type LineClient } from '../../support/line-client.ts';
import { verifies } from '../../verifies.ts';

interface Pair {
  readonly from: Era;
  readonly to: Era;
}

const PAIRS: readonly Pair[] = [
  { from: 'legacy', to: 'legacy' },
  { from: 'legacy', to: 'modern' },
  { from: 'modern', to: 'legacy' },
  { from: 'modern', to: 'modern' },
];

const SUBSCRIPTION_ID = 'io.modelcontextprotocol/subscriptionId';
const LOG_LEVEL = 'io.modelcontextprotocol/logLevel';

/** A server of this era with resources, templates, prompts and completions, and what its URIs begin with. */
const rich: Record<Era, { entry: ServerEntry; scheme: string }> = {
  legacy: { entry: fixture('resources', 'note'), scheme: 'note' },
  modern: { entry: fixture('modern'), scheme: 'modern' },
};

describe.each(PAIRS)('a $from client of a $to server', ({ from, to }) => {
  const { entry, scheme } = rich[to];

  verifies(['AGG-CALL-3', 'ERA-1'], 'a client lists and reads resources and templates', async () => {
    await using weir = serveInProcess({ s: entry });
    const ask = await open(weir, from);
    const listed = itemsOf<{ uri: string }>(await ask('resources/list'), 'resources');
    expect(listed[0]?.uri).toBe(`${scheme}://one`);
    expect((await ask('resources/templates/list')).result?.['resourceTemplates']).toEqual([
      { uriTemplate: `${scheme}://item/{id}`, name: 'item' },
    ]);
    for (const uri of [`${scheme}://one`, `${scheme}://item/7`]) {
      const { result } = await ask('resources/read', { uri });
      expect(result?.['contents']).toEqual([{ uri, mimeType: 'text/plain', text: `${scheme}: ${uri}` }]);
    }
  });

  verifies(
    ['AGG-CALL-3', 'ERA-1'],
    'a client gets the error of its own revision for a missing resource',
    async () => {
      await using weir = serveInProcess({ s: entry });
      const ask = await open(weir, from);
      const { error } = await ask('resources/read', { uri: 'nobody://knows' });
      expect(error).toMatchObject({
        code: from === 'legacy' && to === 'legacy' ? -32002 : -32602,
        message: 'Resource not found: nobody://knows',
      });
    },
  );

  verifies(['AGG-CALL-3', 'ERA-1'], 'a client lists, gets and completes prompts', async () => {
    await using weir = serveInProcess({ s: entry });
    const ask = await open(weir, from);
    expect((await ask('prompts/list')).result?.['prompts']).toMatchObject([{ name: 's:greet' }]);
    const { result } = await ask('prompts/get', { name: 's:greet', arguments: { who: 'Ada' } });
    expect(result?.['messages']).toMatchObject([
      { content: { type: 'text', text: 'Hello Ada' } },
      ...(to === 'legacy' ? [{}] : []),
    ]);
    for (const ref of [
      { type: 'ref/prompt', name: 's:greet' },
      { type: 'ref/resource', uri: `${scheme}://item/{id}` },
    ]) {
      const { result } = await ask('completion/complete', { ref, argument: { name: 'who', value: 'b' } });
      expect(result?.['completion']).toMatchObject({ values: ['beta'] });
    }
    expect((await ask('prompts/get', { name: 's:nobody' })).error).toMatchObject({
      code: -32602,
      message: 'Prompt not found: s:nobody',
    });
  });

  verifies(
    ['AGG-CALL-3', 'ERA-1'],
    'a client gets all progress of its call, and none after the result',
    async () => {
      await using weir = serveInProcess({ s: fixture(to === 'legacy' ? 'progress' : 'modern') });
      const ask = await open(weir, from);
      const before = weir.messages.length;
      await ask('tools/call', { name: 's:progress' }, { progressToken: 'mine' });
      await ask('tools/call', { name: 's:progress' });
      const seen = weir.messages
        .slice(before)
        .map(({ params, result }) => (result ? 'result' : [params?.['progressToken'], params?.['progress']]));
      expect(seen).toEqual([['mine', 1], ['mine', 2], ['mine', 3], 'result', 'result']);
    },
  );

  verifies(
    ['AGG-CALL-3', 'ERA-1'],
    'a cancellation reaches the server under its own id, and the call gets no answer',
    async () => {
      await using weir = serveInProcess({ s: fixture(to === 'legacy' ? 'stall' : 'modern') });
      const ask = await open(weir, from);
      await ask('tools/list');
      const params = { name: 's:stall', ...(from === 'modern' && modernMeta()) };
      weir.send({ id: 'stalled', method: 'tools/call', params });
      weir.notify('notifications/cancelled', {
        requestId: 'stalled',
        reason: 'changed my mind',
        'x-more': 1,
      });
      const { result } = await ask('tools/call', { name: 's:cancelled' });
      expect(result?.['structuredContent']).toMatchObject({
        known: true,
        cancelled: [{ requestId: expect.any(Number) as number, reason: 'changed my mind', 'x-more': 1 }],
      });
      expect(weir.messages.filter(({ id }) => id === 'stalled')).toEqual([]);
    },
  );

  verifies(
    ['AGG-CALL-3', 'ERA-1'],
    'a client gets updates of a resource while it is subscribed',
    async () => {
      await using weir = serveInProcess({ s: entry });
      const ask = await open(weir, from);
      const uri = `${scheme}://one`;
      const touch = (): Promise<Received> => ask('tools/call', { name: 's:touch', arguments: { uri } });
      const watch = await watching(weir, from, uri);
      await touch();
      const { params } = await weir.call('notifications/resources/updated');
      expect(params).toMatchObject(watch.expected);
      if (from === 'legacy') expect(JSON.stringify(params)).not.toContain(SUBSCRIPTION_ID);
      await watch.end();
      // A server may send updates after the unsubscription; this one must not.
      expect(textOf(await touch())).toBe(to === 'legacy' ? 'false' : '0');
      expect(weir.messages.filter(({ method }) => method === 'notifications/resources/updated')).toHaveLength(
        1,
      );
    },
  );
});

describe.each(PAIRS)('a $from client of a $to server', ({ from, to }) => {
  verifies(['AGG-REG-2', 'ERA-2'], 'a client gets a notice when a list changes', async () => {
    await using weir = serveInProcess({ s: fixture(to === 'legacy' ? 'changing-lists' : 'modern') });
    const ask = await open(weir, from);
    await ask('tools/list');
    const params = { notifications: { toolsListChanged: true }, ...modernMeta() };
    if (from === 'modern') weir.send({ id: 'listen', method: 'subscriptions/listen', params });
    await ask('tools/call', { name: 's:add', arguments: { name: 'new' } });
    const heard = await weir.call('notifications/tools/list_changed');
    expect(heard.params).toEqual(from === 'modern' ? { _meta: { [SUBSCRIPTION_ID]: 'listen' } } : undefined);
    const names = itemsOf<{ name: string }>(await ask('tools/list'), 'tools').map(({ name }) => name);
    expect(names).toContain('s:new');
  });
});

const isUpdate = ({ method }: Received): boolean => method === 'notifications/resources/updated';

/** Watches a resource as a client of this era does. */
async function watching(
  weir: LineClient,
  era: Era,
  uri: string,
): Promise<{ expected: Json; end(): Promise<void> }> {
  if (era === 'legacy') {
    expect((await weir.request('resources/subscribe', { uri })).result).toEqual({});
    return {
      expected: { uri },
      end: async () => void (await weir.request('resources/unsubscribe', { uri })),
    };
  }
  weir.send({
    id: 'listen',
    method: 'subscriptions/listen',
    params: { notifications: { resourceSubscriptions: [uri] }, ...modernMeta() },
  });
  const _meta = { [SUBSCRIPTION_ID]: 'listen' };
  const { params } = await weir.call('notifications/subscriptions/acknowledged');
  expect(params).toEqual({ notifications: { resourceSubscriptions: [uri] }, _meta });
  const end = async (): Promise<void> => weir.notify('notifications/cancelled', { requestId: 'listen' });
  return { expected: { uri, _meta }, end };
}

describe('subscriptions', () => {
  verifies(
    ['AGG-CALL-3', 'ERA-1'],
    'modern subscriptions are separate, tagged with their id, and filtered',
    async () => {
      await using weir = serveInProcess({ c: fixture('changing-lists'), m: fixture('modern') });
      const ask = await open(weir, 'modern');
      await ask('tools/list');
      const listen = (id: string | number, notifications: Json): void =>
        weir.send({ id, method: 'subscriptions/listen', params: { notifications, ...modernMeta() } });
      listen('tools', { toolsListChanged: true, promptsListChanged: false });
      listen(77, { promptsListChanged: true, resourceSubscriptions: ['modern://one', 'nobody://knows'] });
      const acknowledged = [
        (await weir.call('notifications/subscriptions/acknowledged')).params,
        (await weir.call('notifications/subscriptions/acknowledged')).params,
      ];
      expect(acknowledged).toEqual([
        { notifications: { toolsListChanged: true }, _meta: { [SUBSCRIPTION_ID]: 'tools' } },
        {
          notifications: { promptsListChanged: true, resourceSubscriptions: ['modern://one'] },
          _meta: { [SUBSCRIPTION_ID]: 77 },
        },
      ]);
      for (const kind of ['resources', 'prompts', 'tools'])
        await ask('tools/call', { name: 'c:add', arguments: { kind, name: 'new' } });
      await ask('tools/call', { name: 'm:touch' });
      expect((await weir.call('notifications/prompts/list_changed')).params).toEqual({
        _meta: { [SUBSCRIPTION_ID]: 77 },
      });
      expect((await weir.call('notifications/tools/list_changed')).params).toEqual({
        _meta: { [SUBSCRIPTION_ID]: 'tools' },
      });
      expect((await weir.call('notifications/resources/updated')).params).toEqual({
        uri: 'modern://one',
        _meta: { [SUBSCRIPTION_ID]: 77 },
      });
      expect(weir.messages.filter(({ method }) => method === 'notifications/resources/list_changed')).toEqual(
        [],
      );
    },
  );

  verifies(
    ['AGG-CALL-3', 'ERA-2'],
    'a resource stays subscribed at its server until the last client of either era ends',
    async () => {
      const gateway = createTestGateway({ r: fixture('resources') });
      const [leaving, staying, modern] = ['leaving', 'staying', 'modern'].map((name) =>
        connectClient(gateway, name),
      ) as [AnotherClient, AnotherClient, AnotherClient];
      const clients = [leaving, staying, modern].map(({ client }) => client);
      const uri = 'note://one';
      gateway.fronts.lifecycle.declareCapabilities('{}');
      await gateway.start();
      for (const { client } of [leaving, staying]) {
        await client.initialize();
        expect((await client.request('resources/subscribe', { uri })).result).toEqual({});
      }
      await watching(modern.client, 'modern', uri);
      const subscribed = async (): Promise<string> => textOf(await staying.client.callTool('r:subscribed'));
      const touched = async (): Promise<number[]> => {
        await staying.client.callTool('r:touch', { uri });
        for (const client of clients) await client.request('tools/list', modernMeta());
        return clients.map(({ messages }) => messages.filter(isUpdate).length);
      };
      expect(await touched()).toEqual([1, 1, 1]);
      expect((await leaving.client.request('resources/unsubscribe', { uri })).result).toEqual({});
      expect(await touched()).toEqual([1, 2, 2]);
      modern.client.notify('notifications/cancelled', { requestId: 'listen' });
      expect(await touched()).toEqual([1, 3, 2]);
      await leaving.client.request('resources/subscribe', { uri });
      leaving.leave();
      expect(await subscribed()).toBe(uri);
      expect((await staying.client.request('resources/unsubscribe', { uri })).result).toEqual({
        'x-was': true,
      });
      expect(await subscribed()).toBe('');
      await gateway.close();
    },
  );

  verifies(
    ['AGG-CALL-3', 'ERA-1'],
    'the gateway acknowledges no resource whose server has no subscriptions',
    async () => {
      await using weir = serveInProcess({ c: fixture('changing-lists') });
      const ask = await open(weir, 'modern');
      await ask('tools/call', { name: 'c:add', arguments: { kind: 'resources', name: 'new' } });
      const notifications = { toolsListChanged: true, resourceSubscriptions: ['changes://new'] };
      weir.send({ id: 'l', method: 'subscriptions/listen', params: { notifications, ...modernMeta() } });
      expect((await weir.call('notifications/subscriptions/acknowledged')).params).toMatchObject({
        notifications: { toolsListChanged: true, resourceSubscriptions: [] },
      });
    },
  );

  verifies(['AGG-CALL-3', 'ERA-1'], 'a subscription includes resources below the requested one', async () => {
    const folder = scripted(`
      import { notify, serve, text, tool } from 'stdio';
      serve({
        name: 'folder',
        capabilities: { tools: {}, resources: { subscribe: true } },
        tools: [tool('touch')],
        call: { touch: ({ uri }) => (notify('notifications/resources/updated', { uri }), text('touched')) },
        on: {
          'resources/list': () => ({ resources: [{ uri: 'dir://a', name: 'a' }] }),
          'resources/templates/list': () => ({ resourceTemplates: [] }),
          'resources/subscribe': () => ({}),
        },
      });`);
    await using weir = serveInProcess({ f: folder });
    const ask = await open(weir, 'modern');
    await ask('tools/list');
    await watching(weir, 'modern', 'dir://a');
    for (const uri of ['dir://ab', 'dir://a/b', 'dir://a'])
      await ask('tools/call', { name: 'f:touch', arguments: { uri } });
    const heard = weir.messages.filter(({ method }) => method === 'notifications/resources/updated');
    expect(heard.map(({ params }) => params?.['uri'])).toEqual(['dir://a/b', 'dir://a']);
  });

  verifies(
    ['AGG-REG-2', 'AGG-CALL-3'],
    'the gateway opens a subscription again that a server has ended, and misses no change',
    async () => {
      await using weir = serveInProcess({ m: fixture('modern') });
      const ask = await open(weir, 'modern');
      await watching(weir, 'modern', 'modern://one');
      const call = (tool: string, args?: Json): Promise<Received> =>
        ask('tools/call', { name: `m:${tool}`, ...(args && { arguments: args }) });
      expect(textOf(await call('end-subscriptions'))).toBe('1');
      // No subscription is open at this moment, so the server sends no update.
      expect(textOf(await call('add', { name: 'unheard' }))).toBe('0');
      let heard = '0';
      while (heard === '0') {
        heard = textOf(await call('touch'));
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
      expect((await weir.call('notifications/resources/updated')).params).toMatchObject({
        uri: 'modern://one',
      });
      expect(itemsOf<{ name: string }>(await ask('tools/list'), 'tools').map(({ name }) => name)).toContain(
        'm:unheard',
      );
    },
  );

  verifies('AGG-CALL-3', 'subscriptions end with an empty result when the gateway ends', async () => {
    const weir = serveInProcess({ m: fixture('modern') });
    const ask = await open(weir, 'modern');
    await ask('tools/list');
    weir.send({
      id: 'last',
      method: 'subscriptions/listen',
      params: { notifications: { toolsListChanged: true }, ...modernMeta() },
    });
    await weir.call('notifications/subscriptions/acknowledged');
    const answer = weir.answer('last');
    const began = performance.now();
    await weir.close();
    expect((await answer).result).toEqual({ resultType: 'complete', _meta: { [SUBSCRIPTION_ID]: 'last' } });
    // The gateway does not wait for an answer to it.
    expect(performance.now() - began).toBeLessThan(900);
  });

  verifies(
    ['AGG-CALL-3', 'AGG-REG-2', 'ERA-1'],
    'the SDK client accepts subscriptions of the gateway',
    async () => {
      await using sdk = await connectSdk(
        commandFor({ m: fixture('modern'), n: fixture('resources', 'note') }),
        'modern',
      );
      const { client } = sdk;
      const heard: string[] = [];
      const listed = new Promise<void>((resolve) => {
        client.setNotificationHandler('notifications/tools/list_changed', () => resolve());
      });
      const updated = new Promise<void>((resolve) => {
        client.setNotificationHandler('notifications/resources/updated', ({ params }) => {
          heard.push(params.uri);
          if (heard.length === 2) resolve();
        });
      });
      await client.listTools();
      const uris = ['modern://one', 'note://two'];
      const subscription = await client.listen({ toolsListChanged: true, resourceSubscriptions: uris });
      await client.callTool({ name: 'm:touch', arguments: { uri: 'modern://one' } });
      await client.callTool({ name: 'n:touch', arguments: { uri: 'note://two' } });
      await client.callTool({ name: 'm:add', arguments: { name: 'new' } });
      await Promise.all([listed, updated]);
      expect(heard.toSorted()).toEqual(uris);
      await subscription.close();
      const { tools } = await client.listTools(undefined, { cacheMode: 'refresh' });
      expect(tools.map(({ name }) => name)).toContain('m:new');
    },
  );
});

describe('lists', () => {
  verifies(
    ['AGG-CALL-3', 'AGG-REG-1'],
    'the gateway reads a list of a thousand pages to its end, in order',
    async () => {
      await using weir = serveInProcess({ p: fixture('paged-list', '1000') }, { startupTimeout: 20_000 });
      const names = await weir.tools();
      expect(names).toEqual(Array.from({ length: 1000 }, (_, page) => `p:tool_${page}_0`));
      expect(textOf(await weir.callTool('p:tool_999_0'))).toBe('tool_999_0');
    },
  );

  verifies(
    'AGG-CALL-3',
    'the gateway cuts an endless list off where its cursors repeat, and uses the rest',
    async () => {
      await using weir = serveInProcess({
        p: fixture('paged-list', '3', '2', '--endless'),
        e: fixture('echo'),
      });
      const names = await weir.tools();
      expect(names.slice(0, 4)).toEqual(['p:tool_0_0', 'p:tool_0_1', 'p:tool_1_0', 'p:tool_1_1']);
      expect(names).toContain('e:echo');
      expect(weir.logged.join('\n')).toContain('[p] lists its tools without end; Weir keeps what it got');
    },
  );

  verifies(
    'AGG-CALL-3',
    'the gateway cuts off a list with ever new cursors',
    async () => {
      await using weir = serveInProcess(
        { p: fixture('paged-list', '--endless-new') },
        { startupTimeout: 55_000 },
      );
      await weir.initialize();
      expect(textOf(await weir.callTool('p:tool_9999_0'))).toBe('tool_9999_0');
    },
    60_000,
  );

  verifies('AGG-CALL-3', 'the gateway hands out long lists in pages of its own', async () => {
    await using weir = serveInProcess(
      { m: fixture('many-tools', '9000'), e: fixture('echo') },
      { startupTimeout: 20_000 },
    );
    await weir.initialize();
    const names: string[] = [];
    let cursor: unknown;
    do {
      const page = await weir.request('tools/list', cursor === undefined ? {} : { cursor });
      names.push(...itemsOf<{ name: string }>(page, 'tools').map(({ name }) => name));
      cursor = page.result?.['nextCursor'];
    } while (cursor !== undefined);
    expect(names.slice(0, 9000)).toEqual(Array.from({ length: 9000 }, (_, i) => `m:tool_${i}`));
    expect(names).toHaveLength(9008);
    expect(Math.max(...weir.lines.map((line) => line.length))).toBeLessThan(10 * 1024 * 1024);
    for (const wrong of ['', 'nonsense', 'weir:1']) {
      expect((await weir.request('tools/list', { cursor: wrong })).error).toMatchObject({ code: -32602 });
    }
  });

  verifies('AGG-REG-2', 'clients get one notice for many announcements of a changed list', async () => {
    await using weir = serveInProcess({ c: fixture('changing-lists'), e: fixture('echo') });
    await weir.tools();
    const storm = Array.from({ length: 30 }, (_, i) => weir.callTool('c:add', { name: `new_${i}` }));
    await Promise.all(storm);
    await weir.call('notifications/tools/list_changed');
    const names = await weir.tools();
    expect(names.slice(3, 34)).toEqual(['c:first', ...Array.from({ length: 30 }, (_, i) => `c:new_${i}`)]);
    expect(noticesOf(weir, 'tools')).toBeLessThanOrEqual(3);
    await weir.callTool('c:storm', { times: 100 });
    await weir.callTool('c:remove', { name: 'first' });
    await weir.call('notifications/tools/list_changed');
    expect(await weir.tools()).not.toContain('c:first');
    expect(noticesOf(weir, 'tools')).toBeLessThanOrEqual(6);
    expect(noticesOf(weir, 'prompts') + noticesOf(weir, 'resources')).toBe(0);
  });

  verifies('AGG-REG-2', 'the gateway does not read a list once per notice of a storm', async () => {
    const stormy = scripted(`
      import { notify, serve, text, tool } from 'stdio';
      let lists = 0;
      serve({
        name: 'stormy',
        capabilities: { tools: { listChanged: true } },
        on: { 'tools/list': () => ({ tools: [tool('storm'), tool(String(lists++))] }) },
        call: {
          storm: () => {
            for (let i = 0; i < 500; i++) notify('notifications/tools/list_changed');
            return text('over');
          },
        },
      });`);
    await using weir = serveInProcess({ s: stormy });
    await weir.tools();
    await weir.callTool('s:storm');
    await weir.call('notifications/tools/list_changed');
    const names = await weir.tools();
    // The first list is number 0; one reading may be under way while the storm goes on, one follows it.
    expect(Number(names[1]?.slice(2))).toBeLessThanOrEqual(5);
  });

  verifies('AGG-REG-2', 'changed lists of prompts and of resources have a notice each', async () => {
    await using weir = serveInProcess({ c: fixture('changing-lists'), e: fixture('echo') });
    await weir.tools();
    for (const kind of ['prompts', 'resources']) {
      await weir.callTool('c:add', { kind, name: 'new' });
      await weir.call(`notifications/${kind}/list_changed`);
    }
    expect((await weir.request('prompts/list')).result?.['prompts']).toEqual([{ name: 'c:new' }]);
    expect((await weir.request('resources/list')).result?.['resources']).toEqual([
      { name: 'new', uri: 'changes://new' },
    ]);
    expect(noticesOf(weir, 'tools')).toBe(0);
  });
});

function noticesOf(weir: InProcess, kind: string): number {
  return weir.messages.filter(({ method }) => method === `notifications/${kind}/list_changed`).length;
}

describe('logging', () => {
  verifies(
    'AGG-CALL-3',
    'a log level reaches servers of both eras, and their log messages come back',
    async () => {
      await using weir = serveInProcess({
        n: fixture('resources', 'note'),
        m: fixture('modern'),
        e: fixture('echo'),
      });
      await weir.initialize();
      const log = (server: string, level: string): Promise<Received> =>
        weir.callTool(`${server}:log`, { level, data: { from: server, level } });
      expect((await weir.request('logging/setLevel', { level: 'warning' })).result).toEqual({});
      expect(textOf(await weir.callTool('n:level'))).toBe('warning');
      for (const level of ['info', 'error']) for (const server of ['n', 'm']) await log(server, level);
      const said = weir.messages
        .filter(({ method }) => method === 'notifications/message')
        .map(({ params }) => params);
      expect(said).toEqual([
        { level: 'error', logger: 'note', data: { from: 'n', level: 'error' } },
        { level: 'error', logger: 'modern', data: { from: 'm', level: 'error' } },
      ]);
    },
  );

  verifies('AGG-CALL-3', 'the gateway refuses an unknown log level', async () => {
    await using weir = serveInProcess({ n: fixture('resources', 'note') });
    await weir.initialize();
    expect((await weir.request('logging/setLevel', { level: 'loud' })).error).toMatchObject({ code: -32602 });
    expect((await weir.request('logging/setLevel')).error).toMatchObject({ code: -32602 });
    expect(textOf(await weir.callTool('n:level'))).toBe('info');
  });

  verifies(
    ['AGG-CALL-3', 'ERA-1'],
    'a modern client gets log messages only of requests that name a level',
    async () => {
      await using weir = serveInProcess({ n: fixture('resources', 'note'), m: fixture('modern') });
      const ask = await open(weir, 'modern');
      const log = (server: string, meta?: Json): Promise<Received> =>
        ask('tools/call', { name: `${server}:log`, arguments: { level: 'info', data: server } }, meta);
      await log('m');
      await log('m', { [LOG_LEVEL]: 'error' });
      await log('n');
      expect(weir.messages.filter(({ method }) => method === 'notifications/message')).toEqual([]);
      await log('m', { [LOG_LEVEL]: 'debug' });
      expect((await weir.call('notifications/message')).params).toEqual({
        level: 'info',
        logger: 'modern',
        data: 'm',
      });
    },
  );
});

describe('methods that the gateway does not know', () => {
  verifies('AGG-CALL-3', 'an unknown method passes to an only server and back', async () => {
    await using weir = serveInProcess({ e: fixture('echo') });
    await weir.initialize();
    expect((await weir.request('x/unknown', { n: 1 })).error).toEqual({
      code: -32601,
      message: 'Method not found: x/unknown',
    });
    weir.notify('notifications/x-unknown', { n: 2 });
    const seen = textOf(await weir.callTool('e:seen'));
    expect(seen).toContain(
      JSON.stringify('{"jsonrpc":"2.0","method":"notifications/x-unknown","params":{"n":2}}').slice(1, -1),
    );
    expect(seen).toMatch(/\\"method\\":\\"x\/unknown\\",\\"params\\":\{\\"n\\":1\}/u);
  });

  verifies('AGG-CALL-3', 'an unknown method fails where there are several servers', async () => {
    await using weir = serveInProcess({ e: fixture('echo'), f: fixture('echo') });
    await weir.initialize();
    expect((await weir.request('x/unknown', { n: 1 })).error).toEqual({
      code: -32601,
      message: 'Method not found: x/unknown',
    });
    weir.notify('notifications/x-unknown', { n: 2 });
    expect(textOf(await weir.callTool('e:seen'))).not.toContain('unknown');
  });
});
