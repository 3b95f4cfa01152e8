// @module-tag slow
// Many clients at once: no answer reaches another client, and clients that vanish leave nothing behind.
import { readdirSync } from 'node:fs';
import { Agent } from 'node:http';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterAll, describe, expect } from 'vitest';
import { fixture, type Received } from '../../support/harness.ts';
import {
  begin,
  eventually,
  modern,
  openSession,
  rpc,
  send,
  serveTest,
  type HttpTest,
  type LegacyClient,
} from '../../support/http.ts';
import { verifies } from '../../verifies.ts';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

function textIn({ result }: Received): unknown {
  return (result as { content?: { text?: string }[] } | undefined)?.content?.[0]?.text;
}

describe('two clients with the same ids', () => {
  const CALLS = 10_000;
  const AT_ONCE = 40;
  const agent = new Agent({ keepAlive: true });
  afterAll(() => agent.destroy());

  /** Makes all calls, a few at a time, and gives back those whose answer was not their own. */
  async function strays(
    call: (id: number, text: string) => Promise<Received>,
    name: string,
  ): Promise<string[]> {
    const wrong: string[] = [];
    let next = 0;
    const worker = async (): Promise<void> => {
      while (next < CALLS / 2) {
        const id = next++;
        const canary = `${name} ${id} ${Math.random()}`;
        const answer = await call(id, canary);
        if (answer.id !== id || textIn(answer) !== canary) wrong.push(`${canary}: ${JSON.stringify(answer)}`);
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE / 2 }, worker));
    return wrong;
  }

  const legacyCall =
    (client: LegacyClient) =>
    async (id: number, text: string): Promise<Received> =>
      (await client.post(client.call('echo:echo', { text }, { id }), agent)).json;

  const modernCall =
    (url: string) =>
    async (id: number, text: string): Promise<Received> =>
      (
        await send(url, {
          ...modern('tools/call', { name: 'echo:echo', arguments: { text } }, { id }),
          agent,
        })
      ).json;

  verifies(
    ['ERA-1', 'PERF-2', 'SAFE-1'],
    'answers of 10,000 interleaved calls of two legacy clients never cross',
    async () => {
      await using http = await serveTest({ echo: fixture('echo') });
      const [one, two] = [await openSession(http.url), await openSession(http.url)];
      const calls = [strays(legacyCall(one), 'one'), strays(legacyCall(two), 'two')];
      expect((await Promise.all(calls)).flat()).toEqual([]);
    },
    120_000,
  );

  verifies(
    ['ERA-1', 'PERF-2', 'SAFE-1'],
    'answers of 10,000 interleaved calls of two modern clients with one token never cross',
    async () => {
      await using http = await serveTest({ echo: fixture('echo') });
      const calls = [strays(modernCall(http.url), 'one'), strays(modernCall(http.url), 'two')];
      expect((await Promise.all(calls)).flat()).toEqual([]);
      expect(http.front.load.underWay).toBe(0);
    },
    120_000,
  );
});

describe('two clients that subscribe to one resource', () => {
  verifies(
    ['AGG-CALL-3', 'SAFE-1'],
    'a resource stays subscribed until both of two clients unsubscribe',
    async () => {
      await using http = await serveTest({ r: fixture('resources') });
      const [one, two] = [await openSession(http.url), await openSession(http.url)];
      const ask = async (client: LegacyClient, what: string): Promise<unknown> =>
        (await client.post(rpc(`resources/${what}`, { uri: 'note://one' }, what))).json.result;
      const subscribed = async (): Promise<unknown> =>
        textIn((await one.post(one.call('r:subscribed'))).json);
      expect([await ask(one, 'subscribe'), await ask(two, 'subscribe')]).toEqual([{}, {}]);
      expect(await ask(two, 'unsubscribe')).toEqual({});
      expect(await subscribed()).toBe('note://one');
      expect(await ask(one, 'unsubscribe')).toEqual({ 'x-was': true });
      expect(await subscribed()).toBe('');
    },
  );
});

describe('clients that vanish', () => {
  const CLIENTS = 200;
  /** A session ends after this time without a request. */
  const IDLE_MS = 1000;

  interface Left {
    readonly sessions: number;
    readonly underWay: number;
    readonly clients: number;
    readonly timers: number;
    readonly descriptors: number;
    readonly heap: number;
  }

  /** Each does a little of everything and leaves in the middle of something. */
  async function visit({ url }: HttpTest, index: number): Promise<void> {
    if (index % 2 === 0) {
      await send(url, modern('tools/call', { name: 'echo:echo', arguments: { text: 'x' } }));
      const hangUps = [
        begin(url, modern('tools/call', { name: 'stall:stall' })),
        begin(url, modern('subscriptions/listen', { notifications: { toolsListChanged: true } })),
      ];
      return vanish(hangUps);
    }
    const client = await openSession(url);
    await client.post(client.call('echo:echo', { text: 'x' }));
    const listening = await client.listen();
    const sent = { headers: client.headers, body: client.call('stall:stall', {}, { id: 2 }) };
    const hangUp = begin(url, sent);
    await vanish([hangUp, () => listening.drop()]);
    if (index % 4 === 1) await client.end();
  }

  async function vanish(hangUps: readonly (() => void)[]): Promise<void> {
    for (const hangUp of hangUps) {
      await new Promise((resolve) => setTimeout(resolve, Math.random() * 30));
      hangUp();
    }
  }

  /** Returns the resources in use once all clients are gone. */
  async function left({ front, gateway }: HttpTest): Promise<Left> {
    await eventually(() => Promise.resolve(front.load.sessions === 0 || undefined));
    // Calls of sessions that were ended are called off at their server.
    await eventually(() => Promise.resolve(front.load.underWay === 0 || undefined));
    await new Promise((resolve) => setTimeout(resolve, 200));
    for (let i = 0; i < 4; i++) collectGarbage();
    return {
      ...front.load,
      clients: gateway.server.clients.size,
      timers: process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length,
      descriptors: process.platform === 'linux' ? readdirSync('/proc/self/fd').length : 0,
      heap: process.memoryUsage().heapUsed,
    };
  }

  async function round(http: HttpTest): Promise<Left> {
    await Promise.all(Array.from({ length: CLIENTS }, (_, index) => visit(http, index)));
    return left(http);
  }

  verifies(
    ['ERA-1', 'PERF-2'],
    'clients that vanish leave no sessions, streams, timers, descriptors or memory behind',
    async () => {
      const limits = { sessionIdle: IDLE_MS };
      await using http = await serveTest(
        { echo: fixture('echo'), stall: fixture('stall') },
        { http: { limits } },
      );
      const first = await round(http);
      await round(http);
      const third = await round(http);
      // The one client is the principal of all modern requests.
      expect(third).toMatchObject({ sessions: 0, underWay: 0, clients: 1 });
      expect(third.timers).toBeLessThanOrEqual(first.timers);
      expect(third.descriptors).toBeLessThanOrEqual(first.descriptors);
      expect(third.heap).toBeLessThanOrEqual(1.1 * first.heap);
      const asked = await send(http.url, modern('tools/call', { name: 'stall:cancelled' }));
      const stalled = await send(http.url, modern('tools/call', { name: 'stall:stalled' }));
      expect(textIn(asked.json)).toBe(textIn(stalled.json));
    },
    120_000,
  );
});
