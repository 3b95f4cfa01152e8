// Both eras of the protocol, on both sides: how the gateway finds the era of a client and of a server.
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import {
  commandFor,
  connectSdk,
  fixture,
  modernMeta,
  scripted,
  temporaryFolder,
  textOf,
  type Era,
  type Json,
  type ServerEntry,
} from '../../support/harness.ts';
import { counted, delayed, open, serveInProcess } from '../../support/in-process.ts';
import { verifies } from '../../verifies.ts';

const ERAS: readonly Era[] = ['legacy', 'modern'];

describe.concurrent('the SDK as a judge', () => {
  const MODES = [
    { name: 'legacy', mode: 'legacy', era: 'legacy' },
    { name: 'auto', mode: 'auto', era: 'modern' },
    { name: 'pinned to 2026-07-28', mode: { pin: '2026-07-28' }, era: 'modern' },
  ] as const;
  const servers = {
    dual: fixture('dual-era-echo'),
    modern: fixture('modern'),
    old: fixture('revision-2024-11-05'),
    echo: fixture('echo'),
    notes: fixture('resources', 'note'),
  };

  for (const { name, mode, era } of MODES) {
    verifies(
      ['ERA-1', 'AGG-CALL-3'],
      `the SDK client in mode ${name} uses servers of every revision at once`,
      async () => {
        const command = commandFor(servers);
        await using sdk = await connectSdk(command, era, { versionNegotiation: { mode } });
        const { client } = sdk;
        expect(client.getProtocolEra()).toBe(era);
        expect(client.getServerVersion()).toMatchObject({ name: 'mcp-simple-aggregator', version: '1.0.0' });

        const { tools } = await client.listTools();
        const owners = new Set(tools.map(({ name }) => name.split(':')[0]));
        expect([...owners]).toEqual(['dual', 'modern', 'old', 'echo', 'notes']);
        for (const server of ['dual', 'modern', 'old', 'echo']) {
          const result = await client.callTool({
            name: `${server}:echo`,
            arguments: { text: `to ${server}` },
          });
          expect(result.content).toEqual([{ type: 'text', text: `to ${server}` }]);
        }

        const { resources } = await client.listResources();
        expect(resources.map(({ uri }) => uri)).toEqual([
          'dual://one',
          'modern://one',
          'note://one',
          'note://two',
        ]);
        for (const uri of ['dual://one', 'modern://one', 'note://two']) {
          const { contents } = await client.readResource({ uri });
          expect(contents).toMatchObject([{ uri, text: expect.any(String) as string }]);
        }
        const { resourceTemplates } = await client.listResourceTemplates();
        expect(resourceTemplates.map(({ uriTemplate }) => uriTemplate)).toEqual([
          'modern://item/{id}',
          'note://item/{id}',
        ]);

        const { prompts } = await client.listPrompts();
        expect(prompts.map(({ name }) => name)).toEqual(['dual:greet', 'modern:greet', 'notes:greet']);
        for (const name of ['modern:greet', 'notes:greet']) {
          const { messages } = await client.getPrompt({ name, arguments: { who: 'Ada' } });
          expect(messages[0]).toEqual({ role: 'user', content: { type: 'text', text: 'Hello Ada' } });
          const argument = { name: 'who', value: 'alp' };
          const { completion } = await client.complete({ ref: { type: 'ref/prompt', name }, argument });
          expect(completion.values).toContain('alpha');
        }
      },
    );
  }

  verifies(
    'ERA-4',
    'each server starts once for a client that probes and so starts the gateway twice',
    async () => {
      const { entry, starts } = counted(fixture('echo'));
      await using sdk = await connectSdk(commandFor({ e: entry }), 'modern', {
        versionNegotiation: { mode: 'auto' },
      });
      expect(sdk.client.getProtocolEra()).toBe('modern');
      await sdk.client.callTool({ name: 'e:echo', arguments: { text: 'x' } });
      expect(starts()).toBe(1);
    },
  );
});

