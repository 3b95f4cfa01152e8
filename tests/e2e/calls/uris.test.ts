// Routes of URIs: to their owner, or by a URI of the gateway's own where several servers list the same.
import { describe, expect } from 'vitest';
import {
  fixture,
  modernMeta,
  scripted,
  textOf,
  type Received,
  type ServerEntry,
} from '../../support/harness.ts';
import { open, serveInProcess, type InProcess } from '../../support/in-process.ts';
import { itemsOf } from '../../support/line-client.ts';
import { verifies } from '../../verifies.ts';

/** Two servers that list the same URIs, and one that does not. */
const colliding = {
  a: fixture('resources', 'note', 'A'),
  b: fixture('resources', 'note', 'B'),
  c: fixture('resources', 'own', 'C'),
};
const shared = (key: string, uri: string): string => `weir://${key}/${encodeURIComponent(uri)}`;

async function read(weir: InProcess, uri: string): Promise<{ uri: string; text: string }> {
  return itemsOf<{ uri: string; text: string }>(
    await weir.request('resources/read', { uri }),
    'contents',
  )[0]!;
}

describe('a URI that several servers list', () => {
  verifies('AGG-CALL-3', 'a shared URI is listed once per server; others stay unchanged', async () => {
    await using weir = serveInProcess(colliding);
    await weir.initialize();
    const uris = itemsOf<{ uri: string }>(await weir.request('resources/list'), 'resources').map(
      ({ uri }) => uri,
    );
    expect(uris).toEqual([
      'weir://a/note%3A%2F%2Fone',
      'weir://a/note%3A%2F%2Ftwo',
      'weir://b/note%3A%2F%2Fone',
      'weir://b/note%3A%2F%2Ftwo',
      'own://one',
      'own://two',
    ]);
    const templates = await weir.request('resources/templates/list');
    expect(templates.result?.['resourceTemplates']).toMatchObject([
      { uriTemplate: 'weir://a/note%3A%2F%2Fitem%2F{id}' },
      { uriTemplate: 'weir://b/note%3A%2F%2Fitem%2F{id}' },
      { uriTemplate: 'own://item/{id}' },
    ]);
  });

  verifies(
    'AGG-CALL-3',
    "a shared URI is read from the server it names, under that server's own URI",
    async () => {
      await using weir = serveInProcess(colliding);
      await weir.initialize();
      for (const [key, label] of [
        ['a', 'A'],
        ['b', 'B'],
      ] as const) {
        const uri = shared(key, 'note://one');
        expect(await read(weir, uri)).toMatchObject({ uri, text: `${label}: note://one` });
        const expanded = `weir://${key}/note%3A%2F%2Fitem%2F42`;
        expect((await read(weir, expanded)).text).toBe(`${label}: note://item/42`);
      }
      expect(await read(weir, 'own://one')).toMatchObject({ uri: 'own://one', text: 'C: own://one' });
    },
  );

  verifies(
    'AGG-CALL-3',
    'a shared URI is rewritten only in links and embedded resources of results and prompts',
    async () => {
      await using weir = serveInProcess(colliding);
      await weir.initialize();
      const { result } = await weir.callTool('b:link');
      const uri = shared('b', 'note://one');
      expect(result?.['content']).toEqual([
        { type: 'resource_link', uri, name: 'link', 'x-link': { uri: 'note://one' } },
        { type: 'resource', resource: { uri, mimeType: 'text/plain', text: 'B: note://one' } },
        { type: 'text', text: 'see note://one' },
      ]);
      const other = await weir.callTool('b:link', { uri: 'note://three' });
      expect(itemsOf<{ uri: string }>(other, 'content')[0]?.uri).toBe('note://three');
      const prompt = await weir.request('prompts/get', { name: 'a:greet', arguments: { who: 'Ada' } });
      expect(prompt.result?.['messages']).toMatchObject([
        { content: { text: 'Hello Ada' } },
        { content: { resource: { uri: shared('a', 'note://one') } } },
      ]);
      const own = await weir.callTool('c:link');
      expect(itemsOf<{ uri: string }>(own, 'content')[0]?.uri).toBe('own://one');
    },
  );

  verifies('AGG-CALL-3', 'updates of a shared URI have the URI that the client knows', async () => {
    await using weir = serveInProcess(colliding);
    await weir.initialize();
    const uri = shared('b', 'note://two');
    await weir.request('resources/subscribe', { uri });
    expect(textOf(await weir.callTool('b:subscribed'))).toBe('note://two');
    expect(textOf(await weir.callTool('a:touch', { uri: 'note://two' }))).toBe('false');
    expect(textOf(await weir.callTool('b:touch', { uri: 'note://two' }))).toBe('true');
    expect((await weir.call('notifications/resources/updated')).params).toEqual({ uri });
    expect((await weir.request('resources/unsubscribe', { uri })).result).toEqual({ 'x-was': true });
    expect(textOf(await weir.callTool('b:subscribed'))).toBe('');
  });

  verifies(['AGG-CALL-3', 'ERA-1'], 'a modern client can subscribe to a shared URI', async () => {
    await using weir = serveInProcess(colliding);
    const ask = await open(weir, 'modern');
    await ask('tools/list');
    const uri = shared('a', 'note://one');
    const listening = ask('subscriptions/listen', { notifications: { resourceSubscriptions: [uri] } });
    await weir.call('notifications/subscriptions/acknowledged');
    expect(textOf(await ask('tools/call', { name: 'a:touch', arguments: { uri: 'note://one' } }))).toBe(
      'true',
    );
    expect((await weir.call('notifications/resources/updated')).params).toMatchObject({ uri });
    await weir.close();
    expect((await listening).result).toMatchObject({ resultType: 'complete' });
  });

  verifies(
    ['AGG-CALL-3', 'ERA-1'],
    'clients of both eras can subscribe to a URI below a shared template',
    async () => {
      const uri = 'weir://b/note%3A%2F%2Fitem%2Fa%20b';
      for (const era of ['legacy', 'modern'] as const) {
        await using weir = serveInProcess(colliding);
        const ask = await open(weir, era);
        await ask('tools/list');
        if (era === 'legacy') await ask('resources/subscribe', { uri });
        else
          weir.send({
            id: 'l',
            method: 'subscriptions/listen',
            params: { notifications: { resourceSubscriptions: [uri] }, ...modernMeta() },
          });
        if (era === 'modern') await weir.call('notifications/subscriptions/acknowledged');
        expect(
          textOf(await ask('tools/call', { name: 'b:touch', arguments: { uri: 'note://item/a%20b' } })),
        ).toBe('true');
        expect((await weir.call('notifications/resources/updated')).params).toMatchObject({ uri });
      }
    },
  );

  verifies('AGG-CALL-3', 'a shared template completes at the server it names', async () => {
    await using weir = serveInProcess(colliding);
    await weir.initialize();
    const ref = { type: 'ref/resource', uri: 'weir://b/note%3A%2F%2Fitem%2F{id}' };
    const { result } = await weir.request('completion/complete', {
      ref,
      argument: { name: 'id', value: 'al' },
    });
    expect(result).toMatchObject({
      completion: { values: ['alpha', 'alphabet'] },
      _meta: {
        'example.com/ref': { type: 'ref/resource', uri: 'note://item/{id}' },
        'example.com/from': 'B',
      },
    });
  });

  verifies('AGG-CALL-3', 'a URI expanded from a shared template keeps its own encoding', async () => {
    await using weir = serveInProcess(colliding);
    await weir.initialize();
    // As a client expands `{id}` with "a b/ü%".
    const { text } = await read(weir, 'weir://a/note%3A%2F%2Fitem%2Fa%20b%2F%C3%BC%25');
    expect(text).toBe('A: note://item/a%20b%2F%C3%BC%25');
  });

  verifies(
    ['AGG-CALL-3', 'AGG-REG-2'],
    'clients get a notice of a changed list when a URI becomes shared',
    async () => {
      await using weir = serveInProcess({
        a: fixture('resources', 'a', 'A'),
        b: fixture('resources', 'b', 'B'),
      });
      await weir.initialize();
      await weir.request('resources/list');
      await weir.callTool('b:add', { uri: 'a://one' });
      await weir.call('notifications/resources/list_changed');
      const uris = itemsOf<{ uri: string }>(await weir.request('resources/list'), 'resources').map(
        ({ uri }) => uri,
      );
      expect(uris).toEqual([shared('a', 'a://one'), 'a://two', 'b://one', 'b://two', shared('b', 'a://one')]);
      expect((await read(weir, shared('a', 'a://one'))).text).toBe('A: a://one');
    },
  );
});

