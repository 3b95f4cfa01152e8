// Bytes: what a client writes reaches the server, and what a server writes reaches the client, as it was written.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import {
  fixture,
  scripted,
  startWeir,
  temporaryFolder,
  textOf,
  type Era,
  type ServerEntry,
} from '../../support/harness.ts';
import { serveInProcess } from '../../support/in-process.ts';
import type { LineClient } from '../../support/line-client.ts';
import { verifies } from '../../verifies.ts';

const PREFIX = 'io.modelcontextprotocol/';
const VERSION = `"${PREFIX}protocolVersion":"2026-07-28"`;
/** The gateway's own client info, here and in the bundled command. */
const INFO = `"${PREFIX}clientInfo":{"name":"mcp-aggregator-client","version":"9.9.9"}`;
const LEVEL = `"${PREFIX}logLevel":"error"`;
const CAPABILITIES = `"${PREFIX}clientCapabilities":{"sampling":{},"x-odd":1.50}`;

/** Everything that parsing and writing again would change, and that a careless scan would misread. */
const HARD = [
  '{ "big" : 12345678901234567890 ,"z":1,"a":-0,"10":1.0,"2":[1e400,0.1E-7,1.50],',
  '"escaped":"\\u00e9\\/\\ud83d\\ude00 \\ud800 \\\\\\" }]","raw":"é😀\u2028\u2029\u007f","__proto__":{"id":7},"":null,',
  '"twice":1,"twice":2,"\\u0069d":3,"id":4,"jsonrpc":"1.0","method":"x","params":{"name":"y"},"result":[[],{},""],',
  `"long":"${'x"\\'.replaceAll('"', '\\"').replaceAll(/\\$/gu, '\\\\').repeat(40)}"\t}`,
].join('');

/** The schema of a tool, oddly written; clients judge its type. */
const SCHEMA = `"inputSchema":{ "x":${HARD} ,"type":"\\u006fbject"}`;

/** A recording server: the lines that it received, and the answers that it shall give. */
class Tape {
  readonly folder: string = temporaryFolder();
  readonly era: Era;

  constructor(era: Era) {
    this.era = era;
  }

  get entry(): ServerEntry {
    return fixture('record-and-replay', this.folder, ...(this.era === 'modern' ? ['--modern'] : []));
  }

  answer(method: string, bytes: string | Buffer): void {
    writeFileSync(join(this.folder, method.replaceAll('/', '-')), bytes);
  }

  /** The last line of this method that reached the server, with `#` for the id it came under. */
  received(method: string): string {
    const lines = readFileSync(join(this.folder, 'received'), 'utf8').split('\n');
    const line = lines.findLast((line) => line.includes(`"method":"${method}"`)) ?? '';
    return line.replace(/"id":\d+,/u, '"id":#,');
  }
}

interface Pair {
  readonly from: Era;
  readonly to: Era;
}

const PAIRS: readonly Pair[] = [
  { from: 'legacy', to: 'legacy' },
  { from: 'legacy', to: 'modern' },
  { from: 'modern', to: 'legacy' },
  { from: 'modern', to: 'modern' },
];

/** Opens the conversation as a client of this era that can sample. */
async function open(client: LineClient, era: Era): Promise<void> {
  if (era === 'modern') return;
  client.send(
    '{"jsonrpc":"2.0","id":"open","method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{"sampling":{},"x-odd":1.50},"clientInfo":{"name":"test","version":"1"}}}',
  );
  await client.answer('open');
  client.notify('notifications/initialized');
}

/** The envelope as a client of the modern era writes it, in an order of its own. */
const CLIENT_ENVELOPE = `"traceparent":"00-0af7-b7ad-01",${CAPABILITIES},"${PREFIX}clientInfo":{"name":"test","version":"1"},"example.com/x":{"n":1.0},${LEVEL},${VERSION}`;

function requestLine({ from }: Pair, method: string, members: string): string {
  const meta = from === 'modern' ? `,"_meta":{${CLIENT_ENVELOPE}}` : '';
  return `{"jsonrpc":"2.0","id":"q 1","method":"${method}","params":{${members}${meta},"x-after":[1.0]},"x-top":{"n":1.0}}`;
}

