// The first answers come from the catalogues of earlier starts, while the servers start.
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import {
  scripted,
  startWeir,
  temporaryFolder,
  textOf,
  type Received,
  type ServerEntry,
} from '../../support/harness.ts';
import { connectHttp, serveTest } from '../../support/http.ts';
import { open, serveInProcess, type InProcess, type InProcessOptions } from '../../support/in-process.ts';
import { until } from '../../support/processes.ts';
import { verifies } from '../../verifies.ts';

/** A server that does what a file says when it starts, and notes each start. */
interface Changeable {
  readonly entry: ServerEntry;
  /** From the next start on: these tools, after so many milliseconds; or none at all. */
  set(behaviour: { tools?: string[]; delay?: number; fails?: boolean }): void;
  starts(): number;
}

function changeable(...tools: string[]): Changeable {
  const folder = temporaryFolder();
  const [file, starts] = [join(folder, 'behaviour'), join(folder, 'starts')];
  const set: Changeable['set'] = (behaviour) => writeFileSync(file, JSON.stringify({ tools, ...behaviour }));
  set({});
  writeFileSync(starts, '');
  const entry = scripted(`
    import { appendFileSync, readFileSync } from 'node:fs';
    import { serve, text, tool } from 'stdio';
    appendFileSync(${JSON.stringify(starts)}, 'x');
    const { tools, delay = 0, fails } = JSON.parse(readFileSync(${JSON.stringify(file)}, 'utf8'));
    await new Promise((resolve) => setTimeout(resolve, delay));
    if (fails) throw new Error('does not start');
    serve({
      name: 'changeable',
      instructions: 'Use ' + tools.join(' and ') + '.',
      capabilities: { tools: {}, tasks: { list: {} } },
      tools: tools.map((name) => tool(name)),
      on: { 'tools/call': ({ name }) => text('called ' + name) },
    });`);
  return { entry, set, starts: () => readFileSync(starts, 'utf8').length };
}

/** Longer than anything that is answered from memory takes on a busy machine. */
const SLOW_MS = 2500;
const AT_ONCE_MS = 1200;

interface Remembering extends InProcessOptions {
  readonly state: string;
}

function remembering(): Remembering {
  const folder = temporaryFolder();
  return { keepGoing: true, state: join(folder, 'state'), configPath: join(folder, 'mcp.json') };
}

/** Runs the servers once, so that they are remembered. */
async function learn(servers: Record<string, ServerEntry>, options: InProcessOptions): Promise<void> {
  await using weir = serveInProcess(servers, options);
  await weir.tools();
  await weir.gateway.allAttempted;
}

async function elapsed<T>(work: Promise<T>): Promise<{ result: T; ms: number }> {
  const began = performance.now();
  const result = await work;
  return { result, ms: performance.now() - began };
}

function notices({ messages }: InProcess): string[] {
  return messages.flatMap(({ method }) => method ?? []);
}

const instructionsOf = ({ result }: Received): unknown => result?.['instructions'];

