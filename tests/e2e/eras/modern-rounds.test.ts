// Questions of modern servers to a legacy client: each question of a round is a request to it.
import { describe, expect } from 'vitest';
import { fixture, textOf, type Json, type Received } from '../../support/harness.ts';
import { serveInProcess, type InProcess } from '../../support/in-process.ts';
import { EVERYTHING } from '../../support/rounds.ts';
import { verifies } from '../../verifies.ts';

const FORM = '{"message":"Your name?","requestedSchema":{"type":"object","properties":{}}}';
const form = question('elicitation/create', FORM);
let calls = 0;

function question(method: string, params?: string): string {
  return `{"method":"${method}"${params === undefined ? '' : `,"params":${params}`}}`;
}

/** The raw text of a result that asks. */
function round(questions: Record<string, string>, state?: string): string {
  const requests = Object.entries(questions).map(([key, text]) => `${JSON.stringify(key)}:${text}`);
  return `{"resultType":"input_required","inputRequests":{${requests.join(',')}}${state === undefined ? '' : `,"requestState":${state}`}}`;
}

function callRounds(weir: InProcess, rounds: readonly string[], more: Json = {}): Promise<Received> {
  return weir.callTool('r:rounds', { key: `call ${++calls}`, rounds, ...more });
}

/** Returns what came with each try after the first: the texts of `inputResponses` and `requestState`. */
function tries(answer: Received): [string | null, string | null][] {
  return JSON.parse(textOf(answer)) as [string | null, string | null][];
}

