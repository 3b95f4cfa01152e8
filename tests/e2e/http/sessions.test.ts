// Both generations at one address: sessions, streams that can be taken up again, and requests that say everything.
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { serveHttp } from '@weir/gateway';
import { describe, expect, test } from 'vitest';
import { fixture, scripted, type Era, type Json, type Received } from '../../support/harness.ts';
import {
  begin,
  connectHttp,
  Events,
  eventually,
  modern,
  open,
  openSession,
  rpc,
  send,
  serveTest,
  wireText,
  type Answer,
} from '../../support/http.ts';
import { createTestGateway } from '../../support/in-process.ts';
import { verifies } from '../../verifies.ts';

const ERAS: readonly Era[] = ['legacy', 'modern'];

/** `begin` reports progress and waits; `go` reports more for all that wait, and answers them. */
const steps = scripted(`
  import { notify, reply, serve, text, tool } from 'stdio';
  const begun = [];
  const progress = ({ params }, progress) =>
    notify('notifications/progress', { progressToken: params._meta.progressToken, progress });
  serve({
    name: 'steps',
    tools: [tool('begin'), tool('go')],
    call: {
      begin: (_args, message) => { begun.push(message); progress(message, 1); },
      go: () => {
        for (const message of begun.splice(0)) { progress(message, 2); reply(message.id, text('gone')); }
        return text('went');
      },
    },
  });
`);

const progressToken = { progressToken: 'token' };

function textIn(message: Received | undefined): unknown {
  return (message?.result as { content?: { text?: string }[] } | undefined)?.content?.[0]?.text;
}

describe.concurrent('clients of the SDK', () => {
  for (const era of ERAS) {
    verifies('ERA-1', `a ${era} client lists, calls, hears progress and leaves`, async () => {
      await using http = await serveTest({ echo: fixture('echo'), progress: fixture('progress') });
      await using sdk = await connectHttp(http.url, era);
      const { tools } = await sdk.client.listTools();
      expect(tools.map(({ name }) => name)).toContain('echo:add');
      const { structuredContent } = await sdk.client.callTool({
        name: 'echo:add',
        arguments: { a: 2, b: 3 },
      });
      expect(structuredContent).toEqual({ sum: 5 });
      const heard: number[] = [];
      const options = { onprogress: ({ progress }: { progress: number }) => void heard.push(progress) };
      await sdk.client.callTool({ name: 'progress:progress', arguments: {} }, options);
      // The SDK itself loses an update that comes right before the result.
      expect(heard.slice(0, 2)).toEqual([1, 2]);
      await expect(sdk.client.callTool({ name: 'echo:nothing' })).rejects.toThrow(
        'Tool not found: echo:nothing',
      );
    });
  }

  verifies('ERA-1', 'many of both eras at once, each with its own answers', async () => {
    await using http = await serveTest({ echo: fixture('echo') });
    const clients = await Promise.all(
      Array.from({ length: 8 }, (_, index) => connectHttp(http.url, ERAS[index % 2] ?? 'legacy')),
    );
    const texts = await Promise.all(
      clients.map(({ client }, index) =>
        client.callTool({ name: 'echo:echo', arguments: { text: `${index}` } }),
      ),
    );
    expect(texts.map(({ content }) => (content as { text: string }[])[0]?.text)).toEqual(
      '01234567'.split(''),
    );
    await Promise.all(clients.map(({ client }) => client.close()));
  });

  verifies('ERA-1', 'a client that ends its session is forgotten', async () => {
    await using http = await serveTest({ echo: fixture('echo') });
    await using sdk = await connectHttp(http.url, 'legacy');
    expect(http.front.load.sessions).toBe(1);
    await sdk.transport.terminateSession();
    expect(http.front.load.sessions).toBe(0);
    expect([...http.gateway.server.clients]).toEqual([]);
  });
});

