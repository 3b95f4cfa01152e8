// A server with invalid responses, noise or invalid lists harms only itself; invalid lines of a client are answered or ignored.
import { describe, expect } from 'vitest';
import { fixture, scripted, textOf, type Received, type ServerEntry } from '../../support/harness.ts';
import { createTestGateway, open, serveInProcess, type InProcess } from '../../support/in-process.ts';
import { itemsOf } from '../../support/line-client.ts';
import { verifies } from '../../verifies.ts';

const PROBLEM = "Server 'bad' sent something that is not a JSON-RPC message";
const UNKNOWN = { 'x-unknown': { deep: [{ deeper: null }] } };

/** The answer to each invalid response; null where the server leaves its own call without an answer. */
const OUTCOMES: Record<string, string | null> = {
  honest: 'honest',
  'only-escaped-id': 'forged',
  batch: PROBLEM,
  'double-id-reversed': 'forged',
  'id-inside': '',
  'id-as-fraction': 'forged',
  'id-as-text': 'forged',
  'odd-spacing': 'spaced',
  twice: 'first',
  'never-asked': 'mine',
  'double-result': 'last',
  'foreign-progress': 'mine',
  'late-progress': 'mine',
  'unknown-notification': 'mine',
  'unknown-request': 'mine',
  'result-and-error': PROBLEM,
  'broken-json': PROBLEM,
  'no-jsonrpc': PROBLEM,
  'other-id': null,
  'double-id': null,
  'escaped-id': null,
  'id-null': null,
};

/** A server with invalid responses, one with a call in flight under every id that it could guess, and another. */
async function neighbourhood(): Promise<InProcess> {
  const weir = serveInProcess({
    bad: fixture('invalid-responses'),
    stall: fixture('stall'),
    echo: fixture('echo'),
  });
  await weir.initialize();
  await weir.request('tools/list');
  for (let i = 0; i < 100; i++) {
    const params = { name: 'stall:stall', _meta: { progressToken: `token ${i}` } };
    weir.send({ id: `stalled ${i}`, method: 'tools/call', params });
  }
  return weir;
}

function textOrError(answer: Received): string {
  return answer.error?.message ?? textOf(answer);
}

