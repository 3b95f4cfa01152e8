// Questions of legacy servers to a modern client: the call ends with the question, and goes on with its answer.
import { describe, expect } from 'vitest';
import { fixture, modernMeta, scripted, textOf, type Json } from '../../support/harness.ts';
import { open, serveInProcess, type InProcess } from '../../support/in-process.ts';
import { again, EVERYTHING, questionsOf, stateOf } from '../../support/rounds.ts';
import { verifies } from '../../verifies.ts';

const FORM = { message: 'Your name?', requestedSchema: { type: 'object', properties: {} } };
const ACCEPT = { action: 'accept', content: { name: 'Ada' } };

/** A call of the fixture's tool that asks. */
const asking = (questions: readonly Json[], more: Json = {}): Json => ({
  name: 'c:ask',
  arguments: { questions, ...more },
});
const formCall = asking([{ method: 'elicitation/create', params: FORM }]);

/** The answers that the fixture got, as texts. */
const told = (answer: Parameters<typeof textOf>[0]): string[] => JSON.parse(textOf(answer)) as string[];

/** The line that answered a request. */
const lineOf = (weir: InProcess, id: string): string | undefined =>
  weir.lines.find((line) => (JSON.parse(line) as { id?: unknown }).id === id);

describe('a question of a legacy server to a modern client', () => {
  for (const [what, method, params, answer] of [
    ['a form', 'elicitation/create', FORM, ACCEPT],
    [
      'a visit',
      'elicitation/create',
      { mode: 'url', url: 'https://a.example/', message: 'Sign in' },
      { action: 'accept' },
    ],
    [
      'sampling',
      'sampling/createMessage',
      { maxTokens: 9, messages: [] },
      { role: 'assistant', model: 'm', content: [] },
    ],
    ['sampling with tools', 'sampling/createMessage', { tools: [], maxTokens: 1 }, { content: {} }],
    ['roots', 'roots/list', {}, { roots: [{ uri: 'file:///a', 'x-more': [1] }] }],
  ] as const) {
    verifies(
      'ERA-2',
      `a modern client answers a legacy server's question in another round: ${what}`,
      async () => {
        await using weir = serveInProcess({ c: fixture('asks-given-questions') });
        const ask = await open(weir, 'modern', EVERYTHING);
        const call = asking([{ method, params }]);
        const round = await ask('tools/call', call);
        expect(questionsOf(round)).toEqual([{ key: expect.any(String) as string, method, params }]);
        const last = await again(ask, call, round, [answer]);
        expect(last.result).toMatchObject({ resultType: 'complete' });
        expect(told(last).map((text) => JSON.parse(text) as unknown)).toEqual([answer]);
        expect(weir.gateway.fronts.calls.suspendedCalls.size).toBe(0);
      },
    );
  }

  verifies('ERA-2', "a legacy server's question and its answer keep every byte", async () => {
    await using weir = serveInProcess({ c: fixture('asks-given-questions') });
    await open(weir, 'modern');
    const params =
      '{"z":1,"message":"\\u00e9 é 🜁","a":12345678901234567890,"x-more":{"b":1.10,"a":[ 1 , 2 ]}}';
    const answer = '{"content":{"z":0.10,"a":98765432109876543210,"é":"\\/"},"x":[],"action":"accept"}';
    const call = (id: string, more = ''): string => {
      const args = JSON.stringify({ questions: [{ method: 'elicitation/create', params }] });
      const meta = JSON.stringify(modernMeta(EVERYTHING)._meta);
      return `{"jsonrpc":"2.0","id":"${id}","method":"tools/call","params":{"name":"c:ask","arguments":${args}${more},"_meta":${meta}}}`;
    };
    weir.send(call('first'));
    const round = await weir.answer('first');
    expect(lineOf(weir, 'first')).toContain(`"params":${params}`);
    const [{ key } = { key: '' }] = questionsOf(round);
    weir.send(call('second', `,"inputResponses":{"${key}":${answer}},"requestState":"${stateOf(round)}"`));
    expect(told(await weir.answer('second'))).toEqual([answer]);
  });

  verifies(
    'ERA-2',
    'the gateway finds an answer by its key, however spelled; the last one counts',
    async () => {
      await using weir = serveInProcess({ c: fixture('asks-given-questions') });
      const ask = await open(weir, 'modern', EVERYTHING);
      const round = await ask('tools/call', formCall);
      const [{ key } = { key: '' }] = questionsOf(round);
      const escaped = `\\u${key.charCodeAt(0).toString(16).padStart(4, '0')}${key.slice(1)}`;
      const responses = `{"__proto__":{},"${key}":{"action":"decline"},"other":{"action":"cancel"},"${escaped}":{"action":"accept"}}`;
      const { name, arguments: args } = formCall;
      const params = `{"name":${JSON.stringify(name)},"arguments":${JSON.stringify(args)},"inputResponses":${responses},"requestState":"${stateOf(round)}","_meta":${JSON.stringify(modernMeta(EVERYTHING)._meta)}}`;
      weir.send(`{"jsonrpc":"2.0","id":"odd","method":"tools/call","params":${params}}`);
      expect(told(await weir.answer('odd'))).toEqual(['{"action":"accept"}']);
    },
  );

  verifies('ERA-2', 'a call may ask one question after another', async () => {
    await using weir = serveInProcess({ c: fixture('asks-given-questions') });
    const ask = await open(weir, 'modern', EVERYTHING);
    const call = asking([
      { method: 'elicitation/create', params: { ...FORM, message: 'First?' } },
      { method: 'roots/list', params: {} },
    ]);
    const first = await ask('tools/call', call);
    expect(questionsOf(first)).toMatchObject([{ params: { message: 'First?' } }]);
    const second = await again(ask, call, first, [ACCEPT]);
    expect(questionsOf(second)).toMatchObject([{ method: 'roots/list' }]);
    expect(stateOf(second)).not.toBe(stateOf(first));
    const last = await again(ask, call, second, [{ roots: [] }]);
    expect(told(last)).toEqual([JSON.stringify(ACCEPT), '{"roots":[]}']);
  });

  verifies(
    'ERA-2',
    'concurrent questions share a round, and the gateway repeats unanswered ones',
    async () => {
      await using weir = serveInProcess({ c: fixture('asks-given-questions') });
      const ask = await open(weir, 'modern', EVERYTHING);
      const call = asking(
        ['One?', 'Two?', 'Three?'].map((message) => ({
          method: 'elicitation/create',
          params: { ...FORM, message },
        })),
        { together: true },
      );
      const first = await ask('tools/call', call);
      expect(questionsOf(first).map(({ params }) => params['message'])).toEqual(['One?', 'Two?', 'Three?']);
      // The gateway ignores an answer that is not an object.
      const second = await again(ask, call, first, [undefined, { action: 'decline' }, 'nonsense']);
      expect(questionsOf(second).map(({ params }) => params['message'])).toEqual(['One?', 'Three?']);
      const third = await again(ask, call, second, []);
      expect(questionsOf(third)).toEqual(questionsOf(second));
      const last = await again(ask, call, third, [{ action: 'cancel' }, ACCEPT]);
      expect(told(last)).toEqual(['{"action":"cancel"}', '{"action":"decline"}', JSON.stringify(ACCEPT)]);
    },
  );

  verifies('ERA-2', 'prompts/get and resources/read can ask questions', async () => {
    await using weir = serveInProcess({ c: fixture('asks-given-questions') });
    const ask = await open(weir, 'modern', EVERYTHING);
    for (const [method, params, answer] of [
      ['prompts/get', { name: 'c:greet' }, { roots: [] }],
      ['resources/read', { uri: 'asks://one' }, { content: {} }],
    ] as const) {
      const round = await ask(method, params);
      const [{ key } = { key: '' }] = questionsOf(round);
      const last = await ask(method, {
        ...params,
        inputResponses: { [key]: answer },
        requestState: stateOf(round),
      });
      expect(JSON.stringify(last.result)).toContain(JSON.stringify(JSON.stringify(answer)));
    }
  });

  verifies('ERA-2', 'the gateway drops the answer to a question that was withdrawn meanwhile', async () => {
    await using weir = serveInProcess({ c: fixture('asks-given-questions') });
    const ask = await open(weir, 'modern', EVERYTHING);
    const call = { name: 'c:withdraw' };
    const round = await ask('tools/call', call, { 'io.modelcontextprotocol/logLevel': 'debug' });
    while (textOf(await ask('tools/call', { name: 'c:release' })) === '0')
      await new Promise((resolve) => setTimeout(resolve, 10));
    expect(textOf(await again(ask, call, round, [ACCEPT]))).toBe('withdrawn');
    // Messages logged meanwhile belonged to no open request.
    expect(weir.messages.filter(({ method }) => method === 'notifications/message')).toEqual([]);
    expect(weir.gateway.fronts.calls.suspendedCalls.size).toBe(0);
  });

  verifies('ERA-2', 'the gateway never asks a question that is withdrawn at once', async () => {
    await using weir = serveInProcess({ a: fixture('asks-client') });
    const ask = await open(weir, 'modern', EVERYTHING);
    expect(textOf(await ask('tools/call', { name: 'a:withdraw' }))).toBe('withdrawn');
  });

  verifies('ERA-2', 'a call may end before its question is answered', async () => {
    await using weir = serveInProcess({ c: fixture('asks-given-questions') });
    const ask = await open(weir, 'modern', EVERYTHING);
    const round = await ask('tools/call', { name: 'c:hasty' });
    while (weir.gateway.children.get('c')?.peer.handlers().length !== 0)
      await new Promise((resolve) => setTimeout(resolve, 10));
    expect(textOf(await again(ask, { name: 'c:hasty' }, round, [ACCEPT]))).toBe('as it were');
    const late = await ask('tools/call', { name: 'c:told-late' });
    expect(told(late)).toEqual([JSON.stringify(ACCEPT)]);
    expect(weir.gateway.fronts.calls.suspendedCalls.size).toBe(0);
  });

  verifies(
    ['ERA-2', 'AGG-CHILD-4'],
    'an answer to a question of a crashed server gets an error with its name',
    async () => {
      await using weir = serveInProcess({ c: fixture('asks-given-questions'), e: fixture('echo') });
      const ask = await open(weir, 'modern', EVERYTHING);
      const round = await ask('tools/call', { name: 'c:die' });
      while (weir.gateway.children.get('c')?.status === 'running')
        await new Promise((resolve) => setTimeout(resolve, 10));
      expect((await again(ask, { name: 'c:die' }, round, [ACCEPT])).error).toMatchObject({
        code: -32000,
        message: "Server 'c' exited with code 3",
      });
      expect(weir.gateway.fronts.calls.suspendedCalls.size).toBe(0);
    },
  );

  verifies('ERA-2', 'answers reach their own call among several suspended calls of one client', async () => {
    await using weir = serveInProcess({ c: fixture('asks-given-questions') });
    const ask = await open(weir, 'modern', EVERYTHING);
    const calls = ['a', 'b', 'c', 'd'].map((message) =>
      asking([
        { method: 'elicitation/create', params: { ...FORM, message } },
        { method: 'elicitation/create', params: { ...FORM, message: `${message}2` } },
      ]),
    );
    // Each asks before the next one is called, and all wait; then they go on in another order.
    const rounds = [];
    for (const call of calls) rounds.push(await ask('tools/call', call));
    const results = [];
    for (const index of [2, 0, 3, 1]) {
      const [call, round] = [calls[index] ?? {}, rounds[index] ?? {}];
      const message = questionsOf(round)[0]?.params['message'];
      const second = await again(ask, call, round, [{ action: 'accept', content: { message } }]);
      expect(questionsOf(second)[0]?.params['message']).toBe(`${String(message)}2`);
      const last = await again(ask, call, second, [{ action: 'decline' }]);
      results.push(told(last)[0]);
    }
    expect(results).toEqual(
      ['c', 'a', 'd', 'b'].map((message) => JSON.stringify({ action: 'accept', content: { message } })),
    );
  });

  verifies('ERA-2', 'progress and log messages reach the current request of a suspended call', async () => {
    await using weir = serveInProcess({ c: fixture('asks-given-questions') });
    const ask = await open(weir, 'modern', EVERYTHING);
    const call = { name: 'c:talk' };
    const level = (logLevel: string): Json => ({ 'io.modelcontextprotocol/logLevel': logLevel });
    const round = await ask('tools/call', call, { progressToken: 'one', ...level('info') });
    const before = weir.messages.length;
    const [{ key } = { key: '' }] = questionsOf(round);
    const retry = { ...call, inputResponses: { [key]: ACCEPT }, requestState: stateOf(round) };
    await ask('tools/call', retry, { progressToken: 'two', ...level('debug') });
    const news = (from: number, to?: number): unknown[] =>
      weir.messages
        .slice(from, to)
        .filter(({ method }) => method !== undefined)
        .map(({ params }) => params);
    expect(news(0, before)).toEqual([
      { progressToken: 'one', progress: 1 },
      { level: 'info', data: 'before' },
    ]);
    expect(news(before)).toEqual([
      { progressToken: 'two', progress: 2 },
      { level: 'info', data: 'after' },
      { level: 'debug', data: 'after' },
    ]);
  });

  verifies(
    'ERA-2',
    'the gateway refuses a question that its client does not support, and the call goes on',
    async () => {
      const cases: [Json, string, Json, string][] = [
        [{}, 'elicitation/create', FORM, 'elicitation'],
        [{ elicitation: { url: {} } }, 'elicitation/create', FORM, 'elicitation.form'],
        [{ elicitation: {} }, 'elicitation/create', { mode: 'url' }, 'elicitation.url'],
        [{ elicitation: { form: {} } }, 'elicitation/create', { mode: 'url' }, 'elicitation.url'],
        [{ elicitation: {} }, 'sampling/createMessage', {}, 'sampling'],
        [{ sampling: {} }, 'sampling/createMessage', { tools: [] }, 'sampling.tools'],
        [{ sampling: {} }, 'roots/list', {}, 'roots'],
        [EVERYTHING, 'constructor', {}, 'clients of the modern era do not support it'],
        [EVERYTHING, 'x/unknown', {}, 'clients of the modern era do not support it'],
      ];
      await using weir = serveInProcess({ c: fixture('asks-given-questions') });
      await open(weir, 'modern');
      for (const [capabilities, method, params, what] of cases) {
        const call = { ...asking([{ method, params }]), ...modernMeta(capabilities) };
        const [text = ''] = told(await weir.request('tools/call', call));
        expect(JSON.parse(text)).toMatchObject({
          code: -32601,
          message: expect.stringContaining(what) as string,
        });
      }
      expect(weir.gateway.fronts.calls.suspendedCalls.size).toBe(0);
    },
  );

  verifies('ERA-2', 'the gateway refuses a question that a server asks without a call', async () => {
    const early = scripted(`
      import { ask, serve, text, tool } from 'stdio';
      const answers = [];
      serve({
        name: 'early',
        tools: [tool('answers')],
        call: { answers: () => new Promise((done) => setImmediate(() => done(text(JSON.stringify(answers))))) },
        on: { 'notifications/initialized': () => void ask('sampling/createMessage', {}).then(({ error }) => answers.push(error)) },
      });`);
    await using weir = serveInProcess({ e: early });
    const ask = await open(weir, 'modern', EVERYTHING);
    expect(JSON.parse(textOf(await ask('tools/call', { name: 'e:answers' })))).toMatchObject([
      { code: -32000, message: expect.stringContaining('only during one of its calls') as string },
    ]);
  });
});
