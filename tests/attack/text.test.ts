// Bytes that are not text, and text that is not JSON: they fail the call that they belong to, and nothing else.
import { isUtf8 } from 'node:buffer';
import { describe, expect } from 'vitest';
import {
  modernMeta,
  scripted,
  startWeir,
  textOf,
  type Json,
  type Received,
  type ServerEntry,
} from '../support/harness.ts';
import { open, openSession, modern, send, serveTest } from '../support/http.ts';
import { serveInProcess, type InProcess } from '../support/in-process.ts';
import { itemsOf } from '../support/line-client.ts';
import { openEvents, serveHttp, toolServer } from '../support/remote-server.ts';
import { verifies } from '../verifies.ts';

/** Texts that are invalid in a string, one character a byte. */
const FAULTS = {
  'bytes that are not UTF-8': ['caf\xe9', '\xed\xa0\x80', '\xc3'],
  'a raw control character in a string': ['a\x01b', 'a\tb', 'a\rdata: x'],
  'an invalid escape in a string': ['\\x41', '\\u12g4', '\\ '],
} as const;
const BAD = Object.entries(FAULTS).flatMap(([fault, texts]) =>
  texts.flatMap((text) => ['', 'x'.repeat(5000)].map((before) => ({ fault, text: before + text }))),
);

/** Text that is valid in a string although some readers fail on it. */
const ODD_BUT_VALID = Buffer.from('\\ud800 \\udc00\\ud800 \u007f \u2028\u2029 é😀 \\u0000\\u001f').toString(
  'latin1',
);

/** A server whose tool writes these lines, one character a byte, with ID for the id of the call and BIG for 20,000 bytes; `heard` tells what came. */
function speaker(): ServerEntry {
  return scripted(`
    import { serve, text, tool } from 'stdio';
    const session = serve({
      name: 'speaker',
      tools: [tool('speak'), tool('heard')],
      call: {
        speak({ lines, thenAnswer }, { id }) {
          for (const line of lines) process.stdout.write(Buffer.from(line.replaceAll('ID', id).replace('BIG', 'x'.repeat(20_000)) + '\\n', 'latin1'));
          return thenAnswer ? text('spoken') : undefined;
        },
        heard: () => text(JSON.stringify(session.seen)),
      },
    });`);
}

const result = (text: string): string =>
  `{"jsonrpc":"2.0","id":ID,"result":{"content":[{"type":"text","text":"${text}"}]}}`;
const latin1 = (text: string): Buffer => Buffer.from(text, 'latin1');

async function started(): Promise<InProcess> {
  const weir = serveInProcess({ bad: speaker(), good: speaker() });
  await weir.initialize({ sampling: {} });
  return weir;
}

/** Throws where a line is not JSON to a strict reader. */
function readStrictly(stdout: Buffer): void {
  for (const line of new TextDecoder('utf-8', { fatal: true }).decode(stdout).split('\n'))
    if (line !== '') JSON.parse(line);
}