/** The part of the request's `_meta` that arrives, and where: the one thing besides id, name and URI that a hop changes. */
const ARRIVES: Record<string, { atFront: string; behind: string }> = {
  'legacy→legacy': { atFront: '', behind: '' },
  'legacy→modern': { atFront: `"_meta":{${VERSION},${INFO},${CAPABILITIES}},`, behind: '' },
  'modern→legacy': {
    atFront: '',
    behind: ',"_meta":{"traceparent":"00-0af7-b7ad-01","example.com/x":{"n":1.0}}',
  },
  'modern→modern': {
    atFront: '',
    behind: `,"_meta":{${INFO},"traceparent":"00-0af7-b7ad-01",${CAPABILITIES},"example.com/x":{"n":1.0},${LEVEL},${VERSION}}`,
  },
};

function arrived({ from, to }: Pair, method: string, members: string): string {
  const { atFront, behind } = ARRIVES[`${from}→${to}`]!;
  return `{"jsonrpc":"2.0","id":#,"method":"${method}","params":{${atFront}${members}${behind},"x-after":[1.0]},"x-top":{"n":1.0}}`;
}

/** A result as a server of this era writes it. */
function written({ to }: Pair, method: string, body: string): string {
  if (to === 'legacy') return `"result":{${body}}`;
  const hints = method === 'resources/read' ? `,"ttlMs":5000,"cacheScope":"public"` : '';
  return `"result":{"resultType":"complete"${hints},${body}}`;
}

/** The same result as a client of this era reads it. */
function read({ from, to }: Pair, method: string, body: string): string {
  if (from === 'legacy') return `"result":{${body}}`;
  const ttl = to === 'modern' ? '"ttlMs":5000,"cacheScope":"public"' : '"ttlMs":0,"cacheScope":"private"';
  return `"result":{"resultType":"complete"${method === 'resources/read' ? `,${ttl}` : ''},${body}}`;
}

const REQUESTS: readonly { method: string; sent: string; arrives: string }[] = [
  {
    method: 'tools/call',
    sent: `"name":"t:play","arguments":${HARD}`,
    arrives: `"name":"play","arguments":${HARD}`,
  },
  {
    method: 'prompts/get',
    sent: `"arguments":${HARD},"name":"t:say"`,
    arrives: `"arguments":${HARD},"name":"say"`,
  },
  {
    method: 'resources/read',
    sent: `"uri":"tape://one","x":${HARD}`,
    arrives: `"uri":"tape://one","x":${HARD}`,
  },
  {
    method: 'completion/complete',
    sent: `"argument":${HARD},"ref":{"type":"ref/prompt","x":1.0,"name":"t:say"}`,
    arrives: `"argument":${HARD},"ref":{"type":"ref/prompt","x":1.0,"name":"say"}`,
  },
];