/** Templates as given, and no resources. */
function templates(label: string, ...uriTemplates: string[]): ServerEntry {
  return scripted(`
    import { serve } from 'stdio';
    serve({
      name: ${JSON.stringify(label)},
      capabilities: { resources: {} },
      on: {
        'resources/list': () => ({ resources: [] }),
        'resources/templates/list': () => ({ resourceTemplates: ${JSON.stringify(uriTemplates)}.map((uriTemplate) => ({ uriTemplate, name: 't' })) }),
        'resources/read': ({ uri }) => ({ contents: [{ uri, text: ${JSON.stringify(label)} }] }),
      },
    });`);
}

/** A server that lists these URIs, until it is told to forget them. */
function resources(label: string, ...uris: string[]): ServerEntry {
  return scripted(`
    import { notify, serve, text, tool } from 'stdio';
    let uris = ${JSON.stringify(uris)};
    serve({
      name: ${JSON.stringify(label)},
      capabilities: { tools: {}, resources: { listChanged: true } },
      tools: [tool('forget')],
      call: {
        forget: () => {
          uris = [];
          notify('notifications/resources/list_changed');
          return text('forgotten');
        },
      },
      on: {
        'resources/list': () => ({ resources: uris.map((uri) => ({ uri, name: 'r' })) }),
        'resources/templates/list': () => ({ resourceTemplates: [] }),
        'resources/read': ({ uri }) => ({ contents: [{ uri, text: ${JSON.stringify(label)} + ' ' + uri }] }),
      },
    });`);
}

