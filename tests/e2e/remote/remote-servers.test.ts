// Remote servers behave like local ones: Streamable HTTP of both eras, and HTTP+SSE.
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { describe, expect } from 'vitest';
import { odd, tools } from '../../fixtures/matrix/offers.mjs';
import { startWeir, textOf, type Era, type Json } from '../../support/harness.ts';
import { open, serveInProcess } from '../../support/in-process.ts';
import { itemsOf } from '../../support/line-client.ts';
import {
  answerText,
  openEvents,
  sendJson,
  serveHttp,
  startRemote,
  toolServer,
  type Handler,
} from '../../support/remote-server.ts';
import { verifies } from '../../verifies.ts';

const INFO = { name: 'remote', version: '1.0.0' };

interface Kind {
  readonly era: Era;
  readonly transport: 'http' | 'sse';
}
const KINDS: readonly Kind[] = [
  { era: 'modern', transport: 'http' },
  { era: 'legacy', transport: 'http' },
  { era: 'legacy', transport: 'sse' },
];

describe.each(KINDS)('a server of the $era era over $transport', ({ era, transport }) => {
  const start = (): ReturnType<typeof startRemote> => startRemote('matrix', era, transport);

  verifies(['MANAGED-4', 'ERA-1'], 'a remote server lists everything as on stdio', async () => {
    await using remote = await start();
    await using weir = serveInProcess({ r: { url: remote.url } });
    const ask = await open(weir, era);
    const listed = itemsOf<{ name: string }>(await ask('tools/list'), 'tools');
    expect(listed).toEqual(tools.map((tool) => ({ ...tool, name: `r:${tool.name}` })));
    expect(itemsOf(await ask('resources/list'), 'resources')).toHaveLength(2);
    expect(itemsOf(await ask('prompts/list'), 'prompts')).toHaveLength(1);
    expect(weir.gateway.children.get('r')?.era).toBe(era);
  });

  verifies(
    ['MANAGED-4', 'AGG-CALL-1'],
    'remote results keep every byte: numbers, order, unknown fields',
    async () => {
      await using remote = await start();
      await using weir = serveInProcess({ r: { url: remote.url } });
      const ask = await open(weir, era);
      await ask('tools/call', { name: 'r:odd', arguments: { n: 1 } });
      const line = weir.lines.at(-1) ?? '';
      for (const text of [odd.structuredContent, odd.member, odd.meta, odd.block])
        expect(line).toContain(text);
    },
  );

  verifies('MANAGED-4', 'a remote result of 32 MB arrives whole', async () => {
    await using remote = await start();
    await using weir = serveInProcess({ r: { url: remote.url } });
    const ask = await open(weir, era);
    expect(textOf(await ask('tools/call', { name: 'r:big' }))).toHaveLength(32 * 1024 * 1024);
  });

  verifies('MANAGED-4', 'all progress of a remote call arrives before its result', async () => {
    await using remote = await start();
    await using weir = serveInProcess({ r: { url: remote.url } });
    const ask = await open(weir, era);
    await ask('tools/call', { name: 'r:progress', arguments: { key: 'k' } }, { progressToken: 'mine' });
    const updates = weir.messages.filter(({ method }) => method === 'notifications/progress');
    expect(updates.map(({ params }) => params)).toEqual(
      [1, 2, 3].map((progress) => ({
        progressToken: 'mine',
        progress,
        total: 3,
        message: `k ${progress}`,
        'x-step': [progress],
      })),
    );
    expect(weir.messages.at(-1)?.result).toBeDefined();
  });

  verifies('MANAGED-4', 'the gateway cancels a call at its remote server', async () => {
    await using remote = await start();
    await using weir = serveInProcess({ r: { url: remote.url } });
    const ask = await open(weir, era);
    void ask('tools/call', { name: 'r:wait', arguments: { key: 'k' } }, { progressToken: 1 }).catch(() => {});
    await weir.call('notifications/progress');
    const waiting = weir.messages.find(({ method }) => method === 'notifications/progress');
    expect(waiting).toBeDefined();
    weir.notify('notifications/cancelled', { requestId: era === 'legacy' ? 2 : 1, reason: 'enough' });
    const told = textOf(await ask('tools/call', { name: 'r:cancelled', arguments: { key: 'k' } }));
    expect(told).toBe(era === 'modern' ? 'closed' : 'told: enough');
  });

  verifies('MANAGED-4', 'the gateway reads a changed remote list again and notifies the client', async () => {
    await using remote = await start();
    await using weir = serveInProcess({ r: { url: remote.url } });
    await weir.initialize();
    await weir.request('tools/list');
    await weir.callTool('r:add-tool', { key: 'k' });
    await weir.call('notifications/tools/list_changed');
    expect(await weir.tools()).toContain('r:added-k');
  });

  verifies('MANAGED-4', 'a client gets updates of a subscribed remote resource', async () => {
    await using remote = await start();
    await using weir = serveInProcess({ r: { url: remote.url } });
    await weir.initialize();
    await weir.request('resources/subscribe', { uri: 'matrix://one' });
    for (let tries = 0; tries < 20; tries++) {
      await weir.callTool('r:touch', { uri: 'matrix://one' });
      if (weir.messages.some(({ method }) => method === 'notifications/resources/updated')) break;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    const update = await weir.call('notifications/resources/updated');
    expect(update.params).toMatchObject({ uri: 'matrix://one' });
  });

  verifies(
    'MANAGED-4',
    "a remote server's question reaches the client, and its answer the server",
    async () => {
      await using remote = await start();
      await using weir = serveInProcess({ r: { url: remote.url } });
      await weir.initialize({ elicitation: { form: {} } });
      const call = weir.callTool('r:ask-form');
      const question = await weir.call('elicitation/create');
      expect(question.params).toMatchObject({ message: 'What is your name?' });
      const content = { name: 'Ann' };
      weir.send({ id: question.id, result: { action: 'accept', content } });
      expect((await call).result).toMatchObject({
        structuredContent: { form: { action: 'accept', content } },
      });
    },
  );

  verifies('MANAGED-4', '100 concurrent remote calls each get their own answer', async () => {
    await using remote = await start();
    await using weir = serveInProcess({ r: { url: remote.url } });
    const ask = await open(weir, era);
    const texts = Array.from({ length: 100 }, (_, index) => `canary ${index}`);
    const answers = await Promise.all(
      texts.map((key) => ask('tools/call', { name: 'r:echo', arguments: { key } })),
    );
    expect(answers.map(textOf)).toEqual(texts.map((key) => JSON.stringify({ key })));
  });
});

describe('a server that answers JSON with several messages, one a line', () => {
  const line = (message: Json): string => `${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`;
  const writeHead = (response: ServerResponse): ServerResponse =>
    response.writeHead(200, { 'content-type': 'application/json' });

  verifies(
    ['MANAGED-4', 'ERA-3'],
    'the gateway reads notifications and the result from a body with several lines',
    async () => {
      const handler = toolServer('modern', ({ message: { id, params } }, response) => {
        const { progressToken } = (params?.['_meta'] ?? {}) as Json;
        const update = { method: 'notifications/progress', params: { progressToken, progress: 1 } };
        writeHead(response).write(line(update));
        response.end(JSON.stringify(answerText(id, 'fine')));
      });
      await using remote = await serveHttp(handler);
      await using weir = serveInProcess({ r: { url: remote.url } });
      const ask = await open(weir, 'modern');
      const answer = await ask('tools/call', { name: 'r:tool' }, { progressToken: 'mine' });
      expect(textOf(answer)).toBe('fine');
      expect(weir.messages).toContainEqual({
        jsonrpc: '2.0',
        method: 'notifications/progress',
        params: { progressToken: 'mine', progress: 1 },
      });
    },
  );

  verifies(
    ['MANAGED-4', 'ERA-5'],
    'the gateway reads notifications from a body with several lines while it is open',
    async () => {
      const tools = [{ name: 'tool', inputSchema: { type: 'object' } }];
      const streams: ServerResponse[] = [];
      const usual = toolServer(
        'modern',
        ({ message: { id } }, response) => {
          tools.push({ name: 'another', inputSchema: { type: 'object' } });
          for (const stream of streams) stream.write(line({ method: 'notifications/tools/list_changed' }));
          sendJson(response, answerText(id, 'done'));
        },
        tools,
      );
      await using remote = await serveHttp((seen, response) => {
        if (seen.message.method !== 'subscriptions/listen') return usual(seen, response);
        streams.push(writeHead(response));
        const honoured = { notifications: { toolsListChanged: true } };
        return response.write(line({ method: 'notifications/subscriptions/acknowledged', params: honoured }));
      });
      await using weir = serveInProcess({ r: { url: remote.url } });
      expect(await weir.tools()).toEqual(['r:tool']);
      await weir.callTool('r:tool');
      await weir.call('notifications/tools/list_changed');
      expect(await weir.tools()).toEqual(['r:tool', 'r:another']);
    },
  );

  verifies('MANAGED-4', 'a body with several lines but no result fails the call', async () => {
    const handler = toolServer('modern', (_, response) =>
      writeHead(response).end(line({ method: 'notifications/progress', params: {} })),
    );
    await using remote = await serveHttp(handler);
    await using weir = serveInProcess({ r: { url: remote.url } });
    await weir.tools();
    expect((await weir.callTool('r:tool')).error?.message).toBe(
      "Server 'r' ended its answer to tools/call before the result came",
    );
  });
});

describe('a client that stops reading', () => {
  verifies(
    'MANAGED-4',
    'a client that stops reading pauses the remote server, and nothing is lost',
    async () => {
      const MOST = 1000;
      const note = {
        jsonrpc: '2.0',
        method: 'notifications/message',
        params: { level: 'info', data: 'x'.repeat(64 * 1024) },
      };
      let sent = 0;
      const handler = toolServer('legacy', async ({ message: { id } }, response) => {
        const events = openEvents(response);
        for (; sent < MOST; sent++) {
          events.send(note);
          if (response.writableNeedDrain) await once(response, 'drain');
        }
        events.send(answerText(id, 'done'));
        events.end();
      });
      await using remote = await serveHttp(handler);
      await using weir = serveInProcess({ r: { url: remote.url } });
      await weir.tools();
      await weir.request('logging/setLevel', { level: 'debug' });
      weir.output.pause();
      const call = weir.callTool('r:tool');
      let before = -1;
      while (before !== sent || sent === 0) {
        before = sent;
        await new Promise((resolve) => setTimeout(resolve, 300));
      }
      expect(sent).toBeLessThan(MOST / 2);
      weir.output.resume();
      expect(textOf(await call)).toBe('done');
      expect(weir.messages.filter(({ method }) => method === 'notifications/message')).toHaveLength(MOST);
    },
  );
});

describe('remote servers of the command', () => {
  verifies('MANAGED-4', 'the command serves remote servers of both transports together', async () => {
    await using modern = await startRemote('conformance', '--http', '0');
    await using older = await startRemote('matrix', 'legacy', 'sse');
    await using weir = startWeir({
      modern: { url: modern.url, headers: { 'X-Test': '${TEST_HEADER:-x}' } },
      older: { sseConfig: { url: older.url }, deploymentType: 'external' },
    });
    const names = await weir.tools();
    expect(names).toContain('modern:test_simple_text');
    expect(names).toContain('older:echo');
    expect(textOf(await weir.callTool('modern:test_simple_text'))).toBe('A simple text.');
    expect(textOf(await weir.callTool('older:echo', { a: 1 }))).toBe('{"a":1}');
  });
});

describe('headers and sessions of remote servers', () => {
  verifies(
    ['MANAGED-4', 'ERA-5'],
    'headers of a modern remote request repeat method, name and marked arguments',
    async () => {
      const marked = { type: 'object', properties: { region: { type: 'string', 'x-mcp-header': 'Region' } } };
      const handler = toolServer(
        'modern',
        ({ message: { id } }, response) => sendJson(response, answerText(id, 'ok')),
        [{ name: 'größe', inputSchema: marked }],
      );
      await using remote = await serveHttp(handler);
      await using weir = serveInProcess({
        r: { url: remote.url, headers: { Authorization: 'Bearer hush' } },
      });
      await weir.tools();
      expect(textOf(await weir.callTool('r:größe', { region: ' eu ' }))).toBe('ok');
      expect(remote.posted('tools/call')[0]?.headers).toMatchObject({
        accept: 'application/json, text/event-stream',
        authorization: 'Bearer hush',
        'content-type': 'application/json',
        'mcp-protocol-version': '2026-07-28',
        'mcp-method': 'tools/call',
        'mcp-name': `=?base64?${Buffer.from('größe').toString('base64')}?=`,
        'mcp-param-region': '=?base64?IGV1IA==?=',
      });
      for (const { headers } of remote.seen) expect(headers['mcp-session-id']).toBeUndefined();
      expect(remote.seen.map(({ method }) => method)).not.toContain('GET');
      expect(weir.logged.join('\n')).not.toContain('hush');
    },
  );

  verifies(
    ['MANAGED-4', 'ERA-5'],
    'the gateway omits only the remote tool with an invalid x-mcp-header',
    async () => {
      const properties = { a: { type: 'number', 'x-mcp-header': 'A' } };
      const handler = toolServer('modern', () => {}, [
        { name: 'wrong', inputSchema: { type: 'object', properties } },
        { name: 'right', inputSchema: { type: 'object' } },
      ]);
      await using remote = await serveHttp(handler);
      await using weir = serveInProcess({ r: { url: remote.url } });
      expect(await weir.tools()).toEqual(['r:right']);
      expect(weir.logged.join('\n')).toMatch(/tool "wrong" is left out: .* not a string, integer or boolean/);
    },
  );

  verifies(
    ['MANAGED-4', 'ERA-5'],
    'the gateway reads tools again and repeats a call once after a header mismatch',
    async () => {
      const schema = (header: string): Json => ({
        type: 'object',
        properties: { region: { type: 'string', 'x-mcp-header': header } },
      });
      const tools = [{ name: 'tool', inputSchema: schema('Old') }];
      const handler = toolServer(
        'modern',
        ({ message: { id }, headers }, response) => {
          if (headers['mcp-param-new'] === 'eu') return sendJson(response, answerText(id, 'fine'));
          const error = { code: -32020, message: 'Mcp-Param-New is missing' };
          return sendJson(response, { jsonrpc: '2.0', id, error }, 400);
        },
        tools,
      );
      await using remote = await serveHttp(handler);
      await using weir = serveInProcess({ r: { url: remote.url } });
      await weir.tools();
      expect((await weir.callTool('r:tool', { region: 'eu' })).error).toMatchObject({ code: -32020 });
      expect(remote.posted('tools/call')).toHaveLength(2);
      tools[0] = { name: 'tool', inputSchema: schema('New') };
      expect(textOf(await weir.callTool('r:tool', { region: 'eu' }))).toBe('fine');
    },
  );

  verifies('MANAGED-4', 'the gateway reads each message of a batch in one event', async () => {
    const call: Handler = ({ message: { id, params } }, response) => {
      const progressToken = (params?.['_meta'] as Json | undefined)?.['progressToken'];
      const update = {
        jsonrpc: '2.0',
        method: 'notifications/progress',
        params: { progressToken, progress: 1 },
      };
      const events = openEvents(response);
      events.send([update, answerText(id, 'ok')]);
      events.end();
    };
    const handler = toolServer('legacy', call, undefined, '2025-03-26');
    await using remote = await serveHttp(handler);
    await using weir = serveInProcess({ r: { url: remote.url } });
    await weir.tools();
    const params = { name: 'r:tool', _meta: { progressToken: 'mine' } };
    expect(textOf(await weir.request('tools/call', params))).toBe('ok');
    expect((await weir.call('notifications/progress')).params).toEqual({
      progressToken: 'mine',
      progress: 1,
    });
  });

  verifies(
    'MANAGED-4',
    'remote requests name their session after the handshake, and DELETE ends it',
    async () => {
      const handler = toolServer('legacy', ({ message: { id } }, response) => {
        const events = openEvents(response);
        events.send(answerText(id, 'ok'));
        events.end();
      });
      await using remote = await serveHttp(handler);
      const weir = serveInProcess({ r: { url: remote.url } });
      await weir.tools();
      expect(textOf(await weir.callTool('r:tool'))).toBe('ok');
      await weir.close();
      const said = remote.seen.map(({ method, message, headers }) => [
        message.method ?? method,
        headers['mcp-session-id'],
        headers['mcp-protocol-version'],
      ]);
      expect(said).toContainEqual(['GET', 'session-1', '2025-11-25']);
      // The stream and the other lists are asked for side by side.
      const inOrder = said.filter(([name]) => name !== 'GET' && !String(name).startsWith('resources/'));
      expect(inOrder).toEqual([
        ['server/discover', undefined, '2026-07-28'],
        ['initialize', undefined, undefined],
        ['notifications/initialized', 'session-1', '2025-11-25'],
        ['tools/list', 'session-1', '2025-11-25'],
        ['tools/call', 'session-1', '2025-11-25'],
        ['DELETE', 'session-1', '2025-11-25'],
      ]);
    },
  );
});

verifies(
  ['MANAGED-4', 'ERA-2'],
  'the gateway uses the modern era for a dual-era server without legacy sessions',
  async () => {
    const handler = (era: Era): ReturnType<typeof toolServer> =>
      toolServer(era, ({ message }, response) => sendJson(response, answerText(message.id, era)));
    const [modern, legacy] = [handler('modern'), handler('legacy')];
    await using remote = await serveHttp((seen, response) => {
      const isOld = seen.headers['mcp-protocol-version'] !== '2026-07-28';
      if (seen.message.method !== 'initialize') return (isOld ? legacy : modern)(seen, response);
      const { id } = seen.message;
      const result = { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo: INFO };
      return sendJson(response, { jsonrpc: '2.0', id, result });
    });
    await using weir = serveInProcess({ r: { url: remote.url } });
    const ask = await open(weir, 'legacy');
    for (let call = 0; call < 3; call++)
      expect(textOf(await ask('tools/call', { name: 'r:tool' }))).toBe('modern');
    expect(remote.posted('initialize')).toHaveLength(1);
  },
);