describe('a server on stdio', () => {
  verifies(
    ['AGG-CALL-1', 'SAFE-4'],
    'H5: an invalid answer fails its one call, with an error that names server and fault',
    async () => {
      await using weir = await started();
      for (const { fault, text } of BAD) {
        const { error } = await weir.callTool('bad:speak', { lines: [result(text)] });
        expect(error?.message).toBe(`Server 'bad' sent a message with ${fault}`);
        const failed = await weir.callTool('bad:speak', {
          lines: [`{"jsonrpc":"2.0","id":ID,"error":{"code":1,"message":"${text}"}}`],
        });
        expect(failed.error?.message).toBe(`Server 'bad' sent a message with ${fault}`);
      }
      expect(textOf(await weir.callTool('good:speak', { lines: [], thenAnswer: true }))).toBe('spoken');
    },
  );

  verifies(
    ['AGG-CALL-1', 'SAFE-4'],
    'H5a: a client of the command gets only valid UTF-8 and JSON',
    async () => {
      await using weir = startWeir({ bad: speaker(), good: speaker() });
      const chunks: Buffer[] = [];
      weir.stdout.on('data', (chunk: Buffer) => chunks.push(chunk));
      await weir.initialize();
      for (const { text } of BAD) {
        const lines = [
          `{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"error","data":"${text}"}}`,
          `{"jsonrpc":"2.0","method":"notifications/x","params":{"${text}":1}}`,
          result(text),
        ];
        await weir.callTool('bad:speak', { lines });
      }
      expect(textOf(await weir.callTool('good:speak', { lines: [], thenAnswer: true }))).toBe('spoken');
      readStrictly(Buffer.concat(chunks));
    },
  );

  verifies(
    ['AGG-CALL-1', 'SAFE-4'],
    'H5: an invalid notification is dropped, and each kind is logged once',
    async () => {
      await using weir = await started();
      const lines = BAD.map(
        ({ text }) =>
          `{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"${text}"}}`,
      );
      const before = weir.lines.length;
      expect(textOf(await weir.callTool('bad:speak', { lines, thenAnswer: true }))).toBe('spoken');
      expect(weir.lines).toHaveLength(before + 1);
      const warnings = weir.logged.filter((line) => line.startsWith('warn') && line.includes('dropped'));
      expect(warnings.toSorted()).toEqual(
        Object.keys(FAULTS)
          .map((fault) => `warn [bad] sent a message with ${fault}; it was dropped`)
          .toSorted(),
      );
    },
  );

  verifies(
    ['AGG-CALL-1', 'SAFE-4'],
    'H5: an invalid question of a server is answered with an error',
    async () => {
      await using weir = await started();
      const lines = BAD.map(
        ({ text }, index) =>
          `{"jsonrpc":"2.0","id":"q${index}","method":"sampling/createMessage","params":{"x":"${text}"}}`,
      );
      await weir.callTool('bad:speak', { lines, thenAnswer: true });
      const heard = JSON.parse(textOf(await weir.callTool('bad:heard'))) as string[];
      const answers = heard
        .map((line) => JSON.parse(line) as Received)
        .filter(({ method }) => method === undefined);
      expect(answers.map(({ id, error }) => ({ id, message: error?.message }))).toEqual(
        BAD.map(({ fault }, index) => ({
          id: `q${index}`,
          message: `The server sent a message with ${fault}`,
        })),
      );
      expect(weir.messages.filter(({ method }) => method !== undefined)).toEqual([]);
    },
  );

  verifies(['AGG-CALL-1', 'SAFE-4'], 'H5: unusual but valid text keeps its bytes', async () => {
    await using weir = await started();
    await weir.callTool('bad:speak', { lines: [result(ODD_BUT_VALID)] });
    expect(weir.lines.at(-1)).toContain(latin1(ODD_BUT_VALID).toString());
  });

  verifies(
    ['AGG-CALL-1', 'SAFE-4'],
    'H5: each invalid answer of a batch fails only its own call',
    async () => {
      const server = scripted(`
        import { serve, text, tool } from 'stdio';
        const waiting = [];
        serve({
          name: 'batches',
          versions: ['2025-03-26'],
          tools: [tool('wait')],
          call: {
            wait(_, { id }) {
              waiting.push(id);
              if (waiting.length < 3) return;
              const answer = (id, value) => '{"jsonrpc":"2.0","id":' + id + ',"result":{"content":[{"type":"text","text":"' + value + '"}]}}';
              const [a, b, c] = waiting;
              process.stdout.write(Buffer.from('[' + [answer(a, 'caf\\xe9'), answer(b, 'a\\x01'), answer(c, 'fine')].join(',') + ']\\n', 'latin1'));
            },
          },
        });`);
      await using weir = serveInProcess({ b: server });
      await weir.initialize();
      const [utf8, control, fine] = await Promise.all([1, 2, 3].map(() => weir.callTool('b:wait')));
      expect(utf8?.error?.message).toBe("Server 'b' sent a message with bytes that are not UTF-8");
      expect(control?.error?.message).toBe(
        "Server 'b' sent a message with a raw control character in a string",
      );
      expect(textOf(fine as Received)).toBe('fine');
    },
  );

  verifies(['AGG-CALL-1', 'SAFE-4'], 'H5: invalid text in a list hides none of its tools', async () => {
    const server = scripted(`
      import { readMessages, reply, text } from 'stdio';
      const list = '{"tools":[{"name":"caf","description":"caf\\xe9 \\x01 \\\\x","inputSchema":{"type":"object"}},{"name":"other","inputSchema":{"type":"object"}}]}';
      readMessages(({ id, method }) => {
        if (method === 'tools/list') process.stdout.write(Buffer.from('{"jsonrpc":"2.0","id":' + id + ',"result":' + list + '}\\n', 'latin1'));
        else if (method === 'initialize') reply(id, { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo: { name: 'x', version: '1' } });
        else if (method === 'tools/call') reply(id, text('called'));
        else if (id !== undefined) reply(id, {});
      });`);
    await using weir = serveInProcess({ s: server });
    await weir.initialize();
    const tools = itemsOf<{ name: string; description?: string }>(await weir.request('tools/list'), 'tools');
    expect(tools.map(({ name, description }) => ({ name, description }))).toEqual([
      { name: 's:caf', description: 'caf\uFFFD \u0001 \\x' },
      { name: 's:other', description: undefined },
    ]);
    expect(textOf(await weir.callTool('s:caf'))).toBe('called');
    expect(weir.logged.join('\n')).toContain('[s] sent a message with bytes that are not UTF-8');
  });
});

