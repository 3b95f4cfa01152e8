// Hostile questions: a server that asks endless questions, and a client that never answers, block no other peer.
import { setTimeout } from 'node:timers/promises';
import { describe, expect, vi } from 'vitest';
import {
  fixture,
  scripted,
  textOf,
  type Era,
  type Json,
  type Received,
  type ServerEntry,
} from '../support/harness.ts';
import {
  modern,
  openSession,
  send,
  serveTest,
  type Events,
  type HttpTest,
  type LegacyClient,
} from '../support/http.ts';
import { open, serveInProcess, type InProcess } from '../support/in-process.ts';
import { again, EVERYTHING, questionsOf } from '../support/rounds.ts';
import { verifies } from '../verifies.ts';

const FORM = { message: 'Well?', requestedSchema: { type: 'object', properties: {} } };
const ELICIT = { method: 'elicitation/create', params: FORM };

const uptime = process.uptime.bind(process);
let ahead = 0;
vi.spyOn(process, 'uptime').mockImplementation(() => uptime() + ahead);

/** Lets the clock of the gateway run ahead. Going back would make timers wait for ever. */
function pass(seconds: number): void {
  ahead += seconds;
}

describe('a question that is never answered', () => {
  /** One program of many behind a token. */
  const program =
    (served: HttpTest) =>
    async (method: string, params: Json = {}) =>
      (await send(served.url, modern(method, params, { capabilities: EVERYTHING }))).json;
  const CALL = { name: 'a:ask', arguments: { questions: [ELICIT] } };

  verifies(
    ['SAFE-4', 'AGG-CALL-3'],
    'L12: an unanswered question blocks questions to other modern clients for 60 s at most',
    async () => {
      await using served = await serveTest({ a: fixture('asks-given-questions') }, { separator: ':' });
      const ask = program(served);
      const silent = await ask('tools/call', CALL);
      expect(questionsOf(silent)).toHaveLength(1);
      const refused = await ask('tools/call', CALL);
      expect(textOf(refused)).toContain('cannot tell which client to ask');
      pass(59);
      expect(textOf(await ask('tools/call', CALL))).toContain('cannot tell which client to ask');
      pass(2);
      const next = await ask('tools/call', CALL);
      expect(questionsOf(next)).toHaveLength(1);
      // The first is not forgotten: its answer still reaches its own call.
      const answers = await Promise.all(
        [silent, next].map((round, index) =>
          again(ask, CALL, round, [{ action: 'accept', content: { who: index } }]),
        ),
      );
      const told = answers.map((answer) => JSON.parse(textOf(answer)) as string[]);
      expect(told).toEqual([0, 1].map((who) => [`{"action":"accept","content":{"who":${who}}}`]));
    },
  );

  verifies(
    ['SAFE-4', 'AGG-CALL-3'],
    'L12: an unanswered question blocks questions to other legacy clients for 60 s at most',
    async () => {
      await using served = await serveTest({ a: fixture('asks-client') }, { separator: ':' });
      const enter = (): Promise<LegacyClient> => openSession(served.url, { capabilities: EVERYTHING });
      const [silent, other] = await Promise.all([enter(), enter()]);
      const begin = (client: LegacyClient): Promise<Events> => client.stream(client.call('a:elicit'));
      const answer = (client: LegacyClient, { id }: Received, name: string): Promise<unknown> =>
        client.post(JSON.stringify({ jsonrpc: '2.0', id, result: { action: 'accept', content: { name } } }));
      const first = await begin(silent);
      const question = await first.message();
      expect((await other.post(other.call('a:elicit'))).text).toContain('cannot tell which client to ask');
      pass(61);
      const second = await begin(other);
      await answer(other, await second.message(), 'other');
      expect(textOf(await second.message())).toContain('other');
      await answer(silent, question, 'silent');
      expect(textOf(await first.message())).toContain('silent');
    },
  );
});

/** Sends so many questions when it is called, or unasked, and counts the answers. */
const CURIOUS = scripted(`
  import { ask, rpcError, serve, text, tool } from 'stdio';
  const question = ${JSON.stringify(ELICIT)};
  let asked = 0;
  const refusals = [];
  const one = async () => {
    const { error } = await ask(question.method, question.params, 'q' + ++asked);
    if (error) refusals.push(error.message);
  };
  // In one write: what is read at once was asked at the same time.
  const together = (count) => {
    process.stdout.cork();
    const all = Array.from({ length: count }, one);
    process.stdout.uncork();
    return all;
  };
  serve({
    name: 'curious',
    tools: ['together', 'loop', 'unasked', 'visit'].map((name) => tool(name)),
    call: {
      together: async ({ count }) => {
        await Promise.all(together(count));
        return text(JSON.stringify(refusals));
      },
      loop: async ({ count }) => {
        for (let i = 0; i < count; i++) await one();
        return text(JSON.stringify(refusals));
      },
      unasked: ({ count }) => {
        setTimeout(() => together(count), 50);
        return text('soon');
      },
      visit: ({ count }) => {
        const address = { mode: 'url', elicitationId: 'e', url: 'https://a.example', message: 'Sign in' };
        throw rpcError(-32042, 'first', { elicitations: Array.from({ length: count }, () => address) });
      },
    },
  });`);

/** Declines what it is asked; returns how often that was. */
function declineAll(weir: InProcess): () => number {
  let count = 0;
  const next = (): void =>
    void weir.call(ELICIT.method).then(
      ({ id }) => {
        count++;
        weir.send({ id, result: { action: 'decline' } });
        next();
      },
      () => {},
    );
  next();
  return () => count;
}

