// Questions of servers to the client: requests in the legacy era, further rounds of a call in the modern one.
import { describe, expect } from 'vitest';
import { commandFor, connectSdk, fixture, modernMeta, scripted, textOf } from '../../support/harness.ts';
import { open, serveInProcess } from '../../support/in-process.ts';
import { verifies } from '../../verifies.ts';

const EVERYTHING = { sampling: {}, elicitation: {}, roots: { listChanged: true } };
const FORM = {
  message: 'Your name?',
  requestedSchema: { type: 'object', properties: { name: { type: 'string' } } },
};

describe('a question of a legacy server', () => {
  verifies('AGG-CALL-3', 'a question reaches the client, and its answer the server that asked', async () => {
    await using weir = serveInProcess({ a: fixture('asks-client'), b: fixture('asks-client') });
    await weir.initialize(EVERYTHING);
    for (const [tool, method, params, result] of [
      [
        'elicit',
        'elicitation/create',
        { ...FORM, message: 'a: Your name?', 'x-more': [1] },
        { action: 'accept', content: { name: 'Ada' }, 'x-more': [2] },
      ],
      [
        'sample',
        'sampling/createMessage',
        { maxTokens: 10 },
        { role: 'assistant', content: { type: 'hologram' }, model: 'm' },
      ],
      ['roots', 'roots/list', undefined, { roots: [{ uri: 'file:///a', 'x-more': [3] }] }],
    ] as const) {
      const call = weir.callTool(`a:${tool}`, { 'x-more': [1] });
      const question = await weir.call(method);
      if (params !== undefined) expect(question.params).toMatchObject(params);
      weir.send({ id: question.id, result });
      expect(JSON.parse(textOf(await call))).toEqual(result);
    }
  });

  verifies('AGG-CALL-3', 'code, message and data of a refused question reach the server', async () => {
    await using weir = serveInProcess({ a: fixture('asks-client') });
    await weir.initialize(EVERYTHING);
    const call = weir.callTool('a:sample');
    const { id } = await weir.call('sampling/createMessage');
    const error = { code: -1, message: 'User rejected', data: { why: [1] } };
    weir.send({ id, error });
    const { result } = await call;
    expect(result).toMatchObject({ isError: true, content: [{ text: JSON.stringify(error) }] });
  });

  verifies('AGG-CALL-3', 'progress on a question reaches the server under its own token', async () => {
    const patient = scripted(`
      import { ask, serve, text, tool } from 'stdio';
      const updates = [];
      serve({
        name: 'patient',
        tools: [tool('ask')],
        call: { ask: async () => {
          await ask('sampling/createMessage', { maxTokens: 1, _meta: { progressToken: 'of the server', x: 1 } });
          return text(JSON.stringify(updates));
        } },
        on: { 'notifications/progress': (params) => void updates.push(params) },
      });`);
    await using weir = serveInProcess({ p: patient });
    await weir.initialize(EVERYTHING);
    const call = weir.callTool('p:ask');
    const { id, params } = await weir.call('sampling/createMessage');
    const meta = params?.['_meta'] as { progressToken: number; x: number } | undefined;
    expect(meta?.x).toBe(1);
    const progressToken = meta?.progressToken;
    for (const progress of [1, 2])
      weir.notify('notifications/progress', { progressToken, progress, 'x-more': [progress] });
    weir.notify('notifications/progress', { progressToken: 'nobody', progress: 3 });
    weir.send({ id, result: {} });
    expect(JSON.parse(textOf(await call))).toEqual([
      { progressToken: 'of the server', progress: 1, 'x-more': [1] },
      { progressToken: 'of the server', progress: 2, 'x-more': [2] },
    ]);
  });

  verifies('AGG-CALL-3', 'questions of several servers under the same id get their own answers', async () => {
    const keys = ['a', 'b', 'c'];
    await using weir = serveInProcess(Object.fromEntries(keys.map((key) => [key, fixture('asks-client')])));
    await weir.initialize(EVERYTHING);
    const calls = keys.map((key) => weir.callTool(`${key}:elicit`, { message: key }));
    const questions = [];
    for (const _ of keys) questions.push(await weir.call('elicitation/create'));
    expect(new Set(questions.map(({ id }) => id)).size).toBe(3);
    for (const { id, params } of questions.toReversed()) {
      weir.send({ id, result: { action: 'accept', content: { asked: params?.['message'] } } });
    }
    const texts = (await Promise.all(calls)).map(textOf);
    expect(texts.map((text) => (JSON.parse(text) as { content: unknown }).content)).toEqual(
      keys.map((key) => ({ asked: `${key}: ${key}` })),
    );
  });

  verifies(
    'AGG-CALL-3',
    "a withdrawn question is cancelled at the client under the client's id",
    async () => {
      await using weir = serveInProcess({ a: fixture('asks-client') });
      await weir.initialize(EVERYTHING);
      expect(textOf(await weir.callTool('a:withdraw'))).toBe('withdrawn');
      const { id } = await weir.call('elicitation/create');
      expect((await weir.call('notifications/cancelled')).params).toEqual({
        requestId: id,
        reason: 'not needed',
      });
      // An answer that comes all the same does no harm.
      weir.send({ id, result: { action: 'accept' } });
      expect(textOf(await weir.callTool('a:roots-changed'))).toBe('0');
    },
  );

  verifies(
    ['AGG-CALL-3', 'AGG-CHILD-4'],
    'the gateway withdraws a question when its server dies',
    async () => {
      const dies = scripted(`
      import { ask, serve, tool } from 'stdio';
      serve({ name: 'dies', tools: [tool('ask')], call: { ask: () => {
        void ask('elicitation/create', { message: 'Still there?' });
        setTimeout(() => process.exit(1), 100);
      } } });`);
      await using weir = serveInProcess({ d: dies, e: fixture('echo') });
      await weir.initialize(EVERYTHING);
      const call = weir.callTool('d:ask');
      const { id } = await weir.call('elicitation/create');
      expect((await call).error?.message).toBe("Server 'd' exited with code 1");
      expect((await weir.call('notifications/cancelled')).params).toMatchObject({ requestId: id });
    },
  );

  verifies('AGG-CALL-3', 'the gateway answers ping itself, for clients and servers', async () => {
    await using weir = serveInProcess({ a: fixture('asks-client') });
    await weir.initialize();
    expect((await weir.request('ping')).result).toEqual({});
    expect(textOf(await weir.callTool('a:ping'))).toBe('{}');
  });

  verifies('AGG-CALL-3', 'every server gets the notification of changed roots', async () => {
    await using weir = serveInProcess({ a: fixture('asks-client'), b: fixture('asks-client') });
    await weir.initialize(EVERYTHING);
    await weir.tools();
    weir.notify('notifications/roots/list_changed');
    for (const key of ['a', 'b']) expect(textOf(await weir.callTool(`${key}:roots-changed`))).toBe('1');
  });

  verifies('AGG-CHILD-6', 'servers see the capabilities of the real client, and no others', async () => {
    const offered = async (capabilities: Record<string, unknown>): Promise<string[]> => {
      await using weir = serveInProcess({ a: fixture('asks-client') });
      await weir.initialize(capabilities);
      return (await weir.tools()).filter((name) => name.includes('only-with'));
    };
    expect(await offered({})).toEqual([]);
    expect(await offered({ sampling: {} })).toEqual(['a:only-with-sampling']);
    expect(await offered(EVERYTHING)).toEqual(['a:only-with-sampling', 'a:only-with-elicitation']);
  });

  verifies(['AGG-CALL-3', 'ERA-1'], 'the SDK client answers questions of a legacy server', async () => {
    await using sdk = await connectSdk(commandFor({ a: fixture('asks-client') }), 'legacy', {
      capabilities: EVERYTHING,
    });
    const { client } = sdk;
    client.setRequestHandler('elicitation/create', () => ({
      action: 'accept' as const,
      content: { name: 'Ada' },
    }));
    client.setRequestHandler('sampling/createMessage', () => ({
      role: 'assistant' as const,
      content: { type: 'text' as const, text: 'Hello' },
      model: 'test',
    }));
    client.setRequestHandler('roots/list', () => ({ roots: [{ uri: 'file:///a' }] }));
    const answers = [];
    for (const name of ['a:elicit', 'a:sample', 'a:roots']) {
      const { content } = await client.callTool({ name });
      answers.push(content[0]?.type === 'text' ? (JSON.parse(content[0].text) as unknown) : undefined);
    }
    expect(answers).toMatchObject([
      { action: 'accept', content: { name: 'Ada' } },
      { role: 'assistant', content: { text: 'Hello' } },
      { roots: [{ uri: 'file:///a' }] },
    ]);
  });

  verifies(
    ['AGG-CALL-3', 'ERA-1'],
    "a modern client gets a legacy server's question as a round, never as a request",
    async () => {
      await using weir = serveInProcess({ a: fixture('asks-client') });
      const ask = await open(weir, 'modern', EVERYTHING);
      const { result } = await ask('tools/call', { name: 'a:elicit' });
      const [[key, question] = []] = Object.entries(result?.['inputRequests'] ?? {});
      expect(question).toEqual({ method: 'elicitation/create', params: FORM });
      const answer = { action: 'accept', content: { name: 'Ada' } };
      const last = await ask('tools/call', {
        name: 'a:elicit',
        inputResponses: { [key ?? '']: answer },
        requestState: result?.['requestState'],
      });
      expect(JSON.parse(textOf(last))).toEqual(answer);
      expect(weir.messages.filter(({ method }) => method === 'elicitation/create')).toEqual([]);
    },
  );
});