describe('a remote server', () => {
  const RAW_NEWLINES = [
    'a\nb',
    '\n{"jsonrpc":"2.0","id":1,"result":{}}\n'.replaceAll('"', '\\"'),
    'a\r\nretry: 9',
  ];

  verifies(
    ['AGG-CALL-1', 'SAFE-4'],
    "H5c: an invalid JSON body fails its one call and adds no line to the client's stream",
    async () => {
      const bodies = [...BAD.map(({ text }) => text), ...RAW_NEWLINES].map((text) => result(text));
      let next = 0;
      const handler = toolServer('modern', ({ message }, response) => {
        const body = (bodies[next++] ?? '').replace('ID', String(message.id));
        response.writeHead(200, { 'content-type': 'application/json' }).end(latin1(body));
      });
      await using server = await serveHttp(handler);
      await using weir = serveInProcess({ r: { url: server.url } });
      await weir.initialize();
      await weir.request('tools/list');
      for (let i = 0; i < bodies.length; i++) {
        const before = weir.lines.length;
        const { error } = await weir.callTool('r:tool');
        expect(error?.message).toMatch(
          /^Server 'r' answered tools\/call with a message with (bytes|a raw|an inv)/u,
        );
        expect(weir.lines).toHaveLength(before + 1);
      }
    },
  );

  verifies(['AGG-CALL-1', 'SAFE-4'], 'H5c: pretty-printed JSON reaches its client as one line', async () => {
    const handler = toolServer('modern', ({ message }, response) => {
      const body = {
        jsonrpc: '2.0',
        id: message.id,
        result: { resultType: 'complete', content: [], x: 'a\nb' },
      };
      const text = JSON.stringify(body, null, '\t').replaceAll('\n', '\r\n');
      response.writeHead(200, { 'content-type': 'application/json' }).end(text);
    });
    await using server = await serveHttp(handler);
    await using weir = serveInProcess({ r: { url: server.url } });
    await weir.initialize();
    const before = (await weir.request('tools/list'), weir.lines.length);
    expect((await weir.callTool('r:tool')).result?.['x']).toBe('a\nb');
    expect(weir.lines).toHaveLength(before + 1);
    expect(weir.lines.at(-1)).not.toContain('\r');
  });

  verifies(
    ['AGG-CALL-1', 'SAFE-4'],
    'H5: an invalid event fails its one call although the stream stays open',
    async () => {
      let next = 0;
      const handler = toolServer('legacy', ({ message }, response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        const { text = '' } = STREAMED[next++] ?? {};
        response.write(latin1(`data: ${result(text).replace('ID', String(message.id))}\n\n`));
      });
      // A carriage return or newline would end the line of the event.
      const STREAMED = BAD.filter(({ text }) => !/[\r\n]/u.test(text));
      await using server = await serveHttp(handler);
      await using weir = serveInProcess({ r: { url: server.url } });
      await weir.initialize();
      await weir.request('tools/list');
      for (const { fault } of STREAMED)
        expect((await weir.callTool('r:tool')).error?.message).toBe(
          `Server 'r' answered tools/call with a message with ${fault}`,
        );
    },
  );
});