describe('a server with invalid responses', () => {
  verifies('AGG-CALL-1', 'invalid responses of a server reach only its own callers', async () => {
    await using weir = await neighbourhood();
    const before = weir.messages.length;
    const told: Record<string, string | null> = {};
    for (const [kind, outcome] of Object.entries(OUTCOMES)) {
      for (const id of [1, 50, 99, 'stalled 7']) {
        const params = { name: `bad:${kind}`, arguments: { id, token: id } };
        weir.send({ id: `${kind} ${id}`, method: 'tools/call', params });
      }
      expect(textOf(await weir.callTool('echo:echo', { text: kind }))).toBe(kind);
      told[kind] = outcome === null ? null : textOrError(await weir.answer(`${kind} 1`));
    }
    expect(told).toEqual(OUTCOMES);
    await weir.callTool('bad:honest');
    const answered = weir.messages.slice(before).map(({ id }) => String(id ?? ''));
    const countOf = (prefix: string): number => answered.filter((id) => id.startsWith(`${prefix} `)).length;
    expect(countOf('stalled')).toBe(0);
    const counts = Object.entries(OUTCOMES).map(([kind, outcome]) => ({
      kind,
      outcome,
      count: countOf(kind),
    }));
    expect(counts.filter(({ outcome, count }) => count !== (outcome === null ? 0 : 4))).toEqual([]);
    expect(weir.messages.filter(({ method }) => method === 'notifications/progress')).toEqual([]);
    expect(textOf(await weir.callTool('stall:stalled'))).toBe('100');
  });

  verifies(
    'AGG-CALL-1',
    'a server with invalid responses answers two calls at once and no call of another server',
    async () => {
      await using weir = await neighbourhood();
      // The server guesses the id of its next call; that harms only itself.
      const next = weir.answer('next');
      weir.send({ id: 'first', method: 'tools/call', params: { name: 'bad:honest' } });
      weir.send({ id: 'next', method: 'tools/call', params: { name: 'bad:honest' } });
      expect(textOf(await next)).toBe('honest');
      expect(weir.messages.filter(({ id }) => String(id).startsWith('stalled'))).toEqual([]);
    },
  );

  verifies(
    'AGG-CALL-1',
    'results keep unknown fields at every depth and unknown or missing content',
    async () => {
      await using weir = serveInProcess({ bad: fixture('invalid-responses') });
      await weir.initialize();
      const kept = await weir.callTool('bad:unknown-fields');
      expect(kept).toMatchObject({
        ...UNKNOWN,
        result: {
          ...UNKNOWN,
          _meta: UNKNOWN,
          content: [{ type: 'text', text: 'kept', ...UNKNOWN, annotations: UNKNOWN, _meta: UNKNOWN }],
        },
      });
      expect((await weir.callTool('bad:unknown-content')).result).toEqual({
        content: [{ type: 'hologram', data: 'zzz' }, 7, null],
        structuredContent: [1],
      });
      expect((await weir.callTool('bad:no-content')).result).toEqual({});
    },
  );

  verifies(['AGG-CALL-1', 'AGG-REG-1'], 'invalid tools in a list hide no valid ones', async () => {
    await using weir = serveInProcess({ 'l:x': fixture('invalid-responses'), echo: fixture('echo') });
    await weir.initialize();
    const list = await weir.request('tools/list');
    const tools = itemsOf<{ name: string; description?: string }>(list, 'tools');
    const names = tools.map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
    expect(tools.find(({ name }) => name === 'l:x:unknown-fields')).toMatchObject({
      ...UNKNOWN,
      annotations: UNKNOWN,
      inputSchema: { type: 'object', ...UNKNOWN },
      icons: [{ src: 'https://example.com/icon.png', ...UNKNOWN }],
    });
    expect(tools.find(({ name }) => name === 'l:x:no-schema')).toEqual({
      name: 'l:x:no-schema',
      description: 'has no inputSchema',
      inputSchema: { type: 'object' },
    });
    expect(tools.filter(({ name }) => name === 'l:x:twin')).toMatchObject([
      { description: 'the first twin' },
    ]);
    const odd = [
      'with:colon',
      'with__underscores',
      'with.dot/slash',
      '__proto__',
      'constructor',
      'ünï"quoted"',
      'x'.repeat(200),
    ];
    for (const name of odd) expect(textOf(await weir.callTool(`l:x:${name}`))).toBe(name);
    for (const name of [...Object.keys(OUTCOMES), ...odd]) expect(names).toContain(`l:x:${name}`);
    expect(names.filter((name) => name.startsWith('echo:'))).toHaveLength(8);
    const log = weir.logged.join('\n');
    expect(log).toContain('[l:x] lists "twin" twice among its tools; Weir keeps the first one');
    expect(log).toContain('[l:x] lists 7 of its tools without a name; they are left out');
    // In the log names read as they are written.
    expect(log).toContain('ünï');
  });

  verifies(
    'AGG-CALL-1',
    'a server with an invalid tool list has no tools, and other servers keep theirs',
    async () => {
      const kinds = ['text', 'object', 'missing', 'null', 'number', 'array'];
      const invalid = Object.fromEntries(
        kinds.map((kind) => [kind, fixture('invalid-responses', `--list=${kind}`)]),
      );
      await using weir = serveInProcess({ ...invalid, old: fixture('revision-2024-11-05') });
      expect(await weir.tools()).toEqual(['old:echo']);
      for (const kind of kinds)
        expect(weir.logged.join('\n')).toContain(`[${kind}] answered tools/list without a list of tools`);
    },
  );

  verifies('AGG-CALL-3', 'the gateway drops progress that comes late or under a foreign token', async () => {
    await using weir = serveInProcess({ bad: fixture('invalid-responses'), p: fixture('progress') });
    await weir.initialize();
    await weir.request('tools/call', { name: 'bad:late-progress', _meta: { progressToken: 'mine' } });
    for (const token of ['mine', 1, 2, 3, 'x'.repeat(1000), null]) {
      await weir.request('tools/call', { name: 'bad:foreign-progress', arguments: { token } });
    }
    await weir.callTool('bad:honest');
    expect(weir.messages.filter(({ method }) => method === 'notifications/progress')).toEqual([]);
  });

  verifies('AGG-CALL-3', 'half a surrogate pair in a shared URI does not end the gateway', async () => {
    const half = scripted(`
      import { serve } from 'stdio';
      serve({ name: 'half', capabilities: { resources: {} }, on: {
        'resources/list': () => ({ resources: [{ uri: 'x://\\ud800', name: 'half' }] }),
        'resources/templates/list': () => ({ resourceTemplates: [] }),
        'resources/read': ({ uri }) => ({ contents: [{ uri, text: JSON.stringify(uri) }] }),
      } });`);
    await using weir = serveInProcess({ a: half, b: half });
    await weir.initialize();
    const [first] = itemsOf<{ uri: string }>(await weir.request('resources/list'), 'resources');
    const read = await weir.request('resources/read', { uri: first?.uri });
    expect(read.result?.['contents']).toMatchObject([{ text: '"x://\\ud800"' }]);
  });
});