describe('a round of the modern revision', () => {
  verifies(['AGG-CALL-3', 'ERA-1'], 'a round and its answer pass unchanged', async () => {
    await using weir = serveInProcess({ m: fixture('modern') });
    const ask = await open(weir, 'modern', EVERYTHING);
    const first = await ask('tools/call', { name: 'm:ask' });
    expect(first.result).toMatchObject({
      resultType: 'input_required',
      requestState: 'round 1',
      inputRequests: { name: { method: 'elicitation/create', params: { message: 'Your name?' } } },
    });
    const inputResponses = { name: { action: 'accept', content: { name: 'Ada' } } };
    const last = await ask('tools/call', { name: 'm:ask', inputResponses, requestState: 'round 1' });
    expect(textOf(last)).toBe(`round 1: ${JSON.stringify(inputResponses)}`);
  });

  verifies(['AGG-CALL-3', 'ERA-1'], 'the SDK client answers a round by itself', async () => {
    await using sdk = await connectSdk(commandFor({ m: fixture('modern') }), 'modern', {
      capabilities: EVERYTHING,
    });
    sdk.client.setRequestHandler('elicitation/create', () => ({
      action: 'accept' as const,
      content: { name: 'Ada' },
    }));
    const { content } = await sdk.client.callTool({ name: 'm:ask' });
    expect(content).toMatchObject([{ text: expect.stringMatching(/^round 1: .*Ada/u) as string }]);
  });

  verifies(['AGG-CALL-3', 'ERA-1'], 'a legacy client gets a round as a request', async () => {
    await using weir = serveInProcess({ m: fixture('modern') });
    await weir.initialize(EVERYTHING);
    const call = weir.callTool('m:ask');
    const { id, params } = await weir.call('elicitation/create');
    expect(params).toMatchObject({ message: 'Your name?' });
    weir.send({ id, result: { action: 'decline' } });
    expect(textOf(await call)).toBe('round 1: {"name":{"action":"decline"}}');
  });

  for (const [era, server, tools] of [
    ['modern', fixture('asks-client'), ['a:elicit', 'a:sample', 'a:roots']],
    ['legacy', fixture('modern'), ['a:ask']],
  ] as const) {
    verifies(
      ['AGG-CALL-3', 'ERA-2'],
      `the SDK's ${era} client answers questions of a server of the other era`,
      async () => {
        await using sdk = await connectSdk(commandFor({ a: server }), era, { capabilities: EVERYTHING });
        const { client } = sdk;
        const content = { name: 'Ada' };
        client.setRequestHandler('elicitation/create', () => ({ action: 'accept' as const, content }));
        client.setRequestHandler('sampling/createMessage', () => ({
          role: 'assistant' as const,
          content: { type: 'text' as const, text: 'Ada' },
          model: 'test',
        }));
        client.setRequestHandler('roots/list', () => ({ roots: [{ uri: 'file:///Ada' }] }));
        for (const name of tools) {
          const { content: told, isError } = await client.callTool({ name });
          expect(isError ?? false).toBe(false);
          expect(told).toMatchObject([{ text: expect.stringContaining('Ada') as string }]);
        }
      },
    );
  }

  verifies(['AGG-CHILD-6', 'ERA-1'], 'a server sees the client capabilities of each request', async () => {
    await using weir = serveInProcess({ m: fixture('modern') });
    await open(weir, 'modern');
    const needs = (capabilities: Record<string, unknown>) =>
      weir.request('tools/call', { name: 'm:needs-sampling', ...modernMeta(capabilities) });
    expect((await needs({})).error).toMatchObject({
      code: -32021,
      data: { requiredCapabilities: { sampling: {} } },
    });
    expect(textOf(await needs({ sampling: {} }))).toBe('can sample');
    await using legacy = serveInProcess({ m: fixture('modern') });
    await legacy.initialize({ sampling: {} });
    expect(textOf(await legacy.callTool('m:needs-sampling'))).toBe('can sample');
  });
});
