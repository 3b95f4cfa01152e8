// Hostile texts: the gateway keeps and repeats a bounded part of the names and texts of a peer.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect } from 'vitest';
import {
  fixture,
  modernMeta,
  scripted,
  startWeir,
  temporaryFolder,
  type Received,
  type ServerEntry,
} from '../support/harness.ts';
import { modern, openSession, rpc, send, serveTest, type Sent } from '../support/http.ts';
import { createTestGateway, open, serveInProcess } from '../support/in-process.ts';
import { verifies } from '../verifies.ts';

const MB = 1_000_000;
const LONG = 'x'.repeat(MB);

/** Bytes that are alive in this process. */
function heapUsed(): number {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  collect();
  return process.memoryUsage().heapUsed;
}

/** Fails each call with a message that has secrets in it, at its beginning and where it is cut. */
const FAILS: ServerEntry = {
  ...scripted(`
    import { rpcError, serve, tool } from 'stdio';
    const { SECRET } = process.env;
    serve({
      name: 'fails',
      tools: [tool('fail')],
      call: {
        fail: ({ before, length }) => {
          throw rpcError(-32000, 'f'.repeat(before) + SECRET + 'f'.repeat(length));
        },
      },
    });`),
  env: { SECRET: 'hunter2-correct-horse' },
};

/** Lists a tool whose name has 0.4 MB; with its description, which repeats it, it stays below what a definition may have. */
const NAMED = scripted(`
  import { serve, text, tool } from 'stdio';
  serve({
    name: 'named',
    tools: [tool('x'.repeat(${0.4 * MB}))],
    on: { 'tools/call': () => text('done') },
  });`);

describe('the history of calls', () => {
  verifies(
    ['SAFE-4', 'HEALTH-7'],
    'M6: the history keeps 500 characters of a long error, and no secret',
    async () => {
      const gateway = createTestGateway({ f: FAILS });
      const call = async (before: number, length: number): Promise<void> => {
        await gateway.callTool('f__fail', { before, length }).catch(() => {});
      };
      await call(0, 10);
      const used = heapUsed();
      for (let i = 0; i < 40; i++) await call(i * 120, MB);
      expect(heapUsed() - used).toBeLessThan(MB);
      const errors = gateway.history.recent().map(({ error }) => error?.message ?? '');
      expect(Math.max(...errors.map(({ length }) => length))).toBeLessThanOrEqual(501);
      expect(errors.filter((text) => text.includes('hunter2'))).toEqual([]);
      await gateway.close();
    },
  );

  verifies(
    ['SAFE-4', 'HEALTH-7'],
    'L11: the history cuts names of 0.4 MB and arguments of 1 MB',
    async () => {
      const folder = temporaryFolder();
      const weir = startWeir({ l: NAMED }, { folder, args: ['--history-arguments', '--debug'] });
      await weir.initialize();
      const [long = ''] = await weir.tools();
      for (let i = 0; i < 3; i++) await weir.callTool(long, { text: LONG });
      await weir.callTool(`nowhere:${LONG}`);
      await weir.request(`${LONG}/x`);
      await weir.close();
      const state = join(folder, 'state', 'history');
      const kept = readdirSync(state).map((file) => readFileSync(join(state, file), 'utf8'));
      const lines = kept.join('').trim().split('\n');
      expect(lines).toHaveLength(4);
      expect(Math.max(...lines.map(({ length }) => length))).toBeLessThan(1000);
      expect(JSON.parse(lines[0] ?? '')).toMatchObject({
        toolName: `${'x'.repeat(200)}…`,
        parameters: { '…': '1000011 bytes' },
      });
      expect(Math.max(...weir.stderr.split('\n').map(({ length }) => length))).toBeLessThan(1000);
    },
  );
});