describe('a client on HTTP', () => {
  verifies(
    ['AGG-CALL-1', 'SAFE-4'],
    'H5c: a server cannot write fields into the event stream of a client',
    async () => {
      await using weir = await serveTest({ bad: speaker() });
      const forged = `${'x'.repeat(5000)}\rid: forged\rretry: 2147483647\revent: forged\rdata: forged\r\rx`;
      const lines = [
        `{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"error","data":"${forged}"}}`,
        `{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"error","data":"honest"}}`,
        result(forged),
      ];
      const session = await openSession(weir.url);
      const response = await open(weir.url, {
        headers: session.headers,
        body: session.call('bad__speak', { lines }),
      });
      let text = '';
      for await (const chunk of response) text += String(chunk);
      expect(text).not.toMatch(/\r|forged/u);
      expect(text).toContain("Server 'bad' sent a message with a raw control character in a string");
      const asModern = await send(
        weir.url,
        modern('tools/call', { name: 'bad__speak', arguments: { lines } }),
      );
      expect(asModern.text).not.toMatch(/\r|forged/u);
      expect(asModern.text).toContain('a raw control character in a string');
    },
  );

  verifies(['AGG-CALL-1', 'SAFE-4'], 'H5: an invalid body is refused and reaches no server', async () => {
    await using weir = await serveTest({ good: speaker() });
    const session = await openSession(weir.url);
    for (const { fault, text } of [...BAD, { fault: 'a raw control character in a string', text: 'a\nb' }]) {
      const call = (meta: Json): Buffer =>
        latin1(
          JSON.stringify({
            jsonrpc: '2.0',
            id: 7,
            method: 'tools/call',
            params: { name: 'good__speak', arguments: { lines: [], x: 'BAD' }, ...meta },
          }).replace('BAD', text),
        );
      const { headers = {} } = modern('tools/call', { name: 'good__speak' });
      for (const sent of [
        { headers: session.headers, body: call({}) },
        { headers, body: call(modernMeta()) },
      ]) {
        const { status, json } = await send(weir.url, sent);
        expect({ status, id: json.id, error: json.error }).toEqual({
          status: 400,
          id: 7,
          error: { code: -32700, message: `The body is not JSON: it contains ${fault}.` },
        });
      }
    }
    const { text } = await session.post(session.call('good__heard'));
    expect(text).not.toContain('BAD');
    expect(text.match(/tools\/call/gu)).toHaveLength(1);
  });
});

describe('a client on stdio', () => {
  verifies(
    ['AGG-CALL-1', 'SAFE-4'],
    'H5: an invalid line is answered under its id and reaches no server',
    async () => {
      await using weir = await started();
      await weir.request('tools/list');
      for (const { fault, text } of BAD) {
        weir.send(
          latin1(
            `{"jsonrpc":"2.0","id":"bad","method":"tools/call","params":{"name":"good:heard","x":"${text}"}}`,
          ),
        );
        expect((await weir.answer('bad')).error).toEqual({
          code: -32700,
          message: `Not JSON: the message contains ${fault}`,
        });
        weir.send(
          latin1(`{"jsonrpc":"2.0","method":"notifications/roots/list_changed","params":{"x":"${text}"}}`),
        );
      }
      const heard = JSON.parse(textOf(await weir.callTool('good:heard'))) as string[];
      expect(heard.filter((line) => line.includes('"tools/call"'))).toHaveLength(1);
      expect(heard.filter((line) => line.includes('roots'))).toEqual([]);
      expect(
        weir.logged.filter((line) => line.includes('something other than a message')).length,
      ).toBeLessThanOrEqual(2);
    },
  );

  verifies(['AGG-CALL-1', 'SAFE-4'], 'H5: an invalid id never comes back', async () => {
    await using weir = serveInProcess({ good: speaker() }, { maxMessageSize: 10_000 });
    const chunks: Buffer[] = [];
    weir.output.on('data', (chunk: Buffer) => chunks.push(chunk));
    await weir.initialize();
    for (const more of ['', `,"params":{"x":"${'x'.repeat(20_000)}"}`])
      for (const id of ['caf\xe9', 'a\x01', '\\x'])
        weir.send(latin1(`{"jsonrpc":"2.0","id":"${id}","method":"tools/list"${more}}`));
    await weir.request('ping');
    expect(isUtf8(Buffer.concat(chunks))).toBe(true);
    readStrictly(Buffer.concat(chunks));
  });
});