describe('a server that asks endless questions', () => {
  verifies(['SAFE-4', 'AGG-CALL-3'], 'L10: a server has at most 32 open questions', async () => {
    await using weir = serveInProcess({ a: CURIOUS });
    await weir.initialize(EVERYTHING);
    weir.send({
      id: 'call',
      method: 'tools/call',
      params: { name: 'a:together', arguments: { count: 200 } },
    });
    const asked = [];
    for (let i = 0; i < 32; i++) asked.push(await weir.call(ELICIT.method));
    for (const { id } of asked) weir.send({ id, result: { action: 'decline' } });
    const refusals = JSON.parse(textOf(await weir.answer('call'))) as string[];
    expect(refusals).toHaveLength(168);
    expect(refusals[0]).toContain('already has 32 open questions');
    expect(weir.messages.filter(({ method }) => method === ELICIT.method)).toHaveLength(32);
  });

  verifies(
    ['SAFE-4', 'AGG-CALL-3'],
    'L10, 38: a server asks at most 256 questions during one call',
    async () => {
      await using weir = serveInProcess({ a: CURIOUS });
      await weir.initialize(EVERYTHING);
      const count = declineAll(weir);
      const refusals = textOf(await weir.callTool('a:loop', { count: 300 }));
      expect(count()).toBe(256);
      expect(JSON.parse(refusals)).toHaveLength(44);
      expect(refusals).toContain('asked the client 256 times during this call');
      // The next call has a budget of its own.
      await weir.callTool('a:loop', { count: 10 });
      expect(count()).toBe(266);
    },
  );

  verifies(
    ['SAFE-4', 'AGG-CALL-3'],
    'L10: a server asks at most 32 questions a minute without a call',
    async () => {
      await using weir = serveInProcess({ a: CURIOUS });
      await weir.initialize(EVERYTHING);
      const count = declineAll(weir);
      await weir.callTool('a:unasked', { count: 200 });
      await vi.waitFor(() => expect(count()).toBe(32));
      await weir.callTool('a:unasked', { count: 1 });
      await setTimeout(200);
      expect(textOf(await weir.callTool('a:together', { count: 0 }))).toContain(
        'in a minute without a running call',
      );
      pass(61);
      await weir.callTool('a:unasked', { count: 1 });
      await vi.waitFor(() => expect(count()).toBe(33));
    },
  );

  verifies(
    ['SAFE-4', 'AGG-CALL-3'],
    'L10: a server that asks for roots too often gets an error, not an empty list',
    async () => {
      const asksForRoots = scripted(`
      import { ask, serve, text, tool } from 'stdio';
      let last;
      serve({
        name: 'roots',
        tools: [tool('last'), tool('ask')],
        call: {
          ask: () => {
            setTimeout(async () => { for (let i = 0; i < 33; i++) last = await ask('roots/list', {}, 'q' + i); }, 50);
            return text('soon');
          },
          last: () => text(JSON.stringify(last)),
        },
      });`);
      await using weir = serveInProcess({ a: asksForRoots });
      await weir.initialize(EVERYTHING);
      await weir.callTool('a:ask');
      for (let i = 0; i < 32; i++) {
        const { id } = await weir.call('roots/list');
        weir.send({ id, result: { roots: [{ uri: 'file:///a' }] } });
      }
      await setTimeout(200);
      expect(textOf(await weir.callTool('a:last'))).toContain('in a minute without a running call');
    },
  );

  /** Ends its call with so many questions at once. */
  const rounds = (count: number): ServerEntry =>
    scripted(`
      import { answer, readMessages, text, tool } from 'stdio';
      const complete = (result) => ({ resultType: 'complete', ttlMs: 0, cacheScope: 'private', ...result });
      const inputRequests = Object.fromEntries(
        Array.from({ length: ${count} }, (_, i) => ['q' + i, ${JSON.stringify(ELICIT)}]),
      );
      const methods = {
        'server/discover': () => complete({ supportedVersions: ['2026-07-28'], capabilities: { tools: {} } }),
        'tools/list': () => complete({ tools: [tool('ask')] }),
        'tools/call': () => ({ resultType: 'input_required', inputRequests }),
      };
      readMessages((message) => message.method && message.id !== undefined && answer(methods, message));`);

  verifies(
    ['SAFE-4', 'ERA-2'],
    'L10: a round has at most 32 questions, for clients of both eras',
    async () => {
      const asked = async (
        count: number,
        era: Era,
        others: Record<string, ServerEntry> = {},
      ): Promise<Received> => {
        await using weir = serveInProcess({ a: rounds(count), ...others });
        const ask = await open(weir, era, EVERYTHING);
        return await ask('tools/call', { name: 'a:ask' });
      };
      expect(questionsOf(await asked(32, 'modern'))).toHaveLength(32);
      const answers = await Promise.all([
        asked(33, 'modern'),
        asked(33, 'modern', { b: fixture('echo') }),
        asked(33, 'legacy'),
        asked(12_000, 'modern'),
      ]);
      for (const { error } of answers) expect(error?.message).toContain('more than 32 questions');
      for (const era of ['legacy', 'modern'] satisfies Era[]) {
        await using weir = serveInProcess({ a: CURIOUS });
        const ask = await open(weir, era, EVERYTHING);
        const { error } = await ask('tools/call', { name: 'a:visit', arguments: { count: 2000 } });
        expect(error?.message).toContain('more than 32 questions');
      }
    },
  );
});