describe('a URI in the form of the gateway', () => {
  for (const [what, key] of [
    ['another server', 'a'],
    ['the same server', 'b'],
  ] as const) {
    verifies('AGG-CALL-3', `a URI in the form of the gateway that names ${what} leads there`, async () => {
      const uri = shared(key, 'x://one');
      for (const servers of [
        { a: resources('A', 'x://one'), b: resources('B', 'x://one', uri) },
        { b: resources('B', uri, 'x://one'), a: resources('A', 'x://one') },
      ]) {
        await using weir = serveInProcess(servers);
        await weir.initialize();
        const list = itemsOf<{ uri: string }>(await weir.request('resources/list'), 'resources');
        expect(list.map((item) => item.uri).toSorted()).toEqual(
          [shared('a', 'x://one'), shared('b', 'x://one'), shared('b', uri)].toSorted(),
        );
        expect(await read(weir, uri)).toEqual({ uri, text: `${key.toUpperCase()} x://one` });
        expect(await read(weir, shared('b', uri))).toEqual({ uri: shared('b', uri), text: `B ${uri}` });
      }
    });
  }

  verifies(
    'AGG-CALL-3',
    'a URI in the form of the gateway that names no server stays unchanged',
    async () => {
      await using weir = serveInProcess({ a: resources('A', 'weir://x/y'), b: resources('B') });
      await weir.initialize();
      expect(await read(weir, 'weir://x/y')).toEqual({ uri: 'weir://x/y', text: 'A weir://x/y' });
    },
  );
});

describe('a URI that its server no longer lists', () => {
  verifies('AGG-CALL-3', 'the gateway still reads a URI from a server that no longer lists it', async () => {
    await using weir = serveInProcess({ a: resources('A', 'x://one'), b: resources('B', 'y://one') });
    await weir.initialize();
    await weir.callTool('a:forget');
    await weir.call('notifications/resources/list_changed');
    expect(await read(weir, 'x://one')).toEqual({ uri: 'x://one', text: 'A x://one' });
  });
});

describe('a URI that no server lists', () => {
  verifies('AGG-CALL-3', 'an unlisted URI is read from the server with the matching template', async () => {
    await using weir = serveInProcess({
      first: templates('first', 'x://{id}', 'y://a/{id}/b'),
      second: templates('second', 'w://{+path}', 'y://b/{+path}', 'z://q{?a,b}'),
      notes: fixture('resources', 'note'),
    });
    await weir.initialize();
    for (const [uri, owner] of [
      ['x://7', 'first'],
      ['w://7/8', 'second'],
      ['y://a/7/b', 'first'],
      ['y://b/7/c', 'second'],
      ['z://q?a=1&b=2', 'second'],
      ['note://one', 'note: note://one'],
    ] as const) {
      expect((await read(weir, uri)).text).toBe(owner);
    }
  });

  verifies('AGG-CALL-3', 'an unlisted URI reaches the only server with resources', async () => {
    await using weir = serveInProcess({
      e: fixture('echo'),
      n: fixture('resources', 'note'),
      a: fixture('asks-client'),
    });
    await weir.initialize();
    const { error } = await weir.request('resources/read', { uri: 'secret://x' });
    expect(error).toEqual({
      code: -32002,
      message: 'Resource not found: secret://x',
      data: { uri: 'secret://x' },
    });
  });

  verifies('AGG-CALL-3', 'an unlisted URI is an error where several servers have resources', async () => {
    await using weir = serveInProcess({ n: fixture('resources', 'note'), o: fixture('resources', 'own') });
    await weir.initialize();
    const ask = (method: string, params: Record<string, unknown>): Promise<Received> =>
      weir.request(method, params);
    for (const uri of ['secret://x', 'weir://nobody/x', 'weir://n', 'weir://%/x', '']) {
      expect((await ask('resources/read', { uri })).error).toEqual({
        code: -32602,
        message: `Resource not found: ${uri}`,
        data: { uri },
      });
      expect((await ask('resources/subscribe', { uri })).error).toMatchObject({ code: -32602 });
    }
    expect((await ask('resources/read', { uri: 7 })).error).toMatchObject({ code: -32602 });
    expect((await ask('resources/read', {})).error).toMatchObject({ code: -32602 });
  });
});
