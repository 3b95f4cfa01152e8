// Both eras at one address: sessions, streams that can be resumed, and modern requests.
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
    verifies('ERA-1', `the SDK's ${era} client lists, calls, gets progress and closes`, async () => {
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

  verifies('ERA-1', 'concurrent SDK clients of both eras get their own answers', async () => {
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

  verifies('ERA-1', 'the gateway forgets a client that ends its session', async () => {
    await using http = await serveTest({ echo: fixture('echo') });
    await using sdk = await connectHttp(http.url, 'legacy');
    expect(http.front.load.sessions).toBe(1);
    await sdk.transport.terminateSession();
    expect(http.front.load.sessions).toBe(0);
    expect([...http.gateway.server.clients]).toEqual([]);
  });
});

describe.concurrent('a modern request', () => {
  test('a modern request without notifications is answered as one JSON body', async () => {
    await using http = await serveTest({ echo: fixture('echo') });
    const call = modern('tools/call', { name: 'echo:echo', arguments: { text: 'ü€😀' } }, { id: 'a "b"' });
    const { status, headers, json, text } = await send(http.url, call);
    expect({ status, type: headers['content-type'] }).toEqual({ status: 200, type: 'application/json' });
    expect(headers['content-length']).toBe(String(Buffer.byteLength(text)));
    expect(headers['mcp-session-id']).toBeUndefined();
    expect([json.id, textIn(json)]).toEqual(['a "b"', 'ü€😀']);
  });

  test('the answer to a modern request becomes a stream with its first notification', async () => {
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

  verifies(
    ['ERA-1', 'ERA-5'],
    'the gateway cancels a modern call at its server when the client hangs up',
    async () => {
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
    },
  );

  verifies('ERA-5', 'two subscriptions with the same id each get their own notifications', async () => {
    await using http = await serveTest({ changes: fixture('changing-lists') });
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
    // A subscription gets its final result, and no notification that it has not asked for.
    const last = (await tools.rest()).map(({ data }) => data);
    expect(last).toMatchObject([{ id: 5, result: { resultType: 'complete' } }]);
  });

  test('the gateway accepts a modern notification with 202', async () => {
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
  verifies(
    'ERA-1',
    'a session begins with initialize, is named by every request, and ends with DELETE',
    async () => {
      await using http = await serveTest({ echo: fixture('echo') });
      const client = await openSession(http.url);
      expect(client.id).toMatch(/^[\x21-\x7e]{36}$/u);
      expect(client.opening.result).toMatchObject({ protocolVersion: '2025-11-25' });
      const call = client.call('echo:echo', { text: 'hello' });
      expect(textIn((await client.post(call)).json)).toBe('hello');
      expect((await send(http.url, { body: call })).status).toBe(400);
      expect((await send(http.url, { body: call, headers: { 'Mcp-Session-Id': 'unknown' } })).status).toBe(
        404,
      );
      expect((await client.post(rpc('initialize', {}, 2))).status).toBe(400);
      expect((await client.end()).status).toBe(200);
      expect((await client.post(call)).status).toBe(404);
      expect((await client.listen()).status).toBe(404);
      expect(http.front.load).toEqual({ sessions: 0, underWay: 0 });
    },
  );

  verifies('ERA-1', 'a session refuses an unknown revision in the header', async () => {
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

  verifies('ERA-1', 'a session gets the rest of a broken stream, also of a call in flight', async () => {
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
    // The stream is over, and can still be read again.
    const third = (await (await client.listen(event)).rest()).filter(({ data }) => data !== undefined);
    expect(third.map(({ data }) => data)).toEqual(rest);
    expect(http.front.load.underWay).toBe(1);
  });

  verifies('ERA-1', 'a session gets the answer of a call whose stream broke before it', async () => {
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

  verifies('ERA-1', 'a resumed stream gets the answer of its call while the gateway shuts down', async () => {
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

  test('the gateway answers 400 for an unknown event id', async () => {
    await using http = await serveTest({ echo: fixture('echo') });
    const client = await openSession(http.url);
    for (const id of ['7_1', 'x', '1_', `${'9'.repeat(40)}_1`])
      expect((await client.listen(id)).status).toBe(400);
  });

  verifies('ERA-1', 'a session gets earlier and later notifications on its GET stream', async () => {
    await using http = await serveTest({ changes: fixture('changing-lists') });
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
  });

  verifies(
    'ERA-1',
    'a session gets questions on the stream of its call, and answers with a POST',
    async () => {
      await using http = await serveTest({ asks: fixture('asks-client') });
      const client = await openSession(http.url, { capabilities: { roots: {} } });
      const events = await client.stream(client.call('asks:roots'));
      const question = await events.message();
      expect(question.method).toBe('roots/list');
      const answer = { jsonrpc: '2.0', id: question.id, result: { roots: [{ uri: 'file:///here' }] } };
      const { status, text } = await client.post(JSON.stringify(answer));
      expect([status, text]).toEqual([202, '']);
      expect(JSON.stringify(await events.message())).toContain('file:///here');
      expect(await events.rest()).toEqual([]);
    },
  );

  verifies('ERA-1', 'the gateway refuses a question of a call whose client has hung up', async () => {
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
      'The client closed the connection on which Weir could have asked it.',
    );
  });

  verifies(
    ['ERA-1', 'AGG-CALL-3'],
    'a session gets the withdrawal of a question after its call was cancelled',
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

  verifies('ERA-1', 'a cancellation reaches the server and ends the response', async () => {
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
  });

  verifies('ERA-1', 'the end of a session cancels its calls', async () => {
    await using http = await serveTest({ stall: fixture('stall') });
    const [client, other] = [await openSession(http.url), await openSession(http.url)];
    const stalled = client.post(client.call('stall:stall'));
    await eventually(
      async () => textIn((await client.post(client.call('stall:stalled'))).json) === '1' || undefined,
    );
    await client.end();
    expect((await stalled).json.error?.message).toBe('The client ended its session');
    await eventually(
      async () => textIn((await other.post(other.call('stall:cancelled'))).json) === '1' || undefined,
    );
  });

  test('a session of 2025-06-18 gets no event without data', async () => {
    await using http = await serveTest({ progress: fixture('progress') });
    const client = await openSession(http.url, { version: '2025-06-18' });
    const events = await client.stream(client.call('progress:progress', {}, { meta: progressToken }));
    const all = await events.rest();
    expect(all).toHaveLength(4);
    expect(all.every(({ id, data }) => id !== undefined && data !== undefined)).toBe(true);
  });

  test(
    'the answer to a long legacy call becomes a stream, so that it can be resumed',
    { tags: ['slow'] },
    async () => {
      await using http = await serveTest({ stall: fixture('stall') });
      const client = await openSession(http.url);
      const events = await client.stream(client.call('stall:stall'));
      expect(events.response.headers['content-type']).toBe('text/event-stream');
      expect((await events.next())?.data).toBeUndefined();
      await client.end();
    },
  );

  verifies.slow(
    ['ERA-1', 'SAFE-1'],
    'idle sessions end, and the gateway evicts the most idle one above the limit',
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
      // Sessions in use stay.
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
  verifies('ERA-1', 'a session of 2025-03-26 gets the answers of a batch together', async () => {
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

  verifies('ERA-1', 'other sessions get 400 for a batch', async () => {
    await using http = await serveTest({ echo: fixture('echo') });
    const client = await openSession(http.url, { version: '2025-06-18' });
    const { status, json } = await client.post(`[${client.call('echo:echo')}]`);
    expect([status, json.error?.code]).toEqual([400, -32600]);
    const old = await openSession(http.url, { version: '2025-03-26' });
    for (const body of ['[]', '[1]', `[${rpc('initialize', {}, 1)}]`])
      expect((await old.post(body)).status).toBe(400);
  });
});

describe.concurrent('paths beside /mcp', () => {
  verifies('ERA-1', '/healthz and /readyz need no token', async () => {
    await using http = await serveTest({ echo: fixture('echo') });
    const at = (path: string): Promise<Answer> =>
      send(http.url.replace('/mcp', path), { method: 'GET', headers: { Authorization: undefined } });
    expect((await at('/healthz')).status).toBe(200);
    expect((await at('/readyz?verbose')).status).toBe(200);
    expect((await at('/')).status).toBe(404);
  });

  test('/readyz answers 503 before all servers are ready', async () => {
    const gateway = createTestGateway({ slow: fixture('slow-start') }, { keepGoing: true });
    const front = await serveHttp(gateway, { port: 0, serverInfo: { name: 'weir', version: '1' } });
    const ready = (): Promise<Answer> => send(front.url.replace('/mcp', '/readyz'), { method: 'GET' });
    expect((await ready()).status).toBe(503);
    await front.close();
  });
});

describe.concurrent('pipelined requests', () => {
  async function connected(url: string, ...texts: string[]): Promise<Socket> {
    const socket = connect(Number(new URL(url).port), '127.0.0.1');
    await once(socket, 'connect');
    socket
      .setEncoding('utf8')
      .on('error', () => {})
      .write(texts.join(''));
    return socket;
  }

  test('the gateway answers pipelined requests in order', async () => {
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

  verifies('ERA-1', 'pipelined requests leave nothing behind when their connection breaks', async () => {
    await using http = await serveTest({ echo: fixture('echo') });
    const listen = modern('subscriptions/listen', { notifications: { toolsListChanged: true } });
    const socket = await connected(http.url, ...Array<string>(3).fill(wireText(http.url, listen)));
    await once(socket, 'data');
    socket.destroy();
    await eventually(() => Promise.resolve(http.front.load.underWay === 0 || undefined));
  });
});

test(
  'the gateway closes the connection of a client that does not read, and others never wait',
  { tags: ['slow'] },
  async () => {
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
  },
);
