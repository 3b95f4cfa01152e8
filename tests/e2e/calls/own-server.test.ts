// The gateway's own server: the status tool while a server is away, and whole instructions as resources.
import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import {
  commandFor,
  connectSdk,
  fixture,
  scripted,
  serverWith,
  temporaryFolder,
  textOf,
  type Era,
  type ServerEntry,
} from '../../support/harness.ts';
import {
  open,
  serveInProcess,
  type Ask,
  type InProcess,
  type InProcessOptions,
} from '../../support/in-process.ts';
import { itemsOf } from '../../support/line-client.ts';
import { verifies } from '../../verifies.ts';

const ERAS: Era[] = ['legacy', 'modern'];
const MISSING: ServerEntry = { command: 'no-such-command-anywhere' };
const SLOWLY = { backOffMs: [60_000, 60_000, 60_000] };

function serve(servers: Record<string, ServerEntry>, options: InProcessOptions = {}): InProcess {
  return serveInProcess(servers, {
    statusTool: true,
    keepGoing: true,
    separator: '__',
    supervision: SLOWLY,
    ...options,
  });
}

async function names(ask: Ask, method: 'tools/list' | 'resources/list' = 'tools/list'): Promise<string[]> {
  const key = method === 'tools/list' ? 'name' : 'uri';
  const items = itemsOf<Record<string, string>>(await ask(method), method.split('/')[0] ?? '');
  return items.map((item) => item[key] ?? '');
}

async function instructionsOf(weir: InProcess, ask: Ask, era: Era): Promise<unknown> {
  const { result } = await (era === 'legacy' ? weir.initialize() : ask('server/discover'));
  return result?.['instructions'];
}

/** Starts only while a file is there; ends a moment after each start where that is asked for. */
function unsteady(file: string, livesMs?: number): ServerEntry {
  return scripted(`
    import { existsSync } from 'node:fs';
    import { serve, text, tool } from 'stdio';
    if (!existsSync(${JSON.stringify(file)})) { console.error('password=hunter2'); process.exit(3); }
    serve({ name: 'unsteady', tools: [tool('ok')], call: { ok: () => text('fine') } });
    ${livesMs === undefined ? '' : `setTimeout(() => process.exit(4), ${livesMs});`}`);
}

describe.each(ERAS)('the status tool, for a client of the %s era', (era) => {
  verifies(
    ['AGG-CHILD-3', 'AGG-CLI-1'],
    'the status tool is listed while a server is away, and says why',
    async () => {
      await using weir = serve({ a: serverWith(['x']), gone: MISSING });
      const ask = await open(weir, era);
      expect(await names(ask)).toEqual(['a__x', 'weir__status']);
      const text = textOf(await ask('tools/call', { name: 'weir__status' }));
      expect(text).toMatch(/^Server 'gone' has not been available since 20\S+Z \(\d+ s\)\.$/mu);
      expect(text).toMatch(/^Reason: Failed to spawn server 'gone': .*no-such-command-anywhere/mu);
      expect(text).toMatch(/^Next: it is tried again in \d+(\.\d)? s\.$/mu);
      expect(text).toMatch(/^What to do: .*"weir logs gone"/mu);
      expect(text).not.toContain("'a'");
      expect(await instructionsOf(weir, ask, era)).toBe(
        "Some servers of this gateway are not available: 'gone'. The tool weir__status says why and what to do.",
      );
      expect(weir.gateway.reports().map(({ serverKey }) => serverKey)).toEqual(['a', 'gone']);
    },
  );

  verifies(
    'AGG-CHILD-3',
    'the status tool is missing without its option, or while all servers run',
    async () => {
      await using without = serveInProcess({ a: serverWith(['x']), gone: MISSING }, { keepGoing: true });
      const ask = await open(without, era);
      expect(await names(ask)).toEqual(['a:x']);
      expect(await instructionsOf(without, ask, era)).toBeUndefined();
      await using whole = serve({ a: serverWith(['x']), b: { ...serverWith(['y']), disabled: true } });
      expect(await names(await open(whole, era))).toEqual(['a__x']);
    },
  );
});

