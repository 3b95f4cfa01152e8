// The names that the command is started under, and the defaults that each of them has.
import { symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import {
  bin,
  fixture,
  modernMeta,
  runWeir,
  serverWith,
  startWeir,
  temporaryFolder,
  VERSION,
  Weir,
  type Ended,
  type ProgramName,
} from '../../support/harness.ts';
import { connectHttp, startServe } from '../../support/http.ts';
import { verifies } from '../../verifies.ts';

const NAMES: readonly ProgramName[] = ['weir', 'mcp-weir', 'mcp-simple-aggregator'];
const FOR_HOSTS = ['weir', 'mcp-weir'] as const;
const gone = { command: 'no-such-command' };

describe('the names of the command', () => {
  verifies('AGG-CLI-1', 'the command has three names, each with an entry file of its own', async () => {
    const folder = temporaryFolder();
    for (const name of NAMES) {
      // A link of another name, as a shim is one, changes nothing.
      const command = join(folder, `shim-of-${name}`);
      symlinkSync(bin(name), command);
      await using run = new Weir({
        command,
        args: ['--help'],
        env: { PATH: process.env['PATH'] ?? '' },
        cwd: folder,
      });
      expect((await run.ended).stdout).toContain(`\nUsage: ${name} --config FILE [options]\n`);
    }
  });

  verifies('AGG-CLI-1', 'errors of the command use the name that it was started under', async () => {
    for (const as of NAMES) {
      const others = NAMES.filter((name) => name !== as && !as.includes(name));
      for (const args of [
        ['--bogus'],
        ['serve'],
        ['lock', '--port', '1'],
        ['docker'],
        ['enable'],
        ['ps', '--follow'],
        ['ps', '--state', 'none', '--pid', '1'],
      ]) {
        const { stderr } = await runWeir(args, { as });
        expect(stderr).toMatch(new RegExp(`(^|[ '])${as} `, 'mu'));
        for (const other of others) expect(stderr).not.toMatch(new RegExp(`(^|[ '])${other} `, 'mu'));
      }
    }
  });

  verifies('AGG-CLI-1', 'hints of the gateway use the name that the command was started under', async () => {
    const folder = temporaryFolder();
    for (const as of NAMES) {
      await using weir = startWeir({ echo: fixture('echo') }, { as, folder });
      await weir.tools();
      const state = ['--state', join(folder, 'state'), '--pid', String(weir.pid)];
      const disabled = await retried(() => runWeir(['disable', 'echo', ...state], { as, folder }));
      expect(disabled.stdout).toContain(`until ${as} enable echo `);
      const { error } = await weir.callTool('echo:echo');
      expect(error?.message).toContain(`enable it with "${as} enable echo"`);
      await runWeir(['enable', 'echo', ...state], { as, folder });
      await runWeir(['pause', ...state], { as, folder });
      expect((await weir.callTool('echo:echo')).error?.message).toContain(`"${as} resume" accepts them`);
    }
  });
});

/** A gateway can be spoken to a moment after its first answers. */
async function retried(run: () => Promise<Ended>): Promise<Ended> {
  for (let attempt = 0; ; attempt++) {
    const ended = await run();
    if (ended.code === 0 || attempt === 20) return ended;
  }
}

describe('the defaults of each name', () => {
  verifies(
    ['AGG-CLI-1', 'AGG-SEP-1', 'AGG-SEP-3'],
    'weir lists names that hosts accept by default',
    async () => {
      for (const as of FOR_HOSTS) {
        await using weir = startWeir({ files: serverWith(['read']) }, { as });
        expect(await weir.tools()).toEqual(['files__read']);
        await weir.close();
        expect(weir.stderr).not.toContain('--separator');
      }
      await using weir = await startServe({ files: serverWith(['read']) });
      await using sdk = await connectHttp(weir.url, 'modern', { token: weir.token });
      expect((await sdk.client.listTools()).tools.map(({ name }) => name)).toEqual(['files__read']);
    },
  );

  verifies(
    ['AGG-CLI-1', 'AGG-SEP-1'],
    'mcp-simple-aggregator lists names with a colon by default',
    async () => {
      await using weir = startWeir({ files: serverWith(['read']) }, { as: 'mcp-simple-aggregator' });
      expect(await weir.tools()).toEqual(['files:read']);
    },
  );

  verifies('AGG-CLI-1', 'clients get the name and version of the command', async () => {
    for (const [as, serverInfo] of [
      ['weir', { name: 'weir', version: VERSION }],
      ['mcp-weir', { name: 'weir', version: VERSION }],
      ['mcp-simple-aggregator', { name: 'mcp-simple-aggregator', version: '1.0.0' }],
    ] as const) {
      await using weir = startWeir({}, { as });
      const { result: modern } = await weir.request('server/discover', modernMeta());
      const { result: legacy } = await weir.initialize();
      expect(legacy?.['serverInfo']).toEqual(serverInfo);
      expect(modern?.['_meta']).toEqual({ 'io.modelcontextprotocol/serverInfo': serverInfo });
    }
  });

  verifies(['AGG-CHILD-3', 'AGG-CLI-1'], 'weir runs without a server that fails by default', async () => {
    for (const as of FOR_HOSTS) {
      await using weir = startWeir({ gone, echo: fixture('echo') }, { as });
      expect(await weir.tools()).toContain('echo__echo');
      expect(await weir.close()).toMatchObject({ code: 0 });
      expect(weir.stderr).toContain("'gone'");
    }
  });

  verifies(['AGG-CHILD-3', 'AGG-CLI-1'], 'mcp-simple-aggregator fails fast by default', async () => {
    await using weir = startWeir({ gone, echo: fixture('echo') }, { as: 'mcp-simple-aggregator' });
    const ended = await weir.ended;
    expect(ended).toMatchObject({ code: 1, stdout: '' });
    expect(ended.stderr).toContain("'gone'");
    await using served = await startServe({ gone, echo: fixture('echo') }, { as: 'mcp-simple-aggregator' });
    expect(await served.ended).toMatchObject({ code: 1 });
    expect(served.stderr).toContain("'gone'");
  });
});

describe('options of each name', () => {
  verifies('AGG-CHILD-3', 'weir and weir serve fail fast with --fail-fast', async () => {
    const failFast = { as: 'weir', args: ['--fail-fast'] } as const;
    await using weir = startWeir({ gone, echo: fixture('echo') }, failFast);
    const ended = await weir.ended;
    expect(ended).toMatchObject({ code: 1, stdout: '' });
    expect(ended.stderr).toContain("'gone'");
    expect(ended.stderr).toContain('--keep-going');
    await using served = await startServe({ gone, echo: fixture('echo') }, { args: ['--fail-fast'] });
    expect(await served.ended).toMatchObject({ code: 1 });
    expect(served.stderr).toContain("'gone'");
  });

  verifies(
    ['AGG-CHILD-3', 'AGG-SEP-3'],
    'options give mcp-simple-aggregator the defaults of weir',
    async () => {
      const config = { gone, files: serverWith(['read']) };
      const args = ['--keep-going', '--separator', '__', '--name', 'weir', '--version', VERSION];
      await using weir = startWeir(config, { as: 'mcp-simple-aggregator', args });
      expect(await weir.tools()).toEqual(['files__read']);
      expect((await weir.initialize()).result?.['serverInfo']).toEqual({ name: 'weir', version: VERSION });
    },
  );

  verifies(['AGG-CLI-1', 'AGG-CHILD-3'], '--fail-fast and --keep-going together exit with 2', async () => {
    for (const as of NAMES) {
      const args = ['--config', 'mcp.json', '--keep-going', '--fail-fast'];
      const { code, stderr } = await runWeir(args, { as });
      expect(code).toBe(2);
      expect(stderr).toMatch(/^--fail-fast and --keep-going exclude each other: choose one\n\nUsage: /u);
    }
  });
});

verifies('AGG-CHILD-3', 'weir lock fails fast under every name', async () => {
  const folder = temporaryFolder();
  writeFileSync(join(folder, 'mcp.json'), JSON.stringify({ mcpServers: { gone, echo: fixture('echo') } }));
  for (const as of NAMES) {
    const ended = await runWeir(['lock', '--config', 'mcp.json'], { as, folder });
    expect(ended).toMatchObject({ code: 1, stdout: '' });
    expect(ended.stderr).toContain('Nothing was written');
  }
});