describe.concurrent('a modern request', () => {
  test('is answered as JSON in one piece, whatever its id', async () => {
    await using http = await serveTest({ echo: fixture('echo') });
    const call = modern('tools/call', { name: 'echo:echo', arguments: { text: 'ü€😀' } }, { id: 'a "b"' });
    const { status, headers, json, text } = await send(http.url, call);
    expect({ status, type: headers['content-type'] }).toEqual({ status: 200, type: 'application/json' });
    expect(headers['content-length']).toBe(String(Buffer.byteLength(text)));
    expect(headers['mcp-session-id']).toBeUndefined();
    expect([json.id, textIn(json)]).toEqual(['a "b"', 'ü€😀']);
  });

  test('becomes a stream with the first thing that precedes its answer', async () => {
    await using http = await serveTest({ progress: fixture('progress') });
    const call = modern('tools/call', { name: 'progress:progress' }, { meta: progressToken });
    const events = new Events(await open(http.url, call));
    expect(events.response.headers).toMatchObject({
      'content-type': 'text/event-stream',
      'cache-control': 'no-cache, no-transform',
      'x-accel-buffering': 'no',
    });
    const all = await events.rest();
    expect(all.map(({ data }) => data?.method ?? textIn(data))).toEqual([
      ...Array<string>(3).fill('notifications/progress'),
      'done',
    ]);
    expect(all.every(({ id }) => id === undefined)).toBe(true);
  });

  verifies(['ERA-1', 'ERA-5'], 'is called off at its server when the client hangs up', async () => {
    await using http = await serveTest({ stall: fixture('stall') });
    const count = async (name: string): Promise<unknown> =>
      textIn((await send(http.url, modern('tools/call', { name }))).json);
    const hangUp = begin(http.url, modern('tools/call', { name: 'stall:stall' }));
    await eventually(async () => (await count('stall:stalled')) === '1' || undefined);
    expect(http.front.load.underWay).toBe(1);
    hangUp();
    await eventually(async () => (await count('stall:cancelled')) === '1' || undefined);
    const { json } = await send(http.url, modern('tools/call', { name: 'stall:cancelled' }));
    expect(json.result?.['structuredContent']).toMatchObject({ known: true });
    expect(http.front.load.underWay).toBe(0);
  });

  verifies(
    'ERA-5',
    'that listens hears of changes under its own id, also beside another with the same',
    async () => {
      await using http = await serveTest({ changes: fixture('changes') });
      const listen = async (notifications: Json): Promise<Events> =>
        new Events(await open(http.url, modern('subscriptions/listen', { notifications }, { id: 5 })));
      const [tools, prompts] = [
        await listen({ toolsListChanged: true }),
        await listen({ promptsListChanged: true }),
      ];
      for (const events of [tools, prompts])
        expect((await events.message()).method).toBe('notifications/subscriptions/acknowledged');
      const change = { kind: 'prompts', name: 'hello' };
      await send(http.url, modern('tools/call', { name: 'changes:add', arguments: change }));
      expect(await prompts.message()).toMatchObject({
        method: 'notifications/prompts/list_changed',
        params: { _meta: { 'io.modelcontextprotocol/subscriptionId': 5 } },
      });
      await http.front.close();
      // What listens hears that it is over, and nothing that it has not asked for.
      const last = (await tools.rest()).map(({ data }) => data);
      expect(last).toMatchObject([{ id: 5, result: { resultType: 'complete' } }]);
    },
  );

  test('may be a notification, which is accepted', async () => {
    await using http = await serveTest({ echo: fixture('echo') });
    const headers = { 'MCP-Protocol-Version': '2026-07-28' };
    const { status, text } = await send(http.url, {
      headers,
      body: rpc('notifications/cancelled', { requestId: 1 }),
    });
    expect([status, text]).toEqual([202, '']);
  });
});