describe('a round of a modern server', () => {
  for (const [what, method, params, answer] of [
    [
      'a form',
      'elicitation/create',
      FORM,
      '{"action":"accept","content":{"n":12345678901234567890,"a":1.10}}',
    ],
    [
      'sampling',
      'sampling/createMessage',
      '{"messages":[],"maxTokens":3,"x-more":1.10}',
      '{"z":1,"content":[],"a":{}}',
    ],
    ['roots', 'roots/list', undefined, '{"roots":[{"uri":"file:///a","x-more":[ 1 ]}]}'],
  ] as const) {
    verifies('ERA-2', `a modern server's round becomes requests to a legacy client: ${what}`, async () => {
      await using weir = serveInProcess({ r: fixture('modern-rounds') });
      await weir.initialize(EVERYTHING);
      const call = callRounds(weir, [
        round({ 'the key/é': question(method, params) }, '"st\\u00e4te \\/ é"'),
      ]);
      const asked = await weir.call(method);
      if (params !== undefined) expect(weir.lines.at(-1)).toContain(`"params":${params}`);
      weir.send(`{"jsonrpc":"2.0","id":${String(asked.id)},"result":${answer}}`);
      expect(tries(await call)).toEqual([[`{"the key/é":${answer}}`, '"st\\u00e4te \\/ é"']]);
    });
  }

  verifies('ERA-2', 'a round with an address gets the elicitationId that legacy clients need', async () => {
    await using weir = serveInProcess({ r: fixture('modern-rounds') });
    await weir.initialize(EVERYTHING);
    const params = { mode: 'url', url: 'https://a.example/', message: 'Sign in' };
    const call = callRounds(weir, [round({ a: question('elicitation/create', JSON.stringify(params)) })]);
    const asked = await weir.call('elicitation/create');
    expect(asked.params).toEqual({ ...params, elicitationId: expect.stringMatching(/./) as string });
    weir.send({ id: asked.id, result: { action: 'accept' } });
    expect(tries(await call)).toEqual([['{"a":{"action":"accept"}}', null]]);
  });

  verifies('ERA-2', 'a round may ask several questions, and further rounds may follow', async () => {
    await using weir = serveInProcess({ r: fixture('modern-rounds') });
    await weir.initialize(EVERYTHING);
    const call = callRounds(weir, [
      round({ one: form, two: question('roots/list'), three: form }, '"first"'),
      round({ four: question('roots/list') }, '"second"'),
      round({ five: form }),
    ]);
    const [one, three] = [await weir.call('elicitation/create'), await weir.call('elicitation/create')];
    const two = await weir.call('roots/list');
    // Answered in another order than asked, and returned in that of the questions.
    weir.send({ id: three.id, result: { n: 3 } });
    weir.send({ id: two.id, result: { n: 2 } });
    weir.send({ id: one.id, result: { n: 1 } });
    weir.send({ id: (await weir.call('roots/list')).id, result: { n: 4 } });
    weir.send({ id: (await weir.call('elicitation/create')).id, result: { n: 5 } });
    expect(tries(await call)).toEqual([
      ['{"one":{"n":1},"two":{"n":2},"three":{"n":3}}', '"first"'],
      ['{"four":{"n":4}}', '"second"'],
      ['{"five":{"n":5}}', null],
    ]);
  });

  verifies('ERA-2', 'a round without questions is repeated with its state', async () => {
    await using weir = serveInProcess({ r: fixture('modern-rounds') });
    await weir.initialize();
    const states = ['"wait"', '"wait more"'];
    const call = callRounds(
      weir,
      states.map((state) => `{"requestState":${state},"resultType":"input_required"}`),
    );
    expect(tries(await call)).toEqual(states.map((state) => [null, state]));
  });

  verifies('ERA-2', 'an error of the client to a question becomes the error of the call', async () => {
    await using weir = serveInProcess({ r: fixture('modern-rounds') });
    await weir.initialize(EVERYTHING);
    const call = callRounds(weir, [round({ one: form, two: question('roots/list') })]);
    const [one, two] = [await weir.call('elicitation/create'), await weir.call('roots/list')];
    weir.send({ id: one.id, error: { code: -1, message: 'User said no', data: { why: [1] } } });
    expect((await call).error).toEqual({
      code: -1,
      message: 'The client refused elicitation/create: User said no',
      data: { why: [1] },
    });
    // The gateway withdraws the other question.
    expect((await weir.call('notifications/cancelled')).params).toEqual({ requestId: two.id });
    weir.send({ id: two.id, result: {} });
    expect(textOf(await weir.callTool('r:tries', { key: `call ${calls}` }))).toBe('1');
  });

  verifies(
    'ERA-2',
    'a round that the client does not support is an error, without any question',
    async () => {
      const cases: [Json, string][] = [
        [{}, 'elicitation'],
        [{ elicitation: {}, roots: {} }, 'sampling'],
      ];
      for (const [capabilities, what] of cases) {
        await using weir = serveInProcess({ r: fixture('modern-rounds') });
        await weir.initialize(capabilities);
        const questions = { one: form, two: question('sampling/createMessage', '{"maxTokens":1}') };
        const { error } = await callRounds(weir, [round(questions)]);
        expect(error).toMatchObject({
          code: -32000,
          message: expect.stringContaining(`"${what}"`) as string,
        });
        expect(weir.messages.filter(({ method }) => method !== undefined)).toEqual([]);
      }
    },
  );

  verifies('ERA-2', 'a cancelled call withdraws its questions, also right after an answer', async () => {
    await using weir = serveInProcess({ r: fixture('modern-rounds') });
    await weir.initialize(EVERYTHING);
    for (const [last, cancelledQuestions] of [
      [undefined, 1],
      ['answer', 0],
    ] as const) {
      const id = `called off ${++calls}`;
      const args = { key: id, rounds: [round({ one: form })] };
      weir.send({ id, method: 'tools/call', params: { name: 'r:rounds', arguments: args } });
      const asked = await weir.call('elicitation/create');
      const lines = [
        ...(last === undefined ? [] : [{ jsonrpc: '2.0', id: asked.id, result: {} }]),
        { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: id } },
      ];
      weir.send(lines.map((line) => JSON.stringify(line)).join('\n'));
      for (let i = 0; i < cancelledQuestions; i++)
        expect((await weir.call('notifications/cancelled')).params).toEqual({ requestId: asked.id });
      // With the answer the server was called again, and so has a call to be called off.
      const told = textOf(await weir.callTool('r:tries', { key: id }));
      expect(told).toBe(last === undefined ? '1' : '2');
      expect(textOf(await weir.callTool('r:cancelled'))).toBe(last === undefined ? '0' : '1');
      expect(weir.messages.filter((message) => message.id === id)).toEqual([]);
    }
    expect(weir.gateway.children.get('r')?.peer.handlers()).toEqual([]);
  });

  verifies(
    ['ERA-2', 'AGG-CHILD-4'],
    'the end of a server withdraws its round and ends the call',
    async () => {
      await using weir = serveInProcess({ r: fixture('modern-rounds'), e: fixture('echo') });
      await weir.initialize(EVERYTHING);
      const call = weir.callTool('r:rounds', { key: 'k', rounds: [round({ one: form })] });
      const { id } = await weir.call('elicitation/create');
      await weir.gateway.disable('r');
      expect((await call).error?.message).toContain("Server 'r' has been disabled");
      expect((await weir.call('notifications/cancelled')).params).toMatchObject({ requestId: id });
      expect(weir.gateway.fronts.calls.suspendedCalls.inRounds.size).toBe(0);
      await weir.gateway.enable('r');
      expect(textOf(await weir.callTool('r:tries', { key: 'k' }))).toBe('0');
    },
  );

  verifies(
    'ERA-2',
    "a program's call follows a round without questions, and fails for one with questions",
    async () => {
      await using weir = serveInProcess({ r: fixture('modern-rounds') });
      await weir.initialize();
      const rounds = ['{"resultType":"input_required","requestState":"later"}'];
      const result = (await weir.gateway.callTool('r:rounds', { key: 'k', rounds })) as Json;
      expect(textOf({ result })).toContain('later');
      await expect(
        weir.gateway.callTool('r:rounds', { key: 'l', rounds: [round({ one: form })] }),
      ).rejects.toThrow('cannot answer questions');
    },
  );

  verifies('ERA-2', 'the gateway ends a call after 32 rounds', async () => {
    await using weir = serveInProcess({ r: fixture('modern-rounds') });
    await weir.initialize(EVERYTHING);
    const call = callRounds(weir, [round({ again: question('roots/list') })], { endless: true });
    const answerAll = async (): Promise<void> => {
      for (;;) weir.send({ id: (await weir.call('roots/list')).id, result: { roots: [] } });
    };
    answerAll().catch(() => {});
    expect((await call).error).toMatchObject({
      code: -32000,
      message: expect.stringContaining('asked for input 32 times') as string,
    });
  });

  verifies('ERA-2', 'an invalid round is an error, without any question', async () => {
    await using weir = serveInProcess({ r: fixture('modern-rounds') });
    await weir.initialize(EVERYTHING);
    const broken = [
      '{"resultType":"input_required"}',
      '{"resultType":"input_required","inputRequests":[]}',
      '{"resultType":"input_required","inputRequests":7,"requestState":"s"}',
      round({ a: '{}' }),
      round({ a: 'null' }),
      round({ a: question('tools/call', '{}') }),
      round({ a: question('constructor', '{}') }),
      round({ a: form, b: question('elicitation/create', '["no","object"]') }),
    ];
    for (const text of broken) {
      const { error } = await callRounds(weir, [text]);
      expect(error).toMatchObject({
        code: -32000,
        message: expect.stringContaining('invalid request for input') as string,
      });
    }
    expect(weir.messages.filter(({ method }) => method !== undefined)).toEqual([]);
  });

  verifies('ERA-2', 'an answer that is not JSON fails the call', async () => {
    await using weir = serveInProcess({ r: fixture('modern-rounds') });
    await weir.initialize(EVERYTHING);
    const call = callRounds(weir, [round({ one: form })]);
    const { id } = await weir.call('elicitation/create');
    weir.send(`{"jsonrpc":"2.0","id":${String(id)},"result":{"content":"${'x'.repeat(500)}\u0001"}}`);
    expect((await call).error).toMatchObject({
      code: -32000,
      message:
        "The client's answer is invalid. Not JSON: the message contains a raw control character in a string",
    });
  });

  verifies('ERA-2', 'the gateway reads a round with repeated and escaped keys as a parser does', async () => {
    await using weir = serveInProcess({ r: fixture('modern-rounds') });
    await weir.initialize(EVERYTHING);
    const call = callRounds(weir, [
      '{"resultType":"complete","r\\u0065sultType":"input_required","inputRequests":{"a":{"method":"roots/list"},"\\u0061":{"m\\u0065thod":"elicitation/create"},"__proto__":{"method":"roots/list","params":{}}}}',
    ]);
    weir.send({ id: (await weir.call('elicitation/create')).id, result: { n: 1 } });
    weir.send({ id: (await weir.call('roots/list')).id, result: { n: 2 } });
    expect(tries(await call)).toEqual([['{"a":{"n":1},"__proto__":{"n":2}}', null]]);
  });
});