describe.each(PAIRS)('a $from client and a $to server', (pair) => {
  verifies(
    ['AGG-CALL-1', 'ERA-1'],
    'requests and results keep all bytes but those that the hop changes',
    async () => {
      const tape = new Tape(pair.to);
      await using weir = serveInProcess({ t: tape.entry });
      await open(weir, pair.from);
      for (const { method, sent, arrives } of REQUESTS) {
        const body = `"content":[],"x-result":${HARD},"_meta":{"example.com/y":${HARD}}`;
        tape.answer(method, written(pair, method, body));
        weir.send(requestLine(pair, method, sent));
        await weir.answer('q 1');
        expect(tape.received(method)).toBe(arrived(pair, method, arrives));
        expect(weir.lines.at(-1)).toBe(`{"jsonrpc":"2.0","id":"q 1",${read(pair, method, body)}}`);
      }
    },
  );

  verifies('AGG-CALL-1', 'errors keep their code, message, data and unknown members', async () => {
    const tape = new Tape(pair.to);
    await using weir = serveInProcess({ t: tape.entry });
    await open(weir, pair.from);
    const error = `"error":{"data":${HARD},"message":"ünknown \\u00fc","x":1.0,"code":-31999}`;
    for (const { method, sent } of REQUESTS) {
      tape.answer(method, error);
      weir.send(requestLine(pair, method, sent));
      await weir.answer('q 1');
      expect(weir.lines.at(-1)).toBe(`{"jsonrpc":"2.0","id":"q 1",${error}}`);
    }
  });

  verifies('AGG-CALL-1', 'definitions in lists keep all bytes but the prefixed names', async () => {
    const tape = new Tape(pair.to);
    const hints = pair.to === 'modern' ? '"resultType":"complete","ttlMs":5000,"cacheScope":"public",' : '';
    tape.answer(
      'tools/list',
      `"result":{${hints}"tools":[{"x":${HARD}, "name" : "play",${SCHEMA}} ,{"name":"b",${SCHEMA}}]}`,
    );
    tape.answer('prompts/list', `"result":{"prompts":[{"name":"\\u0073ay","x":${HARD}}],${hints}"x":1}`);
    tape.answer(
      'resources/list',
      `"result":{${hints}"resources":[{"uri":"tape:\\/\\/one","name":"","x":${HARD}}]}`,
    );
    tape.answer(
      'resources/templates/list',
      `"result":{${hints}"resourceTemplates":[{"x":${HARD},"uriTemplate":"tape://{+x}","name":"x"}]}`,
    );
    await using weir = serveInProcess({ t: tape.entry });
    await open(weir, pair.from);
    const head =
      pair.from === 'legacy'
        ? ''
        : `"resultType":"complete",${pair.to === 'modern' ? '"ttlMs":5000,"cacheScope":"public"' : '"ttlMs":0,"cacheScope":"private"'},`;
    for (const [method, list] of [
      ['tools/list', `"tools":[{"x":${HARD}, "name" : "t:play",${SCHEMA}},{"name":"t:b",${SCHEMA}}]`],
      ['prompts/list', `"prompts":[{"name":"t:say","x":${HARD}}]`],
      ['resources/list', `"resources":[{"uri":"tape:\\/\\/one","name":"","x":${HARD}}]`],
      [
        'resources/templates/list',
        `"resourceTemplates":[{"x":${HARD},"uriTemplate":"tape://{+x}","name":"x"}]`,
      ],
    ] as const) {
      weir.send(requestLine(pair, method, '"x-param":1'));
      await weir.answer('q 1');
      expect(weir.lines.at(-1)).toBe(`{"jsonrpc":"2.0","id":"q 1","result":{${head}${list}}}`);
    }
  });
});

const CALL = '"method":"tools/call"';