describe('a server of the one revision with batches', () => {
  verifies(
    ['AGG-CALL-1', 'ERA-1'],
    'the gateway reads each message of a batch of a 2025-03-26 server',
    async () => {
      const batching = scripted(`
      import { serve, tool, write } from 'stdio';
      const message = (rest) => JSON.stringify({ jsonrpc: '2.0', ...rest });
      serve({
        name: 'batching',
        versions: ['2025-03-26'],
        tools: [tool('any')],
        call: {
          any: (_, { id }) => {
            const log = message({ method: 'notifications/message', params: { level: 'error', data: 'x' } });
            const ping = message({ id: 'p', method: 'ping' });
            const result = message({ id, result: { content: [] } });
            write(\`[7,\${log},[\${result}],{"id":"q","method":7},\${ping},\${result}]\`);
          },
        },
      });`);
      await using weir = serveInProcess({ b: batching, e: fixture('echo') });
      await weir.tools();
      expect((await weir.callTool('b:any')).result).toEqual({ content: [] });
      expect((await weir.call('notifications/message')).params).toMatchObject({ data: 'x' });
    },
  );
});

describe('a server with unreadable values', () => {
  const unreadable = (answer: string): ServerEntry =>
    scripted(`
      import { serve, tool, write } from 'stdio';
      const deep = '['.repeat(9000) + ']'.repeat(9000);
      const noJson = '"' + 'x'.repeat(100) + '\\\\q"';
      const answered = ({ id }) => void write('{"jsonrpc":"2.0","id":' + id + ',' + ${answer} + '}');
      serve({
        name: 'unreadable',
        capabilities: { tools: {}, tasks: { list: {} } },
        tools: [tool('any')],
        on: {
          ${answer.includes('capabilities') ? `initialize: (_, message) => answered(message),` : ''}
          'tasks/list': (_, message) => answered(message),
          'tools/call': (_, message) => answered(message),
        },
      });`);

  verifies('AGG-CALL-1', 'capabilities that are nested too deep do not end the gateway', async () => {
    const description = `'"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{},"tasks":{"x":' + deep + '}}}'`;
    await using weir = serveInProcess({ u: unreadable(description), e: fixture('echo') });
    expect(await weir.tools()).toContain('u:any');
    const { result } = await weir.initialize();
    expect(result?.['capabilities']).not.toHaveProperty('tasks');
    expect(textOf(await weir.callTool('e:echo', { text: 'still here' }))).toBe('still here');
  });

  for (const [what, answer] of [
    ['an error', `'"error":{"code":-32000,"message":' + noJson + '}'`],
    ['data', `'"error":{"code":-32000,"message":"no","data":' + deep + '}'`],
    ['a result', `'"result":{"tasks":[{"taskId":"1","x":' + noJson + '}]}'`],
  ] as const) {
    verifies(
      'AGG-CALL-1',
      `the task list of the other servers survives ${what} that cannot be read`,
      async () => {
        await using weir = serveInProcess({ u: unreadable(answer), t: fixture('legacy-tasks') });
        await weir.tools();
        const { result } = await weir.request('tasks/list');
        expect(result).toEqual({ tasks: [] });
      },
    );

    verifies(
      ['AGG-CALL-1', 'AGG-API-1'],
      `the calling program gets an error for ${what} that cannot be read`,
      async () => {
        const gateway = createTestGateway({ u: unreadable(answer), e: fixture('echo') });
        await expect(gateway.callTool('u:any')).rejects.toThrow(what === 'data' ? 'no' : 'an invalid escape');
        expect(await gateway.callTool('e:echo', { text: 'x' })).toMatchObject({ content: [{ text: 'x' }] });
        await gateway.close();
      },
    );
  }

  verifies(
    'AGG-CALL-1',
    'a client gets the error of the only server with tasks without its unreadable data',
    async () => {
      const data = `'"error":{"code":-32000,"message":"no","data":' + deep + '}'`;
      await using weir = serveInProcess({ u: unreadable(data), e: fixture('echo') });
      await weir.tools();
      expect((await weir.request('tasks/list')).error).toEqual({ code: -32000, message: 'no' });
    },
  );
});