describe.concurrent('a session', () => {
  verifies('ERA-1', 'is opened by initialize, named with every request, and ended by DELETE', async () => {
    await using http = await serveTest({ echo: fixture('echo') });
    const client = await openSession(http.url);
    expect(client.id).toMatch(/^[\x21-\x7e]{36}$/u);
    expect(client.opening.result).toMatchObject({ protocolVersion: '2025-11-25' });
    const call = client.call('echo:echo', { text: 'hello' });
    expect(textIn((await client.post(call)).json)).toBe('hello');
    expect((await send(http.url, { body: call })).status).toBe(400);
    expect((await send(http.url, { body: call, headers: { 'Mcp-Session-Id': 'unknown' } })).status).toBe(404);
    expect((await client.post(rpc('initialize', {}, 2))).status).toBe(400);
    expect((await client.end()).status).toBe(200);
    expect((await client.post(call)).status).toBe(404);
    expect((await client.listen()).status).toBe(404);
    expect(http.front.load).toEqual({ sessions: 0, underWay: 0 });
  });

  verifies('ERA-1', 'belongs to its revision: the header must name one of its kind', async () => {
    await using http = await serveTest({ echo: fixture('echo') });
    const client = await openSession(http.url, { version: '2025-06-18' });
    const named = (version: string): Promise<Answer> =>
      send(http.url, {
        headers: { ...client.headers, 'MCP-Protocol-Version': version },
        body: rpc('ping', {}, 1),
      });
    expect((await named('2025-06-18')).json).toEqual({ jsonrpc: '2.0', id: 1, result: {} });
    expect((await named('1999-12-31')).status).toBe(400);
    expect(client.opening.result).toMatchObject({ protocolVersion: '2025-06-18' });
  });

  verifies(
    'ERA-1',
    'whose stream breaks off gets the rest, also of a call that is still under way',
    async () => {
      await using http = await serveTest({ steps });
      const client = await openSession(http.url);
      const first = await client.stream(client.call('steps:begin', {}, { meta: progressToken }));
      const primer = await first.next();
      expect(primer).toEqual({ id: '1_0', retry: '1000', data: undefined });
      const { event, params } = await first.message();
      expect(params).toMatchObject({ progress: 1, progressToken: 'token' });
      first.drop();
      // The call goes on; its stream is taken up where it broke off.
      const second = await client.listen(primer?.id);
      expect((await second.message()).params).toMatchObject({ progress: 1 });
      await client.post(client.call('steps:go', {}, { id: 2 }));
      const rest = (await second.rest()).map(({ data }) => data);
      expect(rest).toMatchObject([{ params: { progress: 2 } }, { id: 1, result: {} }]);
      // All over, and still there for who missed it.
      const third = (await (await client.listen(event)).rest()).filter(({ data }) => data !== undefined);
      expect(third.map(({ data }) => data)).toEqual(rest);
      expect(http.front.load.underWay).toBe(1);
    },
  );

  verifies('ERA-1', 'gets the answer of a call whose stream broke off before it', async () => {
    await using http = await serveTest({ steps });
    const client = await openSession(http.url);
    const first = await client.stream(client.call('steps:begin', {}, { meta: progressToken }));
    const { event } = await first.message();
    first.drop();
    await eventually(() => Promise.resolve(http.front.load.underWay === 2 || undefined));
    await client.post(client.call('steps:go', {}, { id: 2 }));
    const rest = await (await client.listen(event)).rest();
    expect(rest.at(-1)?.data).toMatchObject({ id: 1, result: {} });
  });

  verifies('ERA-1', 'that has come back for a call gets its answer when the gateway ends', async () => {
    const late = scripted(`
      import { notify, reply, serve, text, tool } from 'stdio';
      serve({ name: 'late', tools: [tool('begin')], call: {
        begin: (_args, { id, params }) => {
          notify('notifications/progress', { progressToken: params._meta.progressToken, progress: 1 });
          setTimeout(() => reply(id, text('late')), 1000);
        },
      } });
    `);
    await using http = await serveTest({ late });
    const client = await openSession(http.url);
    const first = await client.stream(client.call('late:begin', {}, { meta: progressToken }));
    const { event } = await first.message();
    first.drop();
    const second = await client.listen(event);
    const closed = http.front.close();
    expect(textIn(await second.message())).toBe('late');
    await closed;
  });

  test('that asks for an event nobody knows is told so', async () => {
    await using http = await serveTest({ echo: fixture('echo') });
    const client = await openSession(http.url);
    for (const id of ['7_1', 'x', '1_', `${'9'.repeat(40)}_1`])
      expect((await client.listen(id)).status).toBe(400);
  });

  verifies(
    'ERA-1',
    'hears what belongs to no request on the stream it opens for that, also what came before',
    async () => {
      await using http = await serveTest({ changes: fixture('changes') });
      const client = await openSession(http.url);
      const add = (name: string): Promise<Answer> => client.post(client.call('changes:add', { name }));
      await add('early');
      await new Promise((resolve) => setTimeout(resolve, 200));
      const events = await client.listen();
      expect((await events.message()).method).toBe('notifications/tools/list_changed');
      await add('late');
      expect((await events.message()).method).toBe('notifications/tools/list_changed');
      const again = await client.listen();
      expect(await events.rest()).toEqual([]);
      await add('last');
      expect((await again.message()).method).toBe('notifications/tools/list_changed');
    },
  );

  verifies('ERA-1', 'is asked by a server on the stream of its call, and answers with a POST', async () => {
    await using http = await serveTest({ asks: fixture('asks') });
    const client = await openSession(http.url, { capabilities: { roots: {} } });
    const events = await client.stream(client.call('asks:roots'));
    const question = await events.message();
    expect(question.method).toBe('roots/list');
    const answer = { jsonrpc: '2.0', id: question.id, result: { roots: [{ uri: 'file:///here' }] } };
    const { status, text } = await client.post(JSON.stringify(answer));
    expect([status, text]).toEqual([202, '']);
    expect(JSON.stringify(await events.message())).toContain('file:///here');
    expect(await events.rest()).toEqual([]);
  });

  verifies('ERA-1', 'is not asked where nobody is left to hear the question', async () => {
    const curious = scripted(`
      import { ask, reply, serve, text, tool } from 'stdio';
      let waiting;
      let told = '';
      serve({ name: 'curious', tools: [tool('wait'), tool('begun'), tool('go'), tool('told')], call: {
        wait: (_args, { id }) => void (waiting = id),
        begun: () => text(waiting !== undefined),
        go: () => {
          setTimeout(async () => {
            told = (await ask('roots/list', {})).error.message;
            reply(waiting, text('nobody hears this'));
          });
          return text('went');
        },
        told: () => text(told),
      } });
    `);
    await using http = await serveTest({ curious });
    const client = await openSession(http.url, { capabilities: { roots: {} } });
    const call = async (name: string): Promise<unknown> =>
      textIn((await client.post(client.call(name))).json);
    const hangUp = begin(http.url, { headers: client.headers, body: client.call('curious:wait') });
    await eventually(async () => (await call('curious:begun')) === 'true' || undefined);
    hangUp();
    await eventually(() => Promise.resolve(http.front.awaited === 0 || undefined));
    await call('curious:go');
    await eventually(() => Promise.resolve(http.front.load.underWay === 1 || undefined));
    expect(await call('curious:told')).toBe(
      'The client has closed the connection on which it could have been asked.',
    );
  });

  verifies(
    ['ERA-1', 'AGG-CALL-3'],
    'hears of a question that is withdrawn after its call was called off',
    async () => {
      const polite = scripted(`
        import { ask, notify, serve, tool } from 'stdio';
        const form = { message: 'Your name?', requestedSchema: { type: 'object', properties: {} } };
        serve({
          name: 'polite',
          tools: [tool('ask')],
          call: { ask: () => void ask('elicitation/create', form, 'q') },
          on: { 'notifications/cancelled': () => notify('notifications/cancelled', { requestId: 'q' }) },
        });`);
      await using http = await serveTest({ p: polite });
      const client = await openSession(http.url, { capabilities: { elicitation: {} } });
      const standalone = await client.listen();
      const events = await client.stream(client.call('p:ask', {}, { id: 'call' }));
      const { id } = await events.message();
      await client.post(rpc('notifications/cancelled', { requestId: 'call' }));
      expect(await events.rest()).toEqual([]);
      expect(await standalone.message()).toMatchObject({
        method: 'notifications/cancelled',
        params: { requestId: id },
      });
    },
  );

  verifies(
    'ERA-1',
    'calls off a request by a notification: its server hears of it, its response ends',
    async () => {
      await using http = await serveTest({ stall: fixture('stall') });
      const client = await openSession(http.url);
      const stalled = client.post(client.call('stall:stall', {}, { id: 'long' }));
      await eventually(
        async () => textIn((await client.post(client.call('stall:stalled'))).json) === '1' || undefined,
      );
      await client.post(rpc('notifications/cancelled', { requestId: 'long', reason: 'enough' }));
      expect((await stalled).text).toBe('');
      const { json } = await client.post(client.call('stall:cancelled'));
      expect(json.result?.['structuredContent']).toMatchObject({
        known: true,
        cancelled: [{ reason: 'enough' }],
      });
    },
  );

  verifies('ERA-1', 'that is ended takes its calls with it', async () => {
    await using http = await serveTest({ stall: fixture('stall') });
    const [client, other] = [await openSession(http.url), await openSession(http.url)];
    const stalled = client.post(client.call('stall:stall'));
    await eventually(
      async () => textIn((await client.post(client.call('stall:stalled'))).json) === '1' || undefined,
    );
    await client.end();
    expect((await stalled).json.error?.message).toBe('The client has ended its session');
    await eventually(
      async () => textIn((await other.post(other.call('stall:cancelled'))).json) === '1' || undefined,
    );
  });

  test('of an older revision gets no event without data', async () => {
    await using http = await serveTest({ progress: fixture('progress') });
    const client = await openSession(http.url, { version: '2025-06-18' });
    const events = await client.stream(client.call('progress:progress', {}, { meta: progressToken }));
    const all = await events.rest();
    expect(all).toHaveLength(4);
    expect(all.every(({ id, data }) => id !== undefined && data !== undefined)).toBe(true);
  });

  test('that takes long becomes a stream, so that its client can come back', { tags: ['slow'] }, async () => {
    await using http = await serveTest({ stall: fixture('stall') });
    const client = await openSession(http.url);
    const events = await client.stream(client.call('stall:stall'));
    expect(events.response.headers['content-type']).toBe('text/event-stream');
    expect((await events.next())?.data).toBeUndefined();
    await client.end();
  });

  verifies.slow(
    ['ERA-1', 'SAFE-1'],
    'that nobody uses is ended; where there are too many the idlest gives way',
    async () => {
      const limits = { maxSessions: 2, sessionIdle: 1 };
      await using http = await serveTest(
        { echo: fixture('echo') },
        { http: { limits: { ...limits, sessionIdle: 1e6 } } },
      );
      const [first, second] = [await openSession(http.url), await openSession(http.url)];
      await first.post(rpc('ping', {}, 1));
      const third = await openSession(http.url);
      const statuses = await Promise.all(
        [first, second, third].map((client) => client.post(rpc('ping', {}, 1))),
      );
      expect(statuses.map(({ status }) => status)).toEqual([200, 404, 200]);
      // Those that are in use stay.
      const streams = [await first.listen(), await third.listen()];
      const refused = await send(http.url, { body: rpc('initialize', {}, 1) });
      expect([refused.status, refused.headers['retry-after'], refused.json.id]).toEqual([503, '10', 1]);
      for (const stream of streams) stream.drop();

      await using idle = await serveTest({ echo: fixture('echo') }, { http: { limits } });
      await openSession(idle.url);
      await eventually(() => Promise.resolve(idle.front.load.sessions === 0 || undefined));
    },
  );
});

