// The command from outside: what it prints where, what it tells clients, how it ends.
import { chmodSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import {
  bin,
  commandFor,
  fixture,
  modernMeta,
  runOver,
  runWeir,
  serverWith,
  startWeir,
  temporaryFolder,
  textOf,
  VERSION,
  Weir,
  type Received,
} from '../../support/harness.ts';
import { commandLinesWith } from '../../support/processes.ts';
import { verifies } from '../../verifies.ts';

/** A client that asks for the tools at once. */
const LIST = [
  { id: 1, method: 'initialize', params: { protocolVersion: '2025-11-25', capabilities: {} } },
  { id: 2, method: 'tools/list' },
]
  .map((request) => `${JSON.stringify({ jsonrpc: '2.0', ...request })}\n`)
  .join('');

const linux = process.platform === 'linux' ? undefined : 'finds processes through /proc';

describe.concurrent('the command without a config', () => {
  verifies('AGG-CLI-1', '--help prints the help to stdout', async () => {
    for (const option of ['--help', '-h']) {
      const { code, stdout, stderr } = await runWeir([option]);
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
      expect(stdout).toMatch(
        /^Weir: one MCP server made of many\.\n\nUsage: weir --config FILE \[options\]\n/u,
      );
    }
  });

  verifies('AGG-CLI-1', 'a reader that stops early, as head does, causes no error', async () => {
    await using run = new Weir({ ...commandFor({}), args: [bin('weir'), '--help'] });
    run.stdout.destroy();
    expect(await run.ended).toMatchObject({ code: 0, stderr: '' });
  });

  verifies(
    'AGG-CLI-1',
    'completion prints a script for the shell, and names the shells otherwise',
    async () => {
      const { code, stdout, stderr } = await runWeir(['completion', 'bash']);
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
      expect(stdout).toMatch(/\ncomplete -F _weir weir\n$/u);
      const unknown = await runWeir(['completion', 'tcsh']);
      expect(unknown).toMatchObject({ code: 2, stdout: '' });
      expect(unknown.stderr).toMatch(/^weir completion takes bash, zsh or fish, not 'tcsh'\n\nUsage: /u);
    },
  );

  verifies('AGG-CLI-1', 'a bare --version prints the version of the product', async () => {
    for (const argv of [['--version'], ['--config', 'none.json', '--version'], ['--version', '--debug']]) {
      expect(await runWeir(argv)).toMatchObject({ code: 0, stdout: `${VERSION}\n`, stderr: '' });
    }
  });
});

describe.concurrent('clients', () => {
  const told = async (...args: string[]): Promise<unknown> => {
    await using weir = startWeir({}, { args });
    const { result: modern } = await weir.request('server/discover', modernMeta());
    const { result: legacy } = await weir.initialize();
    expect(modern?.['_meta']).toEqual({ 'io.modelcontextprotocol/serverInfo': legacy?.['serverInfo'] });
    return legacy?.['serverInfo'];
  };

  verifies('AGG-CLI-1', 'clients get --name and --version', async () => {
    expect(await told('--name', 'My "tools" ✓', '--version', '7.1.0')).toEqual({
      name: 'My "tools" ✓',
      version: '7.1.0',
    });
  });
});

describe.concurrent('stdout', () => {
  verifies('AGG-CLI-2', 'stdout has only protocol messages, whatever servers print', async () => {
    const config = {
      babble: fixture('noise-on-stdout'),
      windows: fixture('noise-on-stdout', '--crlf'),
      db: fixture('crash'),
    };
    await using weir = startWeir(config, { args: ['--debug'] });
    expect(await weir.tools()).toContain('babble:echo');
    expect(textOf(await weir.callTool('babble:echo', { text: 'hello' }))).toBe('hello');
    expect(textOf(await weir.callTool('windows:echo', { text: 'hello' }))).toBe('hello');
    expect((await weir.callTool('db:crash')).error?.message).toContain("'db'");
    await weir.call('notifications/tools/list_changed');
    await weir.close();
    for (const line of weir.lines) expect(JSON.parse(line)).toMatchObject({ jsonrpc: '2.0' });
  });

  verifies('AGG-CLI-2', 'a closed stdout ends the gateway', async () => {
    await using weir = startWeir({ echo: fixture('echo') });
    await weir.tools();
    weir.stdout.destroy();
    weir.notify('notifications/initialized');
    weir.send({ id: 'x', method: 'ping' });
    expect(await weir.ended).toMatchObject({ code: 0 });
  });
});

describe.concurrent('--max-message-size', () => {
  verifies('AGG-CLI-1', '--max-message-size limits messages in both directions', async () => {
    await using weir = startWeir({ big: fixture('big-results') }, { args: ['--max-message-size', '2K'] });
    await weir.tools();
    expect(textOf(await weir.callTool('big:big', { bytes: 1000 }))).toHaveLength(1000);
    const answer = await weir.callTool('big:big', { bytes: 5000 });
    expect(answer.error?.message).toMatch(
      /^Server 'big' sent a message of \d+ bytes, over the limit of 2048/u,
    );
    const asked = await weir.callTool('big:length', { text: 'x'.repeat(5000) });
    expect(asked.error?.message).toMatch(/over the limit of 2048; raise --max-message-size to allow it$/u);
  });
});

describe.concurrent('the log', () => {
  verifies('AGG-CLI-2', 'the log and the stderr of servers go to stderr', async () => {
    await using weir = startWeir({ 'my db': fixture('crash') });
    await weir.tools();
    await weir.callTool('my db:crash');
    await weir.says(/^\d{4}-\d\d-\d\dT\S+Z info \[my db\] crash: the tool crash was called$/mu);
    await weir.says(/^\S+Z error Server 'my db' crashed during operation: it exited with code 3$/mu);
    expect(weir.stderr).not.toContain(' debug ');
  });

  verifies('AGG-CLI-2', '--log-file writes the log to a file with mode 0600 instead of stderr', async () => {
    const folder = temporaryFolder();
    const file = join(folder, 'weir.log');
    await using weir = startWeir(
      { echo: fixture('echo') },
      { folder, args: ['--debug', '--log-file', file] },
    );
    await weir.tools();
    await weir.callTool('echo:echo');
    const { code, stderr } = await weir.close();
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(readFileSync(file, 'utf8')).toMatch(/^\S+Z debug \[echo\] ready after \d+ ms/mu);
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });

  verifies('AGG-CLI-2', '--debug logs the separator, start times and the duration of each call', async () => {
    await using weir = startWeir(
      { a: fixture('echo'), b: fixture('echo'), c: serverWith(['only']) },
      { args: ['--debug', '--separator', '→'] },
    );
    await weir.tools();
    await weir.callTool('a→echo', { text: 's3cr3t' });
    await weir.callTool('b→error');
    await weir.says('debug the separator is "→"');
    for (const key of ['a', 'b']) {
      await weir.says(new RegExp(`debug \\[${key}\\] started as process \\d+$`, 'mu'));
      await weir.says(
        new RegExp(`debug \\[${key}\\] ready after \\d+ ms: speaks 2025-11-25, lists 8 tools`, 'mu'),
      );
    }
    await weir.says(/debug \[c\] ready after \d+ ms: speaks 2025-11-25, lists 1 tool$/mu);
    await weir.says(/debug tools\/call "echo" on 'a': \w+ after \d+\.\d ms$/mu);
    await weir.says(/debug tools\/call "error" on 'b': \w+ after \d+\.\d ms$/mu);
    expect(weir.stderr).not.toContain('s3cr3t');
  });

  verifies('AGG-CLI-2', '--debug logs that names have no prefix', async () => {
    await using weir = startWeir({ a: fixture('echo') }, { args: ['--debug', '--no-prefix'] });
    await weir.tools();
    await weir.says('debug names have no prefix');
  });
});

describe.concurrent('the state of the command', () => {
  const eras = (state: string): string[] =>
    readdirSync(join(state, 'eras')).map((name) => join(state, 'eras', name));

  verifies('ERA-4', 'the state folder has mode 0700 and its files 0600', async () => {
    await using weir = startWeir({ echo: fixture('echo') });
    await weir.tools();
    await weir.close();
    const state = join(weir.folder, 'state');
    expect(statSync(state).mode & 0o777).toBe(0o700);
    expect(eras(state)).toHaveLength(1);
    for (const file of eras(state)) expect(statSync(file).mode & 0o777).toBe(0o600);
  });

  verifies('ERA-4', 'the state is in $WEIR_STATE or the state folder of the system', async () => {
    const folder = temporaryFolder();
    const config = join(folder, 'mcp.json');
    writeFileSync(config, JSON.stringify({ mcpServers: { echo: fixture('echo') } }));
    for (const [env, state] of [
      [{ WEIR_STATE: join(folder, 'mine') }, 'mine'],
      [{ XDG_STATE_HOME: join(folder, 'xdg') }, 'xdg/weir'],
      [{}, '.local/state/weir'],
    ] as const) {
      expect(await runWeir(['--config', config], { folder, env, input: LIST })).toMatchObject({ code: 0 });
      expect(eras(join(folder, state))).toHaveLength(1);
    }
  });

  verifies('ERA-4', 'the gateway runs without a state folder that it can write', async () => {
    const folder = temporaryFolder();
    const notAFolder = join(folder, 'file');
    writeFileSync(notAFolder, '');
    const locked = join(folder, 'locked');
    mkdirSync(locked);
    chmodSync(locked, 0o500);
    for (const state of [notAFolder, join(notAFolder, 'below'), locked, '/proc/weir']) {
      await using weir = startWeir({ echo: fixture('echo') }, { args: ['--state', state] });
      expect(await weir.tools()).toContain('echo:echo');
    }
  });
});

describe.concurrent('the end of the command', () => {
  verifies('AGG-CLI-1', 'the end of stdin exits with 0', async () => {
    expect(await runOver({})).toMatchObject({ code: 0, stdout: '' });
    expect(await runOver({ echo: fixture('echo') })).toMatchObject({ code: 0, stdout: '' });
  });

  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    verifies(
      ['AGG-CLI-1', 'AGG-CHILD-5'],
      `${signal} exits with 0 after an answer to calls in flight`,
      async () => {
        await using weir = startWeir({ stall: fixture('stall') });
        await weir.tools();
        const answer = weir.callTool('stall:stall');
        expect(textOf(await weir.callTool('stall:stalled'))).toBe('1');
        weir.kill(signal);
        expect((await answer).error).toEqual({ code: -32000, message: "Server 'stall' has been stopped" });
        expect(await weir.ended).toMatchObject({ code: 0, signal: null });
      },
    );
  }

  verifies(['AGG-CLI-1', 'AGG-CHILD-5'], 'SIGTERM during the start exits with 0', async () => {
    await using weir = startWeir({ mute: fixture('silent') }, { args: ['--debug'] });
    await weir.initialize();
    await weir.says('[mute] started as process');
    const answer: Promise<Received> = weir.request('tools/list');
    weir.kill('SIGTERM');
    expect((await answer).error?.code).toBe(-32000);
    const { code, stderr } = await weir.ended;
    expect(code).toBe(0);
    expect(stderr).not.toContain('failed');
  });

  verifies.skipIf(linux)('AGG-CHILD-5', 'an internal error leaves no server running', async () => {
    const token = `token-${process.pid}-${Date.now()}`;
    const planted =
      "data:text/javascript,process.on('SIGUSR2',()=>setTimeout(()=>{throw(new(Error)('planted'))}))";
    const config = { echo: fixture('echo', token), stubborn: fixture('ignores-sigterm', token) };
    await using weir = startWeir(config, { env: { NODE_OPTIONS: `--import=${planted}` } });
    await weir.tools();
    expect(commandLinesWith(token)).toHaveLength(2);
    weir.kill('SIGUSR2');
    const { code, stderr } = await weir.ended;
    expect(code).toBe(1);
    expect(stderr).toContain('Internal error. Please report it');
    expect(stderr).toContain('Error: planted');
    expect(commandLinesWith(token)).toEqual([]);
  });
});