describe('a server that writes noise to stdout', () => {
  for (const args of [[], ['--crlf']]) {
    verifies(
      'AGG-CALL-1',
      `the gateway finds the messages between noise on stdout ${args.join('')}`,
      async () => {
        await using weir = serveInProcess({ b: fixture('noise-on-stdout', ...args), e: fixture('echo') });
        expect(await weir.tools()).toContain('b:echo');
        const texts = Array.from({ length: 20 }, (_, i) => `${i} \u2028`);
        const answers = await Promise.all(texts.map((text) => weir.callTool('b:echo', { text })));
        expect(answers.map(textOf)).toEqual(texts);
        for (const line of weir.lines) expect(line).toMatch(/^\{"jsonrpc"/u);
      },
    );
  }
});

describe('a client that sends invalid lines', () => {
  verifies(
    'AGG-CALL-1',
    'a client gets errors for invalid lines with an id, and its next call succeeds',
    async () => {
      await using weir = serveInProcess({ e: fixture('echo') });
      await weir.initialize();
      for (const line of [
        '',
        ' ',
        'null',
        '7',
        '[]',
        '{}',
        '{"jsonrpc":"2.0"}',
        'x'.repeat(1000),
        '{"id":1',
        '\u0000',
        '{"jsonrpc":"2.0","result":{},"id":99}',
      ]) {
        weir.send(line);
      }
      for (const [id, line] of [
        ['v', '{"jsonrpc":"1.0","id":"v","method":"tools/list"}'],
        ['m', '{"jsonrpc":"2.0","id":"m","method":7}'],
        ['p', '{"jsonrpc":"2.0","id":"p","method":"tools/list","params":[1]}'],
      ] as const) {
        weir.send(line);
        expect((await weir.answer(id)).error).toMatchObject({ code: -32600 });
      }
      expect(textOf(await weir.callTool('e:echo', { text: 'still here' }))).toBe('still here');
    },
  );

  verifies(
    ['AGG-CALL-1', 'AGG-CALL-3'],
    'a client gets a parse error for an invalid escape late in a long string',
    async () => {
      const long = `${'x'.repeat(100)}\\q\u0001`;
      await using weir = serveInProcess({ e: fixture('revision-2024-11-05') });
      const ask = await open(weir, 'modern');
      await ask('tools/list');
      const meta =
        '"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}';
      for (const [method, params] of [
        ['subscriptions/listen', `"notifications":{"resourceSubscriptions":["${long}"]}`],
        ['tools/call', `"name":"${long}"`],
        ['resources/read', `"uri":"${long}"`],
        ['tools/list', `"cursor":"${long}"`],
      ] as const) {
        weir.send(`{"jsonrpc":"2.0","id":"${method}","method":"${method}","params":{${params},${meta}}}`);
        expect((await weir.answer(method)).error?.code).toBe(-32700);
      }
      expect(textOf(await ask('tools/call', { name: 'e:echo', arguments: { text: 'still here' } }))).toBe(
        'still here',
      );
    },
  );
});