describe.concurrent('batches', () => {
  verifies('ERA-1', 'are answered together in a session of 2025-03-26', async () => {
    await using http = await serveTest({ echo: fixture('echo'), progress: fixture('progress') });
    const client = await openSession(http.url, { version: '2025-03-26' });
    const [one, two] = [
      client.call('echo:echo', { text: 'a' }),
      client.call('echo:echo', { text: 'b' }, { id: 2 }),
    ];
    const { json } = await client.post(`[${one},${rpc('notifications/x')},${two}]`);
    const answers = json as unknown as Received[];
    expect(answers.map((answer) => [answer.id, textIn(answer)])).toEqual([
      [1, 'a'],
      [2, 'b'],
    ]);
    expect((await client.post(`[${rpc('notifications/x')}]`)).status).toBe(202);
    const progress = client.call('progress:progress', {}, { id: 3, meta: progressToken });
    const events = await (await client.stream(`[${one},${progress}]`)).rest();
    const ids = events.map(({ data }) => data?.id).filter((id) => id !== undefined);
    expect(new Set(ids)).toEqual(new Set([1, 3]));
    expect(events).toHaveLength(5);
  });

  verifies('ERA-1', 'are refused elsewhere', async () => {
    await using http = await serveTest({ echo: fixture('echo') });
    const client = await openSession(http.url, { version: '2025-06-18' });
    const { status, json } = await client.post(`[${client.call('echo:echo')}]`);
    expect([status, json.error?.code]).toEqual([400, -32600]);
    const old = await openSession(http.url, { version: '2025-03-26' });
    for (const body of ['[]', '[1]', `[${rpc('initialize', {}, 1)}]`])
      expect((await old.post(body)).status).toBe(400);
  });
});

