// Remote servers that forget, restart, break off in the middle or come late.
import type { ServerResponse } from 'node:http';
import { describe, expect } from 'vitest';
import { modernMeta, textOf, type Json } from '../../support/harness.ts';
import { open, serveInProcess, type InProcess } from '../../support/in-process.ts';
import {
  answerText,
  openEvents,
  sendJson,
  serveHttp,
  startRemote,
  toolServer,
  type Handler,
  type RawServer,
} from '../../support/remote-server.ts';
import { verifies } from '../../verifies.ts';

const says =
  (text: string): Handler =>
  ({ message: { id } }, response) =>
    sendJson(response, answerText(id, text));

/** Waits for something that is only seen by looking. */
async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = performance.now() + 30_000;
  while (!(await isSo())) {
    if (performance.now() > deadline) throw new Error('It did not come to that');
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

async function reopen(server: RawServer, handler: Handler): Promise<RawServer> {
  await server.close();
  // Client and server share this process: both ends of the old connections must have heard of it.
  await new Promise((resolve) => setTimeout(resolve, 50));
  return serveHttp(handler, server.port);
}

const named = (name: string): Json[] => [{ name, inputSchema: { type: 'object' } }];

describe.concurrent('a session that the remote server has forgotten', () => {
  verifies('MANAGED-4', 'the gateway opens a forgotten session again and repeats the call once', async () => {
    const first = await serveHttp(toolServer('legacy', says('first')));
    await using weir = serveInProcess({ far: { url: first.url } });
    await weir.tools();
    expect(textOf(await weir.callTool('far:tool'))).toBe('first');
    await using second = await reopen(first, toolServer('legacy', says('second')));
    const answers = await Promise.all([1, 2, 3].map(() => weir.callTool('far:tool')));
    expect(answers.map(textOf)).toEqual(['second', 'second', 'second']);
    expect(second.posted('initialize')).toHaveLength(1);
    expect(second.posted('initialize')[0]?.message).toEqual(first.posted('initialize')[0]?.message);
    expect(second.posted('notifications/initialized')).toHaveLength(1);
  });

  verifies(
    'MANAGED-4',
    'a renewed session gets log level and subscriptions again, and its lists are read again',
    async () => {
      const first = await serveHttp(toolServer('legacy', says('first')));
      await using weir = serveInProcess({ far: { url: first.url } });
      await weir.tools();
      await weir.request('logging/setLevel', { level: 'warning' });
      await weir.request('resources/subscribe', { uri: 'test://a' });
      await until(() => first.posted('resources/subscribe').length === 1);
      await using second = await reopen(first, toolServer('legacy', says('second'), named('another')));
      await weir.callTool('far:tool');
      await weir.call('notifications/tools/list_changed');
      expect(await weir.tools()).toEqual(['far:another']);
      expect(second.posted('logging/setLevel')[0]?.message.params).toEqual({ level: 'warning' });
      expect(second.posted('resources/subscribe')[0]?.message.params).toEqual({ uri: 'test://a' });
    },
  );

  verifies('MANAGED-4', 'the gateway calls a server that forgets every session at most twice', async () => {
    let forgets = false;
    const server = toolServer('legacy', says('fine'));
    const handler: Handler = (seen, response) => {
      if (forgets && seen.message.method === 'tools/call') return response.writeHead(404).end();
      return server(seen, response);
    };
    await using remote = await serveHttp(handler);
    await using weir = serveInProcess({ far: { url: remote.url } });
    await weir.tools();
    forgets = true;
    const { error } = await weir.callTool('far:tool');
    expect(error?.message).toContain("Server 'far' answered tools/call with HTTP 404 Not Found");
    expect(remote.posted('tools/call')).toHaveLength(2);
    forgets = false;
    expect(textOf(await weir.callTool('far:tool'))).toBe('fine');
  });
});

describe.concurrent('a remote server that is killed and restarts at its address', () => {
  verifies(
    'MANAGED-4',
    'calls and notifications of a modern remote server work again after its restart',
    async () => {
      const first = await startRemote('conformance', '--http', '0');
      await using weir = serveInProcess({ far: { url: first.url } });
      await weir.tools();
      await first.kill();
      const { error } = await weir.callTool('far:test_simple_text');
      expect(error?.message).toMatch(/^Server 'far' accepts no connections at .*ECONNREFUSED/);
      await using second = await startRemote('conformance', '--http', first.port);
      expect(second.port).toBe(first.port);
      expect(textOf(await weir.callTool('far:test_simple_text'))).toBe('A simple text.');
      await until(async () => {
        await weir.callTool('far:test_trigger_tool_change');
        await new Promise((resolve) => setTimeout(resolve, 300));
        return weir.messages.some(({ method }) => method === 'notifications/tools/list_changed');
      });
    },
    90_000,
  );

  verifies(
    'MANAGED-4',
    'calls in flight fail when an HTTP+SSE server restarts, later ones use the new stream',
    async () => {
      const first = await serveHttp(oldest(() => {}));
      await using weir = serveInProcess({ far: { url: first.url } });
      await weir.tools();
      const inFlight = weir.callTool('far:tool');
      await until(() => first.posted('tools/call').length === 1);
      await using second = await reopen(
        first,
        oldest((send, { id }) => send(answerText(id, 'second'))),
      );
      expect((await inFlight).error?.message).toBe("Server 'far' closed its event stream");
      expect(textOf(await weir.callTool('far:tool'))).toBe('second');
      expect(second.posted('initialize')).toHaveLength(1);
    },
  );

  verifies('MANAGED-4', 'a later call opens an HTTP+SSE stream again after a failed handshake', async () => {
    const first = await serveHttp(oldest(() => {}));
    await using weir = serveInProcess({ far: { url: first.url } });
    await weir.tools();
    let refusals = 0;
    const server = oldest((send, { id }) => send(answerText(id, 'second')));
    await using second = await reopen(first, (seen, response) =>
      seen.message.method === 'initialize' && refusals++ === 0
        ? response.writeHead(503).end()
        : server(seen, response),
    );
    expect((await weir.callTool('far:tool')).error?.message).toContain('answered POST with HTTP 503');
    expect(textOf(await weir.callTool('far:tool'))).toBe('second');
    expect(second.posted('initialize')).toHaveLength(2);
  });

  verifies('MANAGED-4', 'at most 16 MiB wait for the stream of an HTTP+SSE server', async () => {
    const first = await serveHttp(oldest(() => {}));
    await using weir = serveInProcess({ far: { url: first.url } });
    await weir.tools();
    await using second = await reopen(first, (_, response) => void openEvents(response));
    await until(() => second.seen.length > 0);
    const long = 'x'.repeat(4 * 1024 * 1024);
    const answers = Array.from({ length: 6 }, () => weir.callTool('far:tool', { long }));
    expect((await Promise.race(answers)).error?.message).toContain('16 MiB are queued for it');
  });
});

verifies('MANAGED-4', 'the gateway renews a task subscription whose stream broke off', async () => {
  const extensions = { 'io.modelcontextprotocol/tasks': {} };
  const server = toolServer('modern', says('fine'));
  const listening: number[] = [];
  await using remote = await serveHttp((seen, response) => {
    const { id, method, params } = seen.message;
    if (method === 'server/discover') {
      const result = {
        resultType: 'complete',
        supportedVersions: ['2026-07-28'],
        capabilities: { tools: {}, extensions },
      };
      return sendJson(response, { jsonrpc: '2.0', id, result });
    }
    if (method !== 'subscriptions/listen' || !JSON.stringify(params).includes('T-1'))
      return server(seen, response);
    const events = openEvents(response);
    if (listening.push(Number(id)) === 1) return events.end();
    const _meta = { 'io.modelcontextprotocol/subscriptionId': id };
    const task = { taskId: 'T-1', status: 'completed', _meta };
    return events.send({ jsonrpc: '2.0', method: 'notifications/tasks', params: task });
  });
  await using weir = serveInProcess({ far: { url: remote.url } });
  const ask = await open(weir, 'modern', { extensions });
  await ask('tools/list');
  weir.send({
    id: 'tasks',
    method: 'subscriptions/listen',
    params: { notifications: { taskIds: ['T-1'] }, ...modernMeta({ extensions }) },
  });
  const told = await weir.call('notifications/tasks');
  expect(told.params).toMatchObject({ taskId: 'T-1', status: 'completed' });
  expect(listening).toHaveLength(2);
});

describe.concurrent('an HTTP+SSE server', () => {
  verifies('MANAGED-4', 'an HTTP+SSE server may send its endpoint again during a call', async () => {
    await using remote = await serveHttp(
      oldest((send, { id }, nameAddress) => {
        nameAddress();
        send(answerText(id, 'fine'));
      }),
    );
    await using weir = serveInProcess({ far: { url: remote.url } });
    await weir.tools();
    for (let calls = 0; calls < 2; calls++) expect(textOf(await weir.callTool('far:tool'))).toBe('fine');
    expect(remote.posted('initialize').filter(({ headers }) => headers['accept'] === undefined)).toHaveLength(
      1,
    );
  });
});

/** HTTP+SSE in a few lines. */
function oldest(
  call: (send: (message: Json) => void, message: { id?: number }, nameAddress: () => void) => unknown,
): Handler {
  let stream: ReturnType<typeof openEvents> | undefined;
  let nameAddress = (): void => {};
  const answers = toolServer('legacy', (_seen, response) => void response.end());
  return async (seen, response) => {
    if (seen.method === 'GET') {
      stream = openEvents(response);
      nameAddress = () => void response.write('event: endpoint\ndata: /mcp?to=1\n\n');
      return nameAddress();
    }
    if (stream === undefined || seen.message.method === 'server/discover')
      return void response.writeHead(405).end();
    const { send } = stream;
    if (seen.message.method === 'tools/call') call((message) => send(message), seen.message, nameAddress);
    else
      answers(
        seen,
        intercepted((body) => send(body)),
      );
    return void response.writeHead(202).end();
  };
}

/** A response whose body goes elsewhere. */
function intercepted(take: (body: string) => void): ServerResponse {
  const response = { writeHead: () => response, end: (body?: string) => body !== undefined && take(body) };
  return response as unknown as ServerResponse;
}

describe.concurrent('a stream that ends too early', () => {
  verifies(
    'MANAGED-4',
    'the gateway resumes a broken answer stream at its last event, after the requested wait',
    async () => {
      const asked: { after: unknown; at: number }[] = [];
      let call: number | undefined;
      let brokeAt = 0;
      const server = toolServer('legacy', ({ message: { id } }, response) => {
        call = id;
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        brokeAt = performance.now();
        response.end(
          'retry: 300\nid: e1\ndata: \n\nid: e2\ndata: {"jsonrpc":"2.0","method":"notifications/x"}\n\nid: e3\nda',
        );
      });
      const handler: Handler = (seen, response) => {
        const after = seen.headers['last-event-id'];
        if (after === undefined) return server(seen, response);
        asked.push({ after, at: performance.now() });
        const events = openEvents(response);
        if (asked.length === 2) events.send(answerText(call, 'in the end'), 'e4');
        return events.end();
      };
      await using remote = await serveHttp(handler);
      await using weir = serveInProcess({ far: { url: remote.url } });
      await weir.tools();
      expect(textOf(await weir.callTool('far:tool'))).toBe('in the end');
      expect(asked.map(({ after }) => after)).toEqual(['e2', 'e2']);
      expect((asked[0]?.at ?? 0) - brokeAt).toBeGreaterThan(250);
      expect(remote.posted('tools/call')).toHaveLength(1);
    },
  );

  verifies(
    'MANAGED-4',
    'the gateway resumes the GET stream, or reads lists again where it cannot',
    async () => {
      let tools = named('one');
      const streams: { after: unknown; response: ServerResponse }[] = [];
      const handler: Handler = (seen, response) => {
        if (seen.method !== 'GET') return toolServers(tools)(seen, response);
        const events = openEvents(response);
        response.write('retry: 50\n\n');
        streams.push({ after: seen.headers['last-event-id'], response });
        return events;
      };
      const opened = toolServer('legacy', says('x'));
      const toolServers =
        (listed: Json[]): Handler =>
        (seen, response) =>
          seen.message.method === 'tools/list'
            ? sendJson(response, { jsonrpc: '2.0', id: seen.message.id, result: { tools: listed } })
            : opened(seen, response);
      await using remote = await serveHttp(handler);
      await using weir = serveInProcess({ far: { url: remote.url } });
      await weir.tools();
      await until(() => streams.length === 1);
      tools = named('two');
      streams[0]?.response.end();
      await weir.call('notifications/tools/list_changed');
      expect(await weir.tools()).toEqual(['far:two']);
      streams[1]?.response.end('id: s7\ndata: {"jsonrpc":"2.0","method":"notifications/x"}\n\n');
      await until(() => streams.length === 3);
      expect(streams.map(({ after }) => after)).toEqual([undefined, undefined, 's7']);
    },
  );
});

describe.concurrent('the GET stream of a remote server', () => {
  verifies('MANAGED-4', 'the GET stream opens before the first request, however slow it is', async () => {
    const order: string[] = [];
    const rest = toolServer('legacy', says('x'));
    await using remote = await serveHttp((seen, response) => {
      if (seen.method !== 'GET') {
        order.push(String(seen.message.method));
        return rest(seen, response);
      }
      return void setTimeout(() => {
        order.push('GET');
        openEvents(response);
      }, 60);
    });
    await using weir = serveInProcess({ far: { url: remote.url } });
    await weir.tools();
    expect(order.indexOf('GET')).toBeGreaterThan(order.indexOf('notifications/initialized'));
    expect(order.indexOf('tools/list')).toBeGreaterThan(order.indexOf('GET'));
  });

  verifies(
    'MANAGED-4',
    'the GET stream may bring the answer to a call whose own stream broke off',
    async () => {
      let standing: ReturnType<typeof openEvents> | undefined;
      const rest = toolServer('legacy', ({ message: { id } }, response) => {
        openEvents(response).send('', 'e1');
        response.write('retry: 60000\n\n');
        response.end();
        standing?.send(answerText(id, 'by the other way'));
      });
      await using remote = await serveHttp((seen, response) => {
        if (seen.method !== 'GET') return rest(seen, response);
        return void (standing = openEvents(response));
      });
      await using weir = serveInProcess({ far: { url: remote.url } });
      await weir.initialize();
      expect(textOf(await weir.callTool('far:tool'))).toBe('by the other way');
    },
  );
});

describe.concurrent('a remote server that starts late', () => {
  verifies(
    ['MANAGED-4', 'AGG-CHILD-3'],
    'the gateway retries a remote server in the background and publishes its tools',
    async () => {
      const early = await serveHttp(() => {});
      await early.close();
      await using weir = serveInProcess({ far: { url: early.url } }, { keepGoing: true });
      expect(await weir.tools()).toEqual([]);
      expect(failures(weir)).toHaveLength(1);
      expect(weir.logged).toContainEqual(
        expect.stringMatching(/^warn Server 'far' is tried again in 1 s \(attempt 1 of 3\)/u),
      );
      await using late = await reopen(early, toolServer('modern', says('late')));
      await weir.call('notifications/tools/list_changed');
      expect(await weir.tools()).toEqual(['far:tool']);
      expect(textOf(await weir.callTool('far:tool'))).toBe('late');
      expect(late.posted('server/discover')).toHaveLength(1);
      expect(failures(weir)).toHaveLength(1);
    },
  );
});

const failures = ({ logged }: InProcess): string[] => logged.filter((line) => line.startsWith('error'));