describe('a call between two rounds', () => {
  verifies(
    ['ERA-2', 'AGG-REG-1'],
    'a lazy server keeps running while its call waits for the client',
    async () => {
      await using weir = serveInProcess({ r: fixture('modern-rounds') }, { lazy: true, idleAfter: 200 });
      await weir.initialize(EVERYTHING);
      const call = callRounds(weir, [round({ a: form })]);
      const asked = await weir.call('elicitation/create');
      await new Promise((resolve) => setTimeout(resolve, 800));
      weir.send({ id: asked.id, result: { action: 'decline' } });
      expect(tries(await call)).toEqual([['{"a":{"action":"decline"}}', null]]);
    },
  );

  verifies(
    ['ERA-2', 'HEALTH-3'],
    'a call between two rounds ends normally on a server that leaves the config',
    async () => {
      const echo = fixture('echo');
      await using weir = serveInProcess({ r: fixture('modern-rounds'), e: echo });
      await weir.initialize(EVERYTHING);
      const call = callRounds(weir, [round({ a: form })]);
      const asked = await weir.call('elicitation/create');
      await weir.gateway.reload({ mcpServers: { e: echo } });
      weir.send({ id: asked.id, result: { action: 'decline' } });
      expect(tries(await call)).toEqual([['{"a":{"action":"decline"}}', null]]);
    },
  );

  verifies(
    ['ERA-2', 'AGG-CHILD-4'],
    'a call between two rounds fails at once when its server is disabled',
    async () => {
      await using weir = serveInProcess({ r: fixture('modern-rounds') });
      await weir.initialize(EVERYTHING);
      const call = callRounds(weir, [round({ a: form })]);
      const asked = await weir.call('elicitation/create');
      await weir.gateway.disable('r');
      expect((await call).error?.message).toBe("Server 'r' has been disabled");
      expect((await weir.call('notifications/cancelled')).params).toEqual({ requestId: asked.id });
    },
  );
});
