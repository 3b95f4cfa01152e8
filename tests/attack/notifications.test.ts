// Notifications of a server about one client's call reach no other client.
import { describe, expect } from 'vitest';
import { scripted, type Json } from '../support/harness.ts';
import { openSession, rpc, serveTest, type Events, type LegacyClient } from '../support/http.ts';
import { openEvents, serveHttp, toolServer } from '../support/remote-server.ts';
import { verifies } from '../verifies.ts';

const COMPLETE = 'notifications/elicitation/complete';
const CAPABILITIES = { elicitation: { form: {}, url: {} } };

/** Sends clients to addresses, leaves a call open, and tells whatever it is told to. */
const TELLING = scripted(`
  import { ask, notify, reply, rpcError, serve, text, tool } from 'stdio';
  const visit = (elicitationId) => ({ mode: 'url', elicitationId, url: 'https://a.example/', message: 'Sign in' });
  let held;
  serve({
    name: 'telling',
    tools: ['elicit', 'need', 'hold', 'tell'].map((name) => tool(name)),
    call: {
      elicit: async ({ id }) => text(JSON.stringify(await ask('elicitation/create', visit(id)))),
      need: ({ id }) => { throw rpcError(-32042, 'first', { elicitations: [visit(id)] }); },
      hold: (_, message) => {
        held = message;
        notify('notifications/progress', { progressToken: message.params._meta.progressToken, progress: 1 });
      },
      tell: ({ all }) => {
        const { id, params: { _meta: { progressToken } } } = held;
        for (const { method, params } of all)
          notify(method, JSON.parse(JSON.stringify(params).replace('"ID"', id).replace('"TOKEN"', progressToken)));
        reply(id, text('held'));
        return text('told');
      },
    },
  });`);

/** Returns all notifications of a stream until the server sends the last one, or the stream ends. */
async function heard(events: Events): Promise<string[]> {
  const all: string[] = [];
  for (let event = await events.next(); event !== undefined; event = await events.next()) {
    const { method, params } = event.data ?? {};
    if (method === 'notifications/x-end') break;
    if (method !== undefined) all.push(`${method} ${JSON.stringify(params)}`);
  }
  return all;
}

/** Visits the address that a call asks for. */
async function visit(client: LegacyClient, id: string): Promise<void> {
  const events = await client.stream(client.call('s:elicit', { id }));
  const { id: question } = await events.message();
  await client.post(JSON.stringify({ jsonrpc: '2.0', id: question, result: { action: 'accept' } }));
  expect((await events.message()).result).toBeDefined();
}

describe('a notification of a shared server', () => {
  verifies(
    ['SAFE-4', 'AGG-CALL-3'],
    "M8: a notification about one client's call or address reaches only that client",
    async () => {
      await using served = await serveTest({ s: TELLING }, { separator: ':' });
      const clients = await Promise.all(
        ['a', 'b', 'c'].map(() => openSession(served.url, { capabilities: CAPABILITIES })),
      );
      const [a, b, c] = clients as [LegacyClient, LegacyClient, LegacyClient];
      const streams = await Promise.all(clients.map((client) => client.listen()));
      await visit(a, 'e-1');
      expect((await b.post(b.call('s:need', { id: 'e-2' }))).json.error?.code).toBe(-32042);
      const held = await a.stream(a.call('s:hold', {}, { id: 'held', meta: { progressToken: 'mine' } }));
      const all: Json[] = [
        { method: COMPLETE, params: { elicitationId: 'e-1' } },
        { method: COMPLETE, params: { elicitationId: 'e-2' } },
        { method: COMPLETE, params: { elicitationId: 'never given out' } },
        { method: 'notifications/x-request', params: { requestId: 'ID' } },
        { method: 'notifications/x-progress', params: { progressToken: 'TOKEN' } },
        { method: 'notifications/x-request', params: { requestId: 4711 } },
        { method: 'notifications/x-task', params: { taskId: 'nobody has it' } },
        {
          method: 'notifications/x-task',
          params: { _meta: { 'io.modelcontextprotocol/related-task': { taskId: 'nor this' } } },
        },
        { method: 'notifications/x-news', params: { of: 'all' } },
        { method: 'notifications/x-end', params: {} },
      ];
      await c.post(rpc('tools/call', { name: 's:tell', arguments: { all } }, 1));
      const news = 'notifications/x-news {"of":"all"}';
      expect(await Promise.all(streams.map(heard))).toEqual([
        [`${COMPLETE} {"elicitationId":"e-1"}`, news],
        [`${COMPLETE} {"elicitationId":"e-2"}`, news],
        [news],
      ]);
      expect(await heard(held)).toEqual([
        'notifications/progress {"progressToken":"mine","progress":1}',
        'notifications/x-request {"requestId":"held"}',
        'notifications/x-progress {"progressToken":"mine"}',
      ]);
      expect(served.logged.filter((line) => line.includes('no client has what it names'))).toHaveLength(4);
      for (const events of [...streams, held]) events.drop();
    },
  );

  verifies(
    ['SAFE-4', 'AGG-CALL-3'],
    'M8: a notification on the stream of a request reaches only the client of that request',
    async () => {
      const handler = toolServer('legacy', ({ message: { id } }, response) => {
        const events = openEvents(response);
        events.send({ jsonrpc: '2.0', method: 'notifications/x-mine', params: { secret: 1 } });
        events.send({ jsonrpc: '2.0', id, result: { content: [] } });
        events.end();
      });
      await using remote = await serveHttp(handler);
      await using served = await serveTest({ s: { url: remote.url } }, { separator: ':' });
      const [a, b] = await Promise.all([openSession(served.url), openSession(served.url)]);
      const listening = await b.listen();
      const own = await heard(await a.stream(a.call('s:tool')));
      expect(own).toEqual(['notifications/x-mine {"secret":1}']);
      const after = heard(listening);
      await b.end();
      expect(await after).toEqual([]);
    },
  );
});