describe('the status tool', () => {
  verifies('AGG-CHILD-3', 'the status tool disappears when the server is back, with one notice', async () => {
    const file = join(temporaryFolder(), 'here');
    await using weir = serve({ a: serverWith(['x']), b: unsteady(file) });
    const ask = await open(weir, 'legacy');
    expect(await names(ask)).toEqual(['a__x', 'weir__status']);
    const text = textOf(await ask('tools/call', { name: 'weir__status' }));
    expect(text).toContain("Reason: Server 'b' failed during initialization: it exited with code 3");
    expect(text).not.toContain('hunter2');
    writeFileSync(file, '');
    await weir.gateway.restart('b');
    await weir.call('notifications/tools/list_changed');
    expect(await names(ask)).toEqual(['a__x', 'b__ok']);
    expect(await instructionsOf(weir, ask, 'legacy')).toBeUndefined();
    const told = weir.messages.filter(({ method }) => method === 'notifications/tools/list_changed');
    expect(told).toHaveLength(1);
  });

  verifies(
    'AGG-CHILD-3',
    'the status tool is listed while a server still starts at the first list',
    async () => {
      await using weir = serve({ a: serverWith(['x']), slow: fixture('silent') }, { startupTimeout: 20_000 });
      const ask = await open(weir, 'legacy');
      expect(await names(ask)).toEqual(['a__x', 'weir__status']);
      expect(textOf(await ask('tools/call', { name: 'weir__status' }))).toMatch(
        /Next: it is starting\.\nWhat to do: wait until it has started/u,
      );
    },
  );

  verifies(
    'HEALTH-2',
    'the status tool is listed for an auto-disabled server, not for one that a user disabled',
    async () => {
      await using weir = serve(
        { a: serverWith(['x']), b: serverWith(['y']), gone: MISSING },
        {
          supervision: { backOffMs: [10] },
        },
      );
      const ask = await open(weir, 'legacy');
      await weir.tools();
      await weir.gateway.disable('b');
      let text = '';
      while (!text.includes('weir enable gone'))
        text = textOf(await ask('tools/call', { name: 'weir__status' }));
      expect(text).toContain(`Next: it is disabled; enable it with "weir enable gone".`);
      expect(text).not.toContain("'b'");
      await weir.gateway.disable('gone');
      await expect.poll(() => names(ask)).toEqual(['a__x']);
    },
  );

  verifies('AGG-CHILD-3', 'the status tool stays listed for a server that crashes repeatedly', async () => {
    const file = join(temporaryFolder(), 'here');
    writeFileSync(file, '');
    await using weir = serve(
      { a: serverWith(['x']), b: unsteady(file, 150) },
      { supervision: { backOffMs: [20, 20, 20, 20, 20, 20], settledAfterMs: 60_000 } },
    );
    const ask = await open(weir, 'legacy');
    const seen: boolean[] = [];
    let isDisabled = false;
    while (!isDisabled) {
      const has = (await names(ask)).includes('weir__status');
      if (seen.at(-1) !== has) seen.push(has);
      isDisabled = weir.gateway.reports().some(({ autoDisabled }) => autoDisabled);
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    expect(existsSync(file)).toBe(true);
    expect(seen).toEqual([false, true, false, true]);
  });

  verifies(
    ['AGG-CHILD-3', 'AGG-REG-3'],
    'the status tool is listed for a lazy server that fails, not for one that sleeps',
    async () => {
      const file = join(temporaryFolder(), 'here');
      writeFileSync(file, '');
      await using weir = serve(
        { a: serverWith(['x']), b: { ...unsteady(file), lazy: true } },
        { idleAfter: 50 },
      );
      const ask = await open(weir, 'legacy');
      expect(await names(ask)).toEqual(['a__x', 'b__ok']);
      await expect.poll(() => weir.gateway.reports()[1]?.health.connectionState).toBe('disconnected');
      expect(await names(ask)).toEqual(['a__x', 'b__ok']);
      rmSync(file);
      expect((await ask('tools/call', { name: 'b__ok' })).error).toBeDefined();
      expect(await names(ask)).toEqual(['a__x', 'b__ok', 'weir__status']);
    },
  );

  verifies('AGG-SEP-2', 'the status tool gets a suffix where its name is taken', async () => {
    await using keyed = serve({ weir: serverWith(['status', 'x'], 'mine'), gone: MISSING });
    const ask = await open(keyed, 'legacy');
    expect(await names(ask)).toEqual(['weir__status', 'weir__x', 'weir__status_2']);
    expect(textOf(await ask('tools/call', { name: 'weir__status' }))).toBe('mine: status');
    expect(textOf(await ask('tools/call', { name: 'weir__status_2' }))).toContain("Server 'gone'");
    await using bare = serve({ a: serverWith(['weir__status']), gone: MISSING }, { noPrefix: true });
    expect(await names(await open(bare, 'legacy'))).toEqual(['weir__status', 'weir__status_2']);
    await using colon = serve({ a: serverWith(['x']), gone: MISSING }, { separator: ':' });
    expect(await names(await open(colon, 'legacy'))).toEqual(['a:x', 'weir:status']);
  });

  verifies('AGG-CHILD-3', 'the status tool keeps the errors of a gateway of one server', async () => {
    await using weir = serve({ only: MISSING });
    const ask = await open(weir, 'legacy');
    expect(await names(ask)).toEqual(['weir__status']);
    expect((await ask('x/unknown')).error?.message).toBe('Method not found: x/unknown');
    expect((await ask('resources/read', { uri: 'x://y' })).error?.message).toMatch(/^Resource not found/u);
  });

  verifies('AGG-CHILD-3', 'a program can call the status tool', async () => {
    await using weir = serve({ a: serverWith(['x']), gone: MISSING });
    await weir.initialize();
    expect(await weir.gateway.callTool('weir__status')).toMatchObject({
      content: [{ type: 'text', text: expect.stringContaining("Server 'gone'") as string }],
    });
  });
});

describe('the status tool of the command', () => {
  const servers = { a: serverWith(['x']), gone: MISSING };

  verifies(['AGG-CHILD-3', 'ERA-1'], 'the SDK client gets the status tool of weir in both eras', async () => {
    for (const era of ERAS) {
      await using sdk = await connectSdk(commandFor(servers, { as: 'weir' }), era);
      const { tools } = await sdk.client.listTools();
      expect(tools.map(({ name }) => name)).toEqual(['a__x', 'weir__status']);
      const { content } = await sdk.client.callTool({ name: 'weir__status' });
      expect(content).toMatchObject([{ text: expect.stringContaining("Server 'gone'") as string }]);
      const session = era === 'modern' ? await sdk.client.discover() : undefined;
      if (session !== undefined) expect(session.instructions).toContain('weir__status');
    }
  });

  verifies(['AGG-CHILD-3', 'AGG-CLI-1'], 'mcp-simple-aggregator never lists the status tool', async () => {
    const command = commandFor(servers, { as: 'mcp-simple-aggregator', args: ['--keep-going'] });
    await using sdk = await connectSdk(command, 'legacy');
    expect((await sdk.client.listTools()).tools.map(({ name }) => name)).toEqual(['a:x']);
  });
});

const LONG = 'This is one of many sentences. '.repeat(200);

function instructed(instructions: string, more = ''): ServerEntry {
  return scripted(`
    import { serve } from 'stdio';
    serve({
      name: 'instructed',
      capabilities: { resources: {} },
      instructions: ${JSON.stringify(instructions)},
      on: {
        'resources/list': () => ({ resources: [${more}] }),
        'resources/read': ({ uri }) => ({ contents: [{ uri, text: 'of the server' }] }),
        'x/unknown': () => ({ known: true }),
      },
    });`);
}

describe.each(ERAS)('whole instructions, for a client of the %s era', (era) => {
  verifies('AGG-CALL-3', 'clients can read instructions that were cut as a resource', async () => {
    const forged = `{ uri: 'weir://instructions/a', name: 'forged' }`;
    await using weir = serveInProcess({
      a: instructed(LONG),
      b: instructed('Be kind.'),
      'c d': instructed(LONG, forged),
    });
    const ask = await open(weir, era);
    expect(await names(ask, 'resources/list')).toEqual([
      'weir://c%20d/weir%3A%2F%2Finstructions%2Fa',
      'weir://instructions/a',
      'weir://instructions/c%20d',
    ]);
    const read = await ask('resources/read', { uri: 'weir://instructions/c%20d' });
    expect(read.result?.['contents']).toEqual([
      { uri: 'weir://instructions/c%20d', mimeType: 'text/plain', text: LONG.trim() },
    ]);
    expect(Object.hasOwn(read.result ?? {}, 'resultType')).toBe(era === 'modern');
    const { result } = await ask('resources/read', { uri: 'weir://instructions/a' });
    expect(result?.['contents']).toMatchObject([{ text: LONG.trim() }]);
    const text = String(await instructionsOf(weir, ask, era));
    expect(text.length).toBeLessThanOrEqual(2000);
    expect(text).toContain('## b\n\nBe kind.');
    expect(text).toMatch(/weir:\/\/instructions\/<server>\]$/u);
  });

  verifies(
    'AGG-CALL-3',
    'an only server with cut instructions gets its other resources and methods',
    async () => {
      await using weir = serveInProcess({ a: instructed(LONG) }, { instructionsBudget: 200 });
      const ask = await open(weir, era);
      expect(await names(ask, 'resources/list')).toEqual(['weir://instructions/a']);
      const { result } = await ask('resources/read', { uri: 'any://other' });
      expect(result?.['contents']).toMatchObject([{ text: 'of the server' }]);
      expect((await ask('x/unknown')).result).toMatchObject({ known: true });
      expect(await instructionsOf(weir, ask, era)).toMatch(
        /^This is .* many sentences\. \[…\]\n\n\[Cut\. .* weir:\/\/instructions\/a\]$/u,
      );
    },
  );
});

verifies('AGG-CALL-3', 'the gateway refuses a budget for instructions that is not a whole number', () => {
  expect(() => serveInProcess({}, { instructionsBudget: -1 })).toThrow('instructionsBudget');
  expect(() => serveInProcess({}, { instructionsBudget: 1.5 })).toThrow('instructionsBudget');
});

verifies(['AGG-CALL-3', 'ERA-1'], "the SDK client reads the gateway's own resources", async () => {
  for (const era of ERAS) {
    await using sdk = await connectSdk(commandFor({ a: instructed(LONG), b: fixture('echo') }), era);
    const { contents } = await sdk.client.readResource({ uri: 'weir://instructions/a' });
    expect(contents).toMatchObject([{ text: LONG.trim() }]);
  }
});