describe.concurrent('answers of the gateway about its revisions', () => {
  const TASKS = { list: {}, cancel: {}, requests: { tools: { call: {} } } };

  verifies(
    'ERA-1',
    'initialize is answered in its own revision, an unknown one in the newest legacy one',
    async () => {
      for (const [asked, told] of [
        ['2024-11-05', '2024-11-05'],
        ['2025-03-26', '2025-03-26'],
        ['2025-06-18', '2025-06-18'],
        ['2025-11-25', '2025-11-25'],
        ['1999-01-01', '2025-11-25'],
        ['2026-07-28', '2025-11-25'],
      ] as const) {
        await using weir = serveInProcess({ e: fixture('echo') });
        const { result } = await weir.initialize({}, asked);
        expect(result).toEqual({
          protocolVersion: told,
          capabilities: {
            tools: { listChanged: true },
            resources: { subscribe: true, listChanged: true },
            prompts: { listChanged: true },
            completions: {},
            logging: {},
            ...(told === '2025-11-25' && { tasks: TASKS }),
          },
          serverInfo: { name: 'weir', version: '1.0.0' },
        });
      }
    },
  );

  verifies(['ERA-1', 'ERA-4'], 'the gateway answers the probe at once, whatever its servers do', async () => {
    await using weir = serveInProcess({ mute: fixture('silent') }, { keepGoing: true, startupTimeout: 1500 });
    const began = performance.now();
    const { result } = await weir.request('server/discover', modernMeta());
    expect(performance.now() - began).toBeLessThan(1000);
    expect(result).toMatchObject({
      resultType: 'complete',
      supportedVersions: ['2026-07-28'],
      ttlMs: 0,
      cacheScope: 'private',
      _meta: { 'io.modelcontextprotocol/serverInfo': { name: 'weir', version: '1.0.0' } },
    });
  });

  verifies(
    'ERA-1',
    'the gateway refuses modern requests without an envelope or of another revision',
    async () => {
      await using weir = serveInProcess({ e: fixture('echo'), m: fixture('modern') });
      const ask = await open(weir, 'modern');
      await ask('tools/list');
      const meta = modernMeta()._meta;
      const version = 'io.modelcontextprotocol/protocolVersion';
      const capabilities = 'io.modelcontextprotocol/clientCapabilities';
      expect((await weir.request('tools/list')).error).toMatchObject({
        code: -32602,
        message: expect.stringContaining(version) as string,
      });
      const bare = await weir.request('tools/list', { _meta: { [version]: '2026-07-28' } });
      expect(bare.error).toMatchObject({
        code: -32602,
        message: expect.stringContaining(capabilities) as string,
      });
      for (const method of ['tools/list', 'server/discover']) {
        const { error } = await weir.request(method, { _meta: { ...meta, [version]: '2027-01-01' } });
        expect(error).toMatchObject({
          code: -32022,
          data: { supported: ['2026-07-28'], requested: '2027-01-01' },
        });
      }
      expect((await weir.request('initialize', { protocolVersion: '2025-11-25' })).error).toMatchObject({
        code: -32022,
      });
      expect((await ask('ping')).error).toMatchObject({ code: -32601 });
    },
  );

  verifies('ERA-1', 'a client of 2025-03-26 may send batches', async () => {
    await using weir = serveInProcess({ e: fixture('echo') });
    await weir.initialize({}, '2025-03-26');
    const call = (id: string, text: string): Json => ({
      jsonrpc: '2.0',
      id,
      method: 'tools/call',
      params: { name: 'e:echo', arguments: { text } },
    });
    weir.send(
      JSON.stringify([call('a', 'one'), { jsonrpc: '2.0', method: 'notifications/x' }, 7, call('b', 'two')]),
    );
    expect(textOf(await weir.answer('a'))).toBe('one');
    expect(textOf(await weir.answer('b'))).toBe('two');
  });
});