/** Errors that could repeat what the client has sent, by what is too long in the request. */
describe('an error', () => {
  const bounded = (answers: readonly Received[]): void => {
    expect(answers.map(({ error }) => error?.code)).not.toContain(undefined);
    const lengths = answers.map((answer) => JSON.stringify(answer).length);
    expect(Math.max(...lengths)).toBeLessThan(4096);
  };
  const SERVERS = { a: fixture('echo'), b: fixture('echo') };

  verifies(
    ['SAFE-4', 'AGG-CALL-1'],
    "L3: an error repeats at most 2 KiB of a legacy client's own text",
    async () => {
      await using weir = serveInProcess(SERVERS);
      const ask = await open(weir, 'legacy');
      bounded(
        await Promise.all([
          ask('tools/call', { name: LONG }),
          ask('tools/call', { name: `a:${LONG}` }),
          ask('prompts/get', { name: LONG }),
          ask('resources/read', { uri: `x:${LONG}` }),
          ask('resources/subscribe', { uri: `x:${LONG}` }),
          ask('completion/complete', { ref: { type: 'ref/prompt', name: LONG } }),
          ask('completion/complete', { ref: { type: 'ref/resource', uri: `x:${LONG}` } }),
          ask('tasks/get', { taskId: LONG }),
          ask('tools/list', { cursor: LONG }),
          ask('logging/setLevel', { level: LONG }),
          ask(LONG),
        ]),
      );
    },
  );

  verifies(
    ['SAFE-4', 'AGG-CALL-1'],
    "L3: an error repeats at most 2 KiB of a modern client's own text",
    async () => {
      await using served = await serveTest(SERVERS);
      const named = ({ headers, body = '' }: Sent, method: string): Sent => ({
        headers: { ...headers, 'Mcp-Name': 'a', 'Mcp-Method': method },
        body,
      });
      const version = { 'io.modelcontextprotocol/protocolVersion': LONG };
      const sent = [
        named(modern('tools/call', { name: LONG }), 'tools/call'),
        named(modern('resources/read', { uri: `x:${LONG}` }), 'resources/read'),
        named(modern('tools/call', { name: 'a' }, { meta: version }), 'tools/call'),
        named(modern('server/discover', {}, { meta: version }), 'server/discover'),
        named(modern(LONG), 'tools/call'),
      ];
      const answers = await Promise.all(sent.map((request) => send(served.url, request)));
      bounded(answers.map(({ json }) => json));
      await using weir = serveInProcess(SERVERS);
      bounded([
        await weir.request('server/discover', modernMeta({}, version)),
        await weir.request('tools/call', { name: 'x', ...modernMeta({}, version) }),
        await weir.request('resources/read', { uri: `x:${LONG}`, ...modernMeta() }),
      ]);
      const session = await openSession(served.url);
      bounded([(await session.post(rpc('resources/read', { uri: `x:${LONG}` }, 1))).json]);
    },
  );
});

verifies(
  ['SAFE-4', 'ERA-5'],
  'a server that answers with an unknown version is not used, with the reason',
  async () => {
    const odd = scripted(`
    import { serve, tool } from 'stdio';
    serve({ name: 'odd', tools: [tool('x')], versions: ['9999-99-99'] });`);
    const gateway = createTestGateway({ odd, a: fixture('echo') }, { keepGoing: true });
    await gateway.start();
    expect((await gateway.listTools()).map(({ name }) => name)).not.toContain('odd:x');
    const { lastError = '' } = gateway.reports().find(({ serverKey }) => serverKey === 'odd') ?? {};
    expect(lastError).toContain("it answered initialize with protocol version '9999-99-99'");
    await gateway.close();
  },
);

verifies(
  'SAFE-4',
  'H4: a server with more than 1 MiB of instructions is not used, with the reason',
  async () => {
    const wordy = scripted(`
    import { serve, tool } from 'stdio';
    serve({ name: 'wordy', tools: [tool('x')], instructions: 'x'.repeat(2 * ${MB}) });`);
    const gateway = createTestGateway({ wordy, a: fixture('echo') }, { keepGoing: true });
    await gateway.start();
    expect((await gateway.listTools()).map(({ name }) => name)).not.toContain('wordy:x');
    const { lastError = '' } = gateway.reports().find(({ serverKey }) => serverKey === 'wordy') ?? {};
    expect(lastError).toMatch(/it answered initialize with 2\d{6} bytes, over the limit of 1048576/u);
    await gateway.close();
  },
);