describe('a line', () => {
  verifies.slow('AGG-CALL-1', 'a line of 32 MB passes unchanged in both directions', async () => {
    const tape = new Tape('legacy');
    const large = `[${`${HARD},`.repeat(Math.ceil((32 * 1024 * 1024) / HARD.length))}"${'é'.repeat(1024 * 1024)}"]`;
    tape.answer('tools/call', `"result":{"content":[],"structuredContent":${large}}`);
    await using weir = serveInProcess({ t: tape.entry });
    await open(weir, 'legacy');
    weir.send(`{"jsonrpc":"2.0","id":1,${CALL},"params":{"arguments":{"large":${large}},"name":"t:play"}}`);
    await weir.answer(1);
    const expected = `{"jsonrpc":"2.0","id":#,${CALL},"params":{"arguments":{"large":${large}},"name":"play"}}`;
    expect(tape.received('tools/call') === expected).toBe(true);
    expect(
      weir.lines.at(-1) === `{"jsonrpc":"2.0","id":1,"result":{"content":[],"structuredContent":${large}}}`,
    ).toBe(true);
  });

  verifies('AGG-CALL-1', 'a line with invalid UTF-8 fails its own call, in both directions', async () => {
    const tape = new Tape('legacy');
    await using weir = serveInProcess({ t: tape.entry });
    await open(weir, 'legacy');
    await weir.request('tools/list');
    const odd = Buffer.from([0xff, 0xc3, 0x28, 0xed, 0xa0, 0x80]);
    const call = Buffer.from(`{"jsonrpc":"2.0","id":1,${CALL},"params":{"name":"t:play","arguments":{"x":"`);
    weir.send(Buffer.concat([call, odd, Buffer.from('"}}}')]));
    expect((await weir.answer(1)).error?.code).toBe(-32700);
    expect(tape.received('tools/call')).toBe('');
    tape.answer('tools/call', Buffer.concat([Buffer.from('"result":{"x":"'), odd, Buffer.from('"}')]));
    expect((await weir.callTool('t:play')).error?.message).toContain('bytes that are not UTF-8');
  });

  verifies(
    'AGG-CALL-1',
    'the gateway reads an unusually spelled head as a parser would, and keeps the arguments',
    async () => {
      const tape = new Tape('legacy');
      tape.answer('tools/call', '"result":{}');
      await using weir = serveInProcess({ t: tape.entry });
      await open(weir, 'legacy');
      for (const line of [
        `{"id":7,"jsonrpc":"2.0","\\u006dethod":"tools/call","params":{"name":"t:nobody","n\\u0061me":"t:play","arguments":${HARD}},"id":1}`,
        `{"id":1,"jsonrpc":"2.0","params":[],"params":{"name":"t:play","arguments":1,"argument\\u0073":${HARD}},"method":"tools/call"}`,
        ` \t{ "jsonrpc" : "2.0" , "id" : 1 , "method" : "tools\\/call" , "params" : { "name" : "\\u0074:play" , "arguments" : ${HARD} } } \r`,
      ]) {
        weir.send(line);
        await weir.answer(1);
        const received = readFileSync(join(tape.folder, 'received'), 'utf8').split('\n').at(-2) ?? '';
        expect(JSON.parse(received)).toMatchObject({ method: 'tools/call', params: { name: 'play' } });
        expect(received).toContain(HARD);
      }
    },
  );

  verifies('AGG-CALL-1', 'an answer has the id of its request, byte for byte', async () => {
    const tape = new Tape('legacy');
    tape.answer('tools/call', '"result":{}');
    await using weir = serveInProcess({ t: tape.entry });
    await open(weir, 'legacy');
    const ids = ['0', '-1', '1.50', '12345678901234567890', '1e2', '""', '"\\u00fc ü"', '"__proto__"', '"1"'];
    for (const id of ids) weir.send(`{"jsonrpc":"2.0","id":${id},${CALL},"params":{"name":"t:play"}}`);
    const answers = ids.map((id) => `{"jsonrpc":"2.0","id":${id},"result":{}}`);
    await weir.next(() => weir.lines.length >= ids.length + 1);
    expect(weir.lines.slice(1)).toEqual(answers);
  });

  verifies('AGG-CALL-1', 'the bundled command keeps the bytes of requests and results', async () => {
    const tape = new Tape('legacy');
    tape.answer('tools/call', `"result":{"content":[],"x":${HARD}}`);
    await using weir = startWeir({ t: tape.entry });
    await open(weir, 'legacy');
    weir.send(`{"jsonrpc":"2.0","id":1,${CALL},"params":{"name":"t:play","arguments":${HARD}}}`);
    await weir.answer(1);
    expect(tape.received('tools/call')).toBe(
      `{"jsonrpc":"2.0","id":#,${CALL},"params":{"name":"play","arguments":${HARD}}}`,
    );
    expect(weir.lines.at(-1)).toBe(`{"jsonrpc":"2.0","id":1,"result":{"content":[],"x":${HARD}}}`);
  });
});

verifies(
  ['AGG-CALL-1', 'ERA-1'],
  'a request without parameters gets an envelope on its way to a modern server',
  async () => {
    const tape = new Tape('modern');
    await using weir = serveInProcess({ t: tape.entry });
    await open(weir, 'legacy');
    await weir.request('tools/list');
    weir.send('{"jsonrpc":"2.0","id":"bare","method":"x/unknown"}');
    await weir.answer('bare');
    expect(tape.received('x/unknown')).toBe(
      `{"params":{"_meta":{${VERSION},${INFO},${CAPABILITIES}}},"jsonrpc":"2.0","id":#,"method":"x/unknown"}`,
    );
  },
);

