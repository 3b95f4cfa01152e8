// Files that Weir is given or finds: a pipe or a device in their place, and folders that others have prepared.
import { spawn, spawnSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  lchownSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import {
  commandFor,
  fixture,
  runWeir,
  startWeir,
  temporaryFolder,
  textOf,
  Weir,
} from '../support/harness.ts';
import { startServe } from '../support/http.ts';
import { verifies } from '../verifies.ts';

const onUnix = verifies.skipIf(process.platform === 'win32' ? 'needs Unix' : undefined);
const asRoot = verifies.skipIf(process.getuid?.() === 0 ? undefined : 'needs root, to give files away');

const echo = fixture('echo');

describe('L7: a config', () => {
  const places: [what: string, path: string, says: string][] = [
    ['a device without an end', '/dev/zero', 'is a device, not a file; name a file'],
    ['a device without content', '/dev/null', 'is a device, not a file; name a file'],
    ['a directory', '/tmp', 'is a directory; name the file in it'],
  ];
  for (const [what, path, says] of places)
    onUnix(['SAFE-4', 'AGG-CFG-3'], `L7: a config that is ${what} is refused`, async () => {
      const { code, stderr } = await runWeir(['--config', path, '--state', temporaryFolder()]);
      expect(stderr).toContain(`${path} ${says}`);
      expect(code).toBe(1);
    });

  onUnix(['SAFE-4', 'AGG-CFG-3'], 'L7, 16: a config of more than 16 MiB is refused unread', async () => {
    const file = join(temporaryFolder(), 'mcp.json');
    writeFileSync(file, '');
    truncateSync(file, 17 * 1024 * 1024);
    const { code, stderr } = await runWeir(['--config', file, '--state', temporaryFolder()]);
    expect(stderr).toContain('is larger than 16 MiB');
    expect(code).toBe(1);
  });

  onUnix(['SAFE-4', 'AGG-CFG-3'], '16: a config of more than 1,000 servers is refused', async () => {
    const servers = Object.fromEntries(
      Array.from({ length: 10_000 }, (_, i) => [`s${i}`, { command: 'true' }]),
    );
    const file = join(temporaryFolder(), 'mcp.json');
    writeFileSync(file, JSON.stringify({ mcpServers: servers }));
    const { code, stderr } = await runWeir(['--config', file, '--state', temporaryFolder()]);
    expect(stderr).toContain('10000 servers are more than the 1000 that one gateway serves');
    expect(code).toBe(1);
  });

  onUnix(
    ['SAFE-4', 'AGG-CFG-3'],
    '16: the error of a config with thousands of mistakes names the first hundred',
    async () => {
      const servers = Object.fromEntries(
        Array.from({ length: 1000 }, (_, i) => [`s${i}`, { args: [1, 2, 3] }]),
      );
      const file = join(temporaryFolder(), 'mcp.json');
      writeFileSync(file, JSON.stringify({ mcpServers: servers }));
      const { stderr } = await runWeir(['--config', file, '--state', temporaryFolder()]);
      expect(stderr).toMatch(/and \d+ more/u);
      expect(stderr.split('\n').length).toBeLessThan(250);
    },
  );

  onUnix(['SAFE-4', 'AGG-CFG-3'], 'L7: a config that a shell writes into a pipe is read', async () => {
    const { command, args, env, cwd } = commandFor({ e: echo });
    const line = `exec "$0" "\${@:1:2}" <(sleep 0.3; cat mcp.json) "\${@:4}"`;
    await using weir = new Weir({ command: 'bash', args: ['-c', line, command, ...args], env, cwd });
    expect(await weir.tools()).toContain('e:echo');
  });

  onUnix(['SAFE-4', 'AGG-CFG-3'], 'L7: a config with an envFile that is a device is refused', async () => {
    const { command: _node, args, ...rest } = commandFor({ e: { ...echo, envFile: '/dev/zero' } });
    const { code, stderr } = await runWeir(args.slice(1), { folder: rest.cwd });
    expect(stderr).toContain('envFile cannot be read: /dev/zero is not a file');
    expect(code).toBe(1);
  });
});

describe('L7: a pipe without a writer or reader', () => {
  onUnix('SAFE-4', 'L7: a pipe without a reader as the log file leaves the log on stderr', async () => {
    const folder = temporaryFolder();
    const pipe = fifo(join(folder, 'log'));
    await using weir = startWeir({ e: echo }, { folder, args: ['--log-file', pipe] });
    expect(textOf(await weir.callTool('e:echo', { text: 'well' }))).toBe('well');
    expect(weir.stderr).toContain(`Cannot write to the log file ${pipe}, logging here instead`);
  });

  onUnix('SAFE-4', 'L7: a pipe with a reader as the log file gets the log', async () => {
    const folder = temporaryFolder();
    const pipe = fifo(join(folder, 'log'));
    const reader = spawn('cat', [pipe]);
    const closed = new Promise((resolve) => reader.once('close', resolve));
    let read = '';
    reader.stdout.setEncoding('utf8').on('data', (text: string) => (read += text));
    await new Promise((resolve) => setTimeout(resolve, 200));
    {
      await using weir = startWeir({ e: echo }, { folder, args: ['--debug', '--log-file', pipe] });
      await weir.tools();
    }
    await closed;
    expect(read).toContain('started as process');
  });

  onUnix('SAFE-4', 'L7: /dev/null is a log file', async () => {
    await using weir = startWeir({ e: echo }, { args: ['--debug', '--log-file', '/dev/null'] });
    await weir.tools();
    expect(weir.stderr).toBe('');
  });

  onUnix(['SAFE-4', 'SAFE-1'], 'L7: a pipe as the token file gives a token for this run only', async () => {
    const folder = temporaryFolder();
    await (await startServe({ e: echo }, { folder }))[Symbol.asyncDispose]();
    const secret = secretIn(join(folder, 'state'));
    rmSync(secret);
    fifo(secret);
    await using served = await startServe({ e: echo }, { folder });
    expect(served.token).toMatch(/^[\w-]{43}$/u);
    expect(served.stderr).toContain('The token is for this run only');
  });

  onUnix(
    'SAFE-4',
    'L7: pipes in place of the files of an earlier start do not block a later start',
    async () => {
      const folder = temporaryFolder();
      const servers = { e: echo };
      {
        await using weir = startWeir(servers, { folder });
        await weir.callTool('e:echo', { text: 'first' });
      }
      await runWeir(['lock', '--config', join(folder, 'mcp.json'), '--state', join(folder, 'state')]);
      const files = [join(folder, 'weir.lock.json'), ...filesIn(join(folder, 'state'))];
      expect(files.length).toBeGreaterThan(3);
      for (const file of files) {
        rmSync(file);
        fifo(file);
      }
      await using weir = startWeir(servers, { folder });
      expect(textOf(await weir.callTool('e:echo', { text: 'well' }))).toBe('well');
      const history = await runWeir(['history', '--state', join(folder, 'state')], { folder });
      expect(history.code).toBe(0);
    },
  );
});

describe('L8: a state folder', () => {
  /** Serves with this state folder, and returns what the command says of it and the token that holds. */
  async function serve(folder: string): Promise<{ token: string; stderr: string }> {
    await using served = await startServe({ e: echo }, { folder });
    return { token: served.token, stderr: served.stderr };
  }

  /** Makes a state folder with a token, and gives it this mode. */
  async function prepare(
    mode: number,
  ): Promise<{ folder: string; state: string; TOKEN: string; files: string[] }> {
    const folder = temporaryFolder();
    const state = join(folder, 'state');
    const { token: TOKEN } = await serve(folder);
    chmodSync(state, mode);
    return { folder, state, TOKEN, files: contentsOf(state) };
  }

  for (const mode of [0o777, 0o770, 0o1777])
    onUnix(['SAFE-4', 'SAFE-1'], `L8: a state folder of mode ${mode.toString(8)} is not used`, async () => {
      const { folder, state, TOKEN, files } = await prepare(mode);
      const { token, stderr } = await serve(folder);
      expect(token).not.toBe(TOKEN);
      expect(stderr).toContain(`The state folder ${state} is not used: other users can write to it.`);
      expect(stderr).toContain(`chmod 700 ${state}`);
      expect(contentsOf(state)).toEqual(files);
    });

  for (const mode of [0o700, 0o755])
    onUnix(['SAFE-4', 'SAFE-1'], `L8: a state folder of mode ${mode.toString(8)} is used`, async () => {
      const { folder, TOKEN } = await prepare(mode);
      const { token, stderr } = await serve(folder);
      expect(token).toBe(TOKEN);
      expect(stderr).not.toContain('is not used');
    });

  asRoot(
    ['SAFE-4', 'SAFE-1'],
    'L8: a state folder of another user is not used, and its owner is named',
    async () => {
      const { folder, state, TOKEN, files } = await prepare(0o700);
      chownSync(state, 1234, 1234);
      const { token, stderr } = await serve(folder);
      expect(token).not.toBe(TOKEN);
      expect(stderr).toContain(
        `The state folder ${state} is not used: it belongs to another user (uid 1234; this is 0).`,
      );
      expect(stderr).toContain(`--state ${state}/weir`);
      expect(contentsOf(state)).toEqual(files);
    },
  );

  asRoot(['SAFE-4', 'SAFE-1'], 'L8: a token file of another user is not used', async () => {
    const { folder, state, TOKEN } = await prepare(0o700);
    chownSync(secretIn(state), 1234, 1234);
    const { token, stderr } = await serve(folder);
    expect(token).not.toBe(TOKEN);
    expect(stderr).toContain('The token is for this run only: ');
    expect(stderr).toContain(`${secretIn(state)} belongs to another user`);
  });

  asRoot(['SAFE-4', 'SAFE-1'], 'L8: a state folder behind a link of another user is not used', async () => {
    const { folder, state, TOKEN } = await prepare(0o700);
    const real = join(folder, 'elsewhere');
    renameSync(state, real);
    symlinkSync(real, state);
    expect((await serve(folder)).token).toBe(TOKEN);
    lchownSync(state, 1234, 1234);
    const { token, stderr } = await serve(folder);
    expect(token).not.toBe(TOKEN);
    expect(stderr).toContain('it is a link of another user (uid 1234)');
  });

  onUnix(
    ['SAFE-4', 'HEALTH-3'],
    'L8: a state folder that is not used has no control socket, and "weir ps" says why',
    async () => {
      const { folder, state, files } = await prepare(0o777);
      await using weir = startWeir({ e: echo }, { folder });
      await weir.tools();
      await weir.says('"mcp-simple-aggregator ps" will not find this gateway');
      const { stderr } = await runWeir(['ps', '--state', state], { folder });
      expect(stderr).toContain(`The state folder ${state} is not used: other users can write to it.`);
      expect(contentsOf(state)).toEqual(files);
    },
  );
});

/** Returns the file of the only secret in a state folder. */
function secretIn(state: string): string {
  const [name = ''] = readdirSync(join(state, 'secrets'));
  return join(state, 'secrets', name);
}

/** Returns each file of a folder with its content. */
function contentsOf(folder: string): string[] {
  return filesIn(folder)
    .toSorted()
    .map((file) => `${file} ${readFileSync(file, 'base64')}`);
}

function fifo(path: string): string {
  spawnSync('mkfifo', ['-m', '600', path]);
  return path;
}

function filesIn(folder: string): string[] {
  const entries = readdirSync(folder, { withFileTypes: true, recursive: true });
  return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
}