describe.concurrent('the era of a server', () => {
  for (const era of ERAS)
    verifies(
      'ERA-4',
      `the gateway finds the era of a server with one start, for a ${era} client`,
      async () => {
        for (const [name, found] of [
          ['echo', 'legacy'],
          ['revision-2024-11-05', 'legacy'],
          ['modern', 'modern'],
          ['dual-era-echo', era],
        ] as const) {
          const { entry, starts } = counted(fixture(name));
          await using weir = serveInProcess({ s: entry });
          const ask = await open(weir, era);
          const { result } = await ask('tools/list');
          expect(result?.['tools']).toContainEqual(expect.objectContaining({ name: 's:echo' }));
          if (name === 'dual-era-echo') expect(textOf(await ask('tools/call', { name: 's:era' }))).toBe(era);
          expect([weir.gateway.children.get('s')?.era, starts()]).toEqual([found, 1]);
        }
      },
    );

  verifies(
    'ERA-4',
    'the gateway probes a server first, then does the handshake on the same pipe',
    async () => {
      await using weir = serveInProcess({ e: fixture('echo') });
      await weir.initialize();
      const seen = (JSON.parse(textOf(await weir.callTool('e:seen'))) as string[]).map(
        (line) => JSON.parse(line) as Json,
      );
      expect(seen.map(({ method }) => method)).toEqual([
        'server/discover',
        'initialize',
        'notifications/initialized',
        'tools/list',
        'tools/call',
      ]);
    },
  );

  verifies('ERA-4', 'the gateway remembers eras from start to start, in private files', async () => {
    const state = join(temporaryFolder(), 'state');
    const [echo, modern] = [fixture('echo'), fixture('modern')];
    for (const first of ['server/discover', 'initialize']) {
      await using weir = serveInProcess({ e: echo, m: modern }, { state });
      await weir.initialize();
      const seen = JSON.parse(textOf(await weir.callTool('e:seen'))) as string[];
      expect(JSON.parse(seen[0] ?? '')).toMatchObject({ method: first });
      expect(textOf(await weir.callTool('m:echo', { text: 'x' }))).toBe('x');
    }
    const files = readdirSync(join(state, 'eras'));
    const eras = files.map(
      (file) => (JSON.parse(readFileSync(join(state, 'eras', file), 'utf8')) as { era: Era }).era,
    );
    expect(eras.toSorted()).toEqual(['legacy', 'modern']);
    expect(modeOf(state)).toBe('700');
    expect(modeOf(join(state, 'eras'))).toBe('700');
    for (const file of files) expect(modeOf(join(state, 'eras', file))).toBe('600');
  });

  verifies('ERA-4', 'a server starts although the gateway remembers a wrong era', async () => {
    const state = join(temporaryFolder(), 'state');
    const script = join(temporaryFolder(), 'server.mjs');
    const entry = { command: process.execPath, args: [script] };
    for (const name of ['echo', 'modern', 'echo', 'modern', 'exits-at-probe']) {
      writeFileSync(
        script,
        `process.argv[1] = 'server'; await import(${JSON.stringify(new URL(`../../fixtures/${name}.mjs`, import.meta.url).href)});`,
      );
      await using weir = serveInProcess({ s: entry }, { state });
      expect(await weir.tools()).toContain('s:echo');
      expect(weir.gateway.children.get('s')?.era).toBe(name === 'modern' ? 'modern' : 'legacy');
    }
  });

  verifies('ERA-4', 'the gateway finds eras where its state folder cannot be written', async () => {
    const folder = temporaryFolder();
    writeFileSync(join(folder, 'a-file'), '');
    for (const state of [join(folder, 'a-file'), join(folder, 'a-file', 'below'), '/proc/nowhere']) {
      await using weir = serveInProcess({ e: fixture('echo') }, { state });
      expect(await weir.tools()).toContain('e:echo');
    }
  });

  verifies(
    'ERA-4',
    'a server that is silent to the probe is legacy after 2 s, and not remembered',
    async () => {
      const state = join(temporaryFolder(), 'state');
      const { entry, starts } = counted(fixture('silent-to-probe'));
      await using weir = serveInProcess({ s: entry }, { state });
      const began = performance.now();
      expect(await weir.tools()).toEqual(['s:echo']);
      expect(performance.now() - began).toBeGreaterThan(1900);
      expect(starts()).toBe(1);
      expect(existsSync(join(state, 'eras'))).toBe(false);
    },
  );

  verifies(
    'ERA-4',
    'a server that exits at the probe is legacy; it starts twice, which the log says, and next time once',
    async () => {
      const state = join(temporaryFolder(), 'state');
      const { entry, starts } = counted(fixture('exits-at-probe'));
      const again =
        'info [s] The server ended before it answered server/discover of the modern era; Weir starts it once more, in the legacy era';
      for (const [expected, logged] of [
        [2, [again]],
        [3, []],
      ] as const) {
        await using weir = serveInProcess({ s: entry }, { state });
        expect(await weir.tools()).toEqual(['s:echo', 's:pid']);
        expect(textOf(await weir.callTool('s:echo', { text: 'alive' }))).toBe('alive');
        expect(starts()).toBe(expected);
        expect(weir.logged.filter((line) => line.includes('once more'))).toEqual(logged);
      }
    },
  );

  describe.each(ERAS)('the era of a slow server, for a %s client', (era) => {
    verifies(
      'ERA-4',
      'the gateway finds the era of a server that boots slower than the probe timeout',
      async () => {
        const servers = {
          m: delayed(2500, fixture('modern')),
          e: delayed(2500, fixture('echo')),
          d: delayed(2500, fixture('dual-era-echo')),
        };
        await using weir = serveInProcess(servers, { startupTimeout: 15_000 });
        const ask = await open(weir, era);
        for (const key of Object.keys(servers)) {
          expect(textOf(await ask('tools/call', { name: `${key}:echo`, arguments: { text: key } }))).toBe(
            key,
          );
        }
      },
    );
  });

  verifies('ERA-4', 'a late answer to the probe does not break a server', async () => {
    const late = (answer: string): ServerEntry =>
      scripted(`
        import { serve, text, tool, write } from 'stdio';
        serve({
          name: 'late',
          tools: [tool('echo')],
          call: { echo: (args) => text(args.text) },
          on: { 'server/discover': (_params, { id }) => void setTimeout(() => write(${answer}), 2300) },
        });`);
    const error = '`{"jsonrpc":"2.0","id":${id},"error":{"code":-32601,"message":"late"}}`';
    const result =
      '`{"jsonrpc":"2.0","id":${id},"result":{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}}}}`';
    await using weir = serveInProcess({ e: late(error), r: late(result) });
    expect(await weir.tools()).toEqual(['e:echo', 'r:echo']);
    await new Promise((resolve) => setTimeout(resolve, 500));
    expect(textOf(await weir.callTool('e:echo', { text: 'e' }))).toBe('e');
    expect(textOf(await weir.callTool('r:echo', { text: 'r' }))).toBe('r');
  });
});

function modeOf(path: string): string {
  return (statSync(path).mode & 0o777).toString(8);
}