describe.concurrent('beside /mcp', () => {
  verifies('ERA-1', 'there is what tells how the gateway is, for who has no token', async () => {
    await using http = await serveTest({ echo: fixture('echo') });
    const at = (path: string): Promise<Answer> =>
      send(http.url.replace('/mcp', path), { method: 'GET', headers: { Authorization: undefined } });
    expect((await at('/healthz')).status).toBe(200);
    expect((await at('/readyz?verbose')).status).toBe(200);
    expect((await at('/')).status).toBe(404);
  });

  test('it is not ready before its servers are', async () => {
    const gateway = createTestGateway({ slow: fixture('slow-start') }, { keepGoing: true });
    const front = await serveHttp(gateway, { port: 0, serverInfo: { name: 'weir', version: '1' } });
    const ready = (): Promise<Answer> => send(front.url.replace('/mcp', '/readyz'), { method: 'GET' });
    expect((await ready()).status).toBe(503);
    await front.close();
  });
});

describe.concurrent('requests that come before the last one is answered', () => {
  async function connected(url: string, ...texts: string[]): Promise<Socket> {
    const socket = connect(Number(new URL(url).port), '127.0.0.1');
    await once(socket, 'connect');
    socket
      .setEncoding('utf8')
      .on('error', () => {})
      .write(texts.join(''));
    return socket;
  }

  test('are answered in their order', async () => {
    await using http = await serveTest({ echo: fixture('echo') });
    const call = (text: string): string =>
      wireText(http.url, modern('tools/call', { name: 'echo:echo', arguments: { text } }));
    const socket = await connected(http.url, call('first'), call('second'), call('third'));
    let text = '';
    socket.on('data', (chunk: string) => (text += chunk));
    await eventually(() => Promise.resolve(text.includes('third') || undefined));
    expect(text.match(/first|second|third/gu)).toEqual(['first', 'second', 'third']);
    socket.destroy();
  });

  verifies('ERA-1', 'leave nothing behind when their connection breaks', async () => {
    await using http = await serveTest({ echo: fixture('echo') });
    const listen = modern('subscriptions/listen', { notifications: { toolsListChanged: true } });
    const socket = await connected(http.url, ...Array<string>(3).fill(wireText(http.url, listen)));
    await once(socket, 'data');
    socket.destroy();
    await eventually(() => Promise.resolve(http.front.load.underWay === 0 || undefined));
  });
});

test('a client that does not read is given up, the others never wait', { tags: ['slow'] }, async () => {
  const flood = scripted(`
    import { notify, serve, text, tool } from 'stdio';
    const piece = 'x'.repeat(1 << 20);
    serve({ name: 'flood', tools: [tool('flood'), tool('echo')], call: {
      flood: (_args, { params }) => {
        for (let progress = 0; progress < 100; progress++)
          notify('notifications/progress', { progressToken: params._meta.progressToken, progress, message: piece });
      },
      echo: () => text('here'),
    } });
  `);
  await using http = await serveTest({ flood });
  const flooded = await open(
    http.url,
    modern('tools/call', { name: 'flood:flood' }, { meta: progressToken }),
  );
  const closed = new Promise((resolve) => flooded.once('error', resolve).once('close', resolve));
  flooded.pause();
  await eventually(() => Promise.resolve(http.front.load.underWay === 0 || undefined));
  expect(textIn((await send(http.url, modern('tools/call', { name: 'flood:echo' }))).json)).toBe('here');
  flooded.resume();
  await closed;
  expect(flooded.complete).toBe(false);
});