verifies('AGG-REG-1', 'lists have the same bytes at every start of the command', async () => {
  const servers = {
    b: fixture('many-tools', '50'),
    l: fixture('invalid-responses'),
    m: fixture('modern'),
    d: fixture('dual-era-echo'),
    n: fixture('resources'),
  };
  const folder = temporaryFolder();
  const lists = new Set<string>();
  for (let start = 0; start < 3; start++) {
    await using weir = startWeir(servers, { folder });
    await weir.initialize();
    for (const method of ['tools/list', 'prompts/list', 'resources/list', 'resources/templates/list'])
      await weir.request(method);
    lists.add(weir.lines.join('\n'));
  }
  expect(lists.size).toBe(1);
});

/** A server whose one tool writes these lines before its result; `ID` and `TOKEN` stand for the request's own. */
function speaker(...lines: string[]): ServerEntry {
  return scripted(`
    import { serve, text, tool, write } from 'stdio';
    const lines = ${JSON.stringify(lines)};
    const session = serve({
      name: 'speaker',
      tools: [tool('speak'), tool('heard')],
      call: {
        speak: (_args, { id, params }) => {
          for (const line of lines) write(line.replaceAll('TOKEN', params._meta?.progressToken).replaceAll('ID', id));
          return text('spoken');
        },
        heard: () => text(JSON.stringify(session.seen)),
      },
    });`);
}

describe('messages that a server sends unasked', () => {
  verifies(['AGG-CALL-1', 'AGG-CALL-3'], 'known and unknown notifications keep their bytes', async () => {
    const notices = [
      `{"method":"notifications/message","params":{"level":"info","data":${HARD}},"jsonrpc":"2.0","x":1.0}`,
      `{"jsonrpc":"2.0","method":"notifications/x-unknown","params":{"x":${HARD}}}`,
      `{"jsonrpc":"2.0","method":"notifications/elicitation/complete","params":{"elicitationId":"a","x":${HARD}}}`,
      `{"jsonrpc":"2.0","method":"notifications/bare"}`,
    ];
    await using weir = serveInProcess({ s: speaker(...notices) });
    await weir.initialize();
    await weir.callTool('s:speak');
    expect(weir.lines.slice(1, -1)).toEqual(notices);
  });

  verifies(
    ['AGG-CALL-1', 'AGG-CALL-3'],
    'progress notifications keep all bytes but their token',
    async () => {
      const update = (token: string): string =>
        `{"jsonrpc":"2.0","method":"notifications/progress","params":{"x":${HARD},"progressToken":${token},"progress":1.0,"_meta":{"y":1.0}}}`;
      await using weir = serveInProcess({ s: speaker(update('TOKEN')) });
      await weir.initialize();
      for (const token of ['"t 1"', '0', '"\\u00fc"', '12345678901234567890']) {
        weir.send(
          `{"jsonrpc":"2.0","id":"p","method":"tools/call","params":{"_meta":{"a":1.0,"progressToken":${token}},"name":"s:speak"}}`,
        );
        await weir.answer('p');
        expect(weir.lines.at(-2)).toBe(update(token));
      }
    },
  );

  verifies(
    ['AGG-CALL-1', 'AGG-CALL-3'],
    'questions and their answers keep all bytes but their ids',
    async () => {
      const question = (id: string): string =>
        `{"jsonrpc":"2.0","method":"sampling/createMessage","id":${id},"params":{"x":${HARD}},"x":1.0}`;
      await using weir = serveInProcess({ s: speaker(question('"q \\u00fc"')) });
      await weir.initialize({ sampling: {} });
      await weir.callTool('s:speak');
      const asked = await weir.call('sampling/createMessage');
      expect(weir.lines.find((line) => line.includes('sampling'))).toBe(question(JSON.stringify(asked.id)));
      // The fixture reads with readline, which takes these two for the end of a line.
      const answer = HARD.replaceAll(/[\u2028\u2029]/gu, '');
      weir.send(`{"result":${answer},"id":${JSON.stringify(asked.id)},"jsonrpc":"2.0","x":1.0}`);
      const heard = JSON.parse(textOf(await weir.callTool('s:heard'))) as string[];
      expect(heard).toContain(`{"result":${answer},"id":"q \\u00fc","jsonrpc":"2.0","x":1.0}`);
    },
  );
});
