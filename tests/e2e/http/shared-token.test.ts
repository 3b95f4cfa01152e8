// Clients of 2026-07-28 have no sessions and may have the same token: still each of them is another program. Actions of one of
// several clients do not affect the others.
import { realpathSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { describe, expect } from 'vitest';
import { fixture, scripted, temporaryFolder, textOf, type Json } from '../../support/harness.ts';
import {
  begin,
  Events,
  eventually,
  modern,
  open,
  openSession,
  rpc,
  send,
  serveTest,
} from '../../support/http.ts';
import { verifies } from '../../verifies.ts';

/** `first` asks once `second` has been called; `ready` is answered when `first` has come. */
const asks = scripted(`
  import { ask, serve, text, tool } from 'stdio';
  const come = {};
  const first = new Promise((resolve) => (come.first = resolve));
  const second = new Promise((resolve) => (come.second = resolve));
  serve({ name: 'asks', tools: [tool('first'), tool('second'), tool('ready')], call: {
    first: async () => {
      come.first();
      await second;
      const { error } = await ask('elicitation/create', { message: 'Your password?', requestedSchema: { type: 'object', properties: {} } });
      return text(error ? 'refused' : 'answered');
    },
    second: () => {
      come.second();
      return new Promise((resolve) => setTimeout(() => resolve(text('untouched')), 300));
    },
    ready: () => first.then(() => text('ready')),
  } });
`);

const call = (name: string, capabilities: Json, more: Json = {}): ReturnType<typeof modern> =>
  modern('tools/call', { name, arguments: {}, ...more }, { capabilities });

describe('two modern clients with one token', () => {
  for (const sharing of ['shared', 'per-session'] as const)
    verifies(
      'ERA-2',
      `a modern client never gets a question of another client's call (${sharing})`,
      async () => {
        await using test = await serveTest({ a: { ...asks, sharing } });
        const capabilities = { elicitation: { form: {} } };
        const hangUp = begin(test.url, call('a:first', capabilities));
        await send(test.url, call('a:ready', capabilities));
        const { text } = await send(test.url, call('a:second', capabilities));
        hangUp();
        expect(text).not.toContain('Your password?');
      },
    );

  verifies(
    'ERA-2',
    'modern clients with one token have servers of their own, each in its folder',
    async () => {
      await using test = await serveTest({
        e: { ...fixture('environment'), sharing: 'per-session', cwdFromRoots: true },
      });
      const folderFor = async (folder: string): Promise<unknown> => {
        const capabilities = { roots: {} };
        const { json } = await send(test.url, call('e:folder', capabilities));
        const [key] = Object.keys((json.result as { inputRequests?: Json }).inputRequests ?? {});
        if (key === undefined) return JSON.parse(textOf(json));
        const inputResponses = { [key]: { roots: [{ uri: pathToFileURL(folder).href }] } };
        return JSON.parse(
          textOf((await send(test.url, call('e:folder', capabilities, { inputResponses }))).json),
        );
      };
      const [mine, yours] = [realpathSync(temporaryFolder()), realpathSync(temporaryFolder())];
      expect(await folderFor(mine)).toBe(mine);
      expect(await folderFor(yours)).toBe(yours);
    },
  );
});

describe('clients that watch the same resource', () => {
  const servers = { notes: fixture('resources'), other: fixture('echo') };
  const uri = 'note://one';
  const updated = { method: 'notifications/resources/updated', params: { uri } };
  const callNotes = async (url: string, tool: string, args: Json = {}): Promise<string> =>
    textOf((await send(url, modern('tools/call', { name: `notes:${tool}`, arguments: args }))).json);
  const watch = async (url: string): Promise<Events> => {
    const listen = modern('subscriptions/listen', { notifications: { resourceSubscriptions: [uri] } });
    const events = new Events(await open(url, listen));
    await events.message();
    return events;
  };

  verifies('ERA-1', 'a client keeps its updates when another unsubscribes, and others get none', async () => {
    await using test = await serveTest(servers);
    const [enough, more, none] = [
      await openSession(test.url),
      await openSession(test.url),
      await openSession(test.url),
    ];
    for (const client of [enough, more]) await client.post(rpc('resources/subscribe', { uri }, 1));
    const [heard, unheard] = [await more.listen(), await none.listen()];
    expect((await enough.post(rpc('resources/unsubscribe', { uri }, 2))).json.result).toEqual({});
    await callNotes(test.url, 'touch', { uri });
    expect(await heard.message()).toMatchObject(updated);
    await callNotes(test.url, 'add', { uri: 'note://three' });
    expect((await unheard.message()).method).toBe('notifications/resources/list_changed');
  });

  verifies('ERA-1', 'a client keeps its updates when a client of the other era unsubscribes', async () => {
    await using test = await serveTest(servers);
    const session = await openSession(test.url);
    await session.post(rpc('resources/subscribe', { uri }, 1));
    const told = await session.listen();
    const { underWay } = test.front.load;
    (await watch(test.url)).drop();
    await eventually(() => Promise.resolve(test.front.load.underWay === underWay || undefined));
    await callNotes(test.url, 'touch', { uri });
    expect(await told.message()).toMatchObject(updated);
    const listening = await watch(test.url);
    await session.post(rpc('resources/unsubscribe', { uri }, 2));
    await callNotes(test.url, 'touch', { uri });
    expect(await listening.message()).toMatchObject(updated);
  });

  verifies('ERA-1', 'ended sessions leave no subscription at the server', async () => {
    await using test = await serveTest(servers);
    const [first, second] = [await openSession(test.url), await openSession(test.url)];
    for (const client of [first, second]) await client.post(rpc('resources/subscribe', { uri }, 1));
    await first.end();
    expect(await callNotes(test.url, 'subscribed')).toBe(uri);
    await second.end();
    expect(await callNotes(test.url, 'subscribed')).toBe('');
  });
});