describe('an answer with neither a result nor an error', () => {
  const BARE = '{"jsonrpc":"2.0","id":ID}';
  const PROBLEM = 'an answer with neither a result nor an error';

  verifies(
    ['AGG-CALL-1', 'SAFE-4'],
    'L4: an answer without result and error fails its call on stdio',
    async () => {
      await using weir = await started();
      for (const line of [BARE, '{"id":ID,"jsonrpc":"2.0","x":{"result":1}}'])
        expect((await weir.callTool('bad:speak', { lines: [line] })).error?.message).toBe(
          `Server 'bad' sent ${PROBLEM}`,
        );
      // A log line in JSON is not an answer, although it has an id.
      const lines = ['{"level":30,"id":ID,"msg":"working"}'];
      expect(textOf(await weir.callTool('bad:speak', { lines, thenAnswer: true }))).toBe('spoken');
    },
  );

  verifies(
    ['AGG-CALL-1', 'SAFE-4'],
    'L4: an answer without result and error over the size limit fails its call',
    async () => {
      await using weir = serveInProcess({ bad: speaker() }, { maxMessageSize: 10_000 });
      await weir.initialize();
      const line = '{"jsonrpc":"2.0","id":ID,"x":"BIG"}';
      expect((await weir.callTool('bad:speak', { lines: [line] })).error?.message).toContain(
        'over the limit of 10000',
      );
    },
  );

  verifies(
    ['AGG-CALL-1', 'SAFE-4'],
    'L4: an answer without result and error fails its call on Streamable HTTP',
    async () => {
      let next = 0;
      const handler = toolServer('legacy', ({ message }, response) => {
        const bare = { jsonrpc: '2.0', id: message.id };
        if (next++ === 0)
          response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(bare));
        else openEvents(response).send(bare);
      });
      await using server = await serveHttp(handler);
      await using weir = serveInProcess({ r: { url: server.url } });
      await weir.initialize();
      await weir.request('tools/list');
      for (let i = 0; i < 2; i++)
        expect((await weir.callTool('r:tool')).error?.message).toBe(
          `Server 'r' answered tools/call with ${PROBLEM}`,
        );
    },
  );

  verifies(
    ['AGG-CALL-1', 'SAFE-4'],
    'L4: an answer without result and error, or an invalid event, fails its call on HTTP+SSE',
    async () => {
      let stream: ReturnType<typeof openEvents> | undefined;
      const answers: Record<string, Json> = {
        initialize: {
          protocolVersion: '2024-11-05',
          capabilities: { tools: {} },
          serverInfo: { name: 's', version: '1' },
        },
        'tools/list': { tools: [{ name: 'tool', inputSchema: { type: 'object' } }] },
      };
      const bad = ['{"jsonrpc":"2.0","id":ID}', result('a\tb')];
      await using server = await serveHttp((seen, response) => {
        if (seen.method === 'GET') {
          stream = openEvents(response);
          response.write('event: endpoint\ndata: /mcp\n\n');
          return;
        }
        response.writeHead(202).end();
        const { id, method = '' } = seen.message;
        if (id === undefined) return;
        const known = answers[method];
        if (known !== undefined) stream?.send({ jsonrpc: '2.0', id, result: known });
        else if (method === 'tools/call') stream?.send((bad.shift() ?? '').replace('ID', String(id)));
        else stream?.send({ jsonrpc: '2.0', id, error: { code: -32601, message: 'Method not found' } });
      });
      await using weir = serveInProcess({ r: { sseConfig: { url: server.url } } });
      await weir.initialize();
      await weir.request('tools/list');
      expect((await weir.callTool('r:tool')).error?.message).toBe(`Server 'r' sent ${PROBLEM}`);
      expect((await weir.callTool('r:tool')).error?.message).toContain('a raw control character in a string');
    },
  );
});