describe.concurrent('a start with stored catalogues', () => {
  verifies.slow(
    ['AGG-REG-3', 'SCALE-2', 'AGG-CLI-1'],
    'the command answers initialize and the first list before its servers run',
    async () => {
      const folder = temporaryFolder();
      const [a, b] = [changeable('one', 'two'), changeable('three')];
      const config = { a: a.entry, b: b.entry };
      const options = { folder, args: ['--keep-going', '--separator', ':'] };
      const first = await (async () => {
        await using weir = startWeir(config, options);
        return await weir.tools();
      })();
      expect(first).toEqual(['a:one', 'a:two', 'b:three']);
      a.set({ delay: SLOW_MS });
      await using weir = startWeir(config, options);
      const { result: greeting, ms } = await elapsed(weir.initialize());
      expect(String(instructionsOf(greeting))).toMatch(/Use one and two\.[^]*Use three\./u);
      expect(greeting.result?.['capabilities']).toMatchObject({ tasks: { list: {} } });
      const list = await elapsed(weir.tools());
      expect(list.result).toEqual(first);
      expect(ms + list.ms).toBeLessThan(AT_ONCE_MS);
      // A call waits for its own server alone.
      const quick = await elapsed(weir.callTool('b:three'));
      expect(textOf(quick.result)).toBe('called three');
      expect(quick.ms).toBeLessThan(AT_ONCE_MS);
      expect(textOf(await weir.callTool('a:two'))).toBe('called two');
      expect([a.starts(), b.starts()]).toEqual([2, 2]);
      expect(weir.messages.flatMap(({ method }) => method ?? [])).toEqual([]);
    },
  );

  for (const era of ['legacy', 'modern'] as const)
    verifies(
      ['AGG-REG-3', 'ERA-1'],
      `a ${era} client gets stored instructions and lists at once`,
      async () => {
        const a = changeable('one');
        const options = remembering();
        await learn({ a: a.entry }, options);
        a.set({ delay: SLOW_MS });
        await using weir = serveInProcess({ a: a.entry }, options);
        const began = performance.now();
        if (era === 'modern') {
          const ask = await open(weir, era);
          expect(instructionsOf(await ask('server/discover'))).toBe('Use one.');
          expect((await ask('tools/list')).result?.['tools']).toHaveLength(1);
        } else {
          expect(instructionsOf(await weir.initialize())).toBe('Use one.');
          expect(await weir.tools()).toEqual(['a:one']);
        }
        expect(performance.now() - began).toBeLessThan(AT_ONCE_MS);
        expect(weir.gateway.children.get('a')?.status).toBe('initializing');
      },
    );

  verifies(
    ['AGG-REG-3', 'AGG-REG-2'],
    'lists that differ from the stored ones follow in one notice',
    async () => {
      const [a, b] = [changeable('one'), changeable('two')];
      const servers = { a: a.entry, b: b.entry };
      const options = remembering();
      await learn(servers, options);
      a.set({ tools: ['one', 'more'] });
      b.set({ tools: ['other'], delay: 500 });
      await using weir = serveInProcess(servers, options);
      expect(await weir.tools()).toEqual(['a:one', 'b:two']);
      await weir.gateway.allAttempted;
      await weir.call('notifications/tools/list_changed');
      expect(await weir.tools()).toEqual(['a:one', 'a:more', 'b:other']);
      expect((await weir.callTool('b:two')).error?.message).toContain('not found');
      expect(notices(weir)).toEqual(['notifications/tools/list_changed']);
    },
  );

  verifies(['AGG-REG-3', 'AGG-REG-1'], 'a stored server that does not start leaves the list', async () => {
    const [a, b] = [changeable('one'), changeable('two')];
    const servers = { a: a.entry, b: b.entry };
    const options = remembering();
    await learn(servers, options);
    a.set({ fails: true, delay: 300 });
    await using weir = serveInProcess(servers, options);
    expect(await weir.tools()).toEqual(['a:one', 'b:two']);
    const call = weir.callTool('a:one');
    expect((await call).error?.message).toContain("'a'");
    await weir.call('notifications/tools/list_changed');
    expect(await weir.tools()).toEqual(['b:two']);
    a.set({});
    await weir.call('notifications/tools/list_changed');
    expect(await weir.tools()).toEqual(['a:one', 'b:two']);
  });

  verifies(
    'AGG-REG-3',
    '--fresh and fail fast wait for the servers instead of stored catalogues',
    async () => {
      for (const more of [{ fresh: true }, { keepGoing: false }]) {
        const a = changeable('one');
        const options = { ...remembering(), ...more };
        await learn({ a: a.entry }, options);
        a.set({ tools: ['other'], delay: 300 });
        await using weir = serveInProcess({ a: a.entry }, options);
        expect(instructionsOf(await weir.initialize())).toBeUndefined();
        expect(await weir.tools()).toEqual(['a:other']);
      }
    },
  );

  verifies('AGG-REG-3', 'the first list waits only for servers without a stored catalogue', async () => {
    const [a, b] = [changeable('one'), changeable('two')];
    const options = remembering();
    await learn({ a: a.entry }, options);
    a.set({ delay: SLOW_MS });
    b.set({ delay: 300 });
    await using weir = serveInProcess({ a: a.entry, b: b.entry }, options);
    expect(String(instructionsOf(await weir.initialize()))).toContain('Use one.');
    const { result, ms } = await elapsed(weir.tools());
    expect(result).toEqual(['a:one', 'b:two']);
    expect(ms).toBeLessThan(SLOW_MS - 500);
  });

  verifies('AGG-REG-3', 'the gateway ignores a catalogue that was stored for another entry', async () => {
    const a = changeable('one');
    const options = remembering();
    await learn({ a: a.entry }, options);
    a.set({ tools: ['other'], delay: 300 });
    await using weir = serveInProcess({ a: { ...a.entry, env: { X: '1' } } }, options);
    expect(await weir.tools()).toEqual(['a:other']);
  });

  verifies(
    ['AGG-REG-3', 'AGG-CHILD-6'],
    'the first list uses a catalogue stored for another client until the server answers',
    async () => {
      const a = changeable('one');
      const options = remembering();
      await learn({ a: a.entry }, options);
      a.set({ tools: ['one', 'sampled'], delay: 300 });
      await using weir = serveInProcess({ a: a.entry }, options);
      await weir.initialize({ sampling: {} });
      expect(await weir.tools()).toEqual(['a:one']);
      await weir.call('notifications/tools/list_changed');
      expect(await weir.tools()).toEqual(['a:one', 'a:sampled']);
    },
  );

  verifies(
    ['AGG-REG-3', 'HEALTH-3'],
    'a disabled server is not listed from its stored catalogue',
    async () => {
      const [a, b] = [changeable('one'), changeable('two')];
      const servers = { a: a.entry, b: b.entry };
      const options = remembering();
      await learn(servers, options);
      await (async () => {
        await using weir = serveInProcess(servers, options);
        await weir.tools();
        await weir.gateway.disable('a');
      })();
      b.set({ delay: SLOW_MS });
      await using weir = serveInProcess(servers, options);
      expect(instructionsOf(await weir.initialize())).not.toContain('Use one.');
      expect(await weir.tools()).toEqual(['b:two']);
    },
  );

  verifies(
    ['AGG-REG-3', 'HEALTH-3'],
    'a server that is disabled while it starts leaves the list',
    async () => {
      const [a, b] = [changeable('one'), changeable('two')];
      const servers = { a: a.entry, b: b.entry };
      const options = remembering();
      await learn(servers, options);
      a.set({ delay: 20_000 });
      await using weir = serveInProcess(servers, options);
      expect(await weir.tools()).toEqual(['a:one', 'b:two']);
      await weir.gateway.disable('a');
      expect(await weir.tools()).toEqual(['b:two']);
    },
  );

  verifies(
    ['AGG-REG-3', 'HEALTH-3'],
    'a server that a reload removes while it starts leaves the list',
    async () => {
      const [a, b] = [changeable('one'), changeable('two')];
      const options = remembering();
      await learn({ a: a.entry, b: b.entry }, options);
      a.set({ delay: 20_000 });
      await using weir = serveInProcess({ a: a.entry, b: b.entry }, options);
      expect(await weir.tools()).toEqual(['a:one', 'b:two']);
      await weir.gateway.reload({ mcpServers: { b: b.entry } });
      expect(await weir.tools()).toEqual(['b:two']);
      await weir.call('notifications/tools/list_changed');
    },
  );

  verifies('AGG-REG-3', 'the gateway ignores a damaged catalogue file', async () => {
    const a = changeable('one');
    const options = remembering();
    await learn({ a: a.entry }, options);
    const folder = join(options.state, 'catalogues');
    for (const name of readdirSync(folder)) writeFileSync(join(folder, name), '{"version":2,"servers":{"a":');
    a.set({ tools: ['other'], delay: 300 });
    await using weir = serveInProcess({ a: a.entry }, options);
    expect(await weir.tools()).toEqual(['a:other']);
  });

  verifies('AGG-REG-3', "gateways that share a config keep each other's stored catalogues", async () => {
    const [a, b] = [changeable('one'), changeable('two')];
    const servers = { a: a.entry, b: b.entry };
    const options = remembering();
    a.set({ fails: true });
    await (async () => {
      await using one = serveInProcess(servers, options);
      await one.gateway.start();
      await one.gateway.allAttempted;
      a.set({});
      b.set({ fails: true });
      await learn(servers, options);
      b.set({});
    })();
    [a, b].forEach((server) => server.set({ delay: SLOW_MS }));
    await using weir = serveInProcess(servers, options);
    const { result, ms } = await elapsed(weir.tools());
    expect(result).toEqual(['a:one', 'b:two']);
    expect(ms).toBeLessThan(AT_ONCE_MS);
  });

  verifies('AGG-REG-3', 'the gateway stores no catalogues without a config path', async () => {
    const a = changeable('one');
    const { state } = remembering();
    mkdirSync(state, { recursive: true });
    await learn({ a: a.entry }, { keepGoing: true, state });
    expect(readdirSync(state)).not.toContain('catalogues');
  });

  verifies.slow(
    ['AGG-REG-3', 'ERA-1'],
    'HTTP clients get stored instructions and lists at once',
    async () => {
      const a = changeable('one');
      const options = remembering();
      await (async () => {
        await using test = await serveTest({ a: a.entry }, options);
        await test.gateway.allAttempted;
      })();
      a.set({ delay: SLOW_MS });
      const began = performance.now();
      await using test = await serveTest({ a: a.entry }, options);
      await using connection = await connectHttp(test.url, 'legacy');
      expect(connection.client.getInstructions()).toBe('Use one.');
      expect((await connection.client.listTools()).tools.map(({ name }) => name)).toEqual(['a:one']);
      expect(performance.now() - began).toBeLessThan(SLOW_MS);
      const result = await connection.client.callTool({ name: 'a:one', arguments: {} });
      expect(result.content).toEqual([{ type: 'text', text: 'called one' }]);
      expect(a.starts()).toBe(2);
    },
  );
});

describe.concurrent('processes of servers with stored catalogues', () => {
  verifies(
    ['AGG-REG-3', 'SCALE-2'],
    'servers with stored catalogues start although the client lists nothing',
    async () => {
      const a = changeable('one');
      const options = remembering();
      await learn({ a: a.entry }, options);
      await using weir = serveInProcess({ a: a.entry }, options);
      await weir.initialize();
      expect(weir.gateway.children.get('a')?.isConnected).toBe(false);
      await until(() => a.starts() === 2);
    },
  );
});
