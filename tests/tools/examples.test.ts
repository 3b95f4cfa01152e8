import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { loadConfig, validateConfig } from '@weir/gateway';
import { describe, expect, onTestFinished, test } from 'vitest';
import { connectSdk, temporaryFolder, type Era, type SdkConnection } from '../support/harness.ts';
import { commandLinesWith } from '../support/processes.ts';
import { root } from '../support/source-files.ts';
import { verifies } from '../verifies.ts';

const run = promisify(execFile);
const examples = join(root, 'examples');
const configs = readdirSync(join(examples, 'configs'));
const servers = readdirSync(join(examples, 'servers'));

/** The variables that the examples refer to. */
const env = { HOME: '/home/me', DATABASE_URL: 'postgres://localhost/test' };

describe('example configs', () => {
  test.each(configs)('the README has a line for the config %s', (file) => {
    expect(readFileSync(join(examples, 'README.md'), 'utf8')).toContain(`(configs/${file})`);
  });

  for (const file of configs) {
    verifies('AGG-CFG-1', `the example config ${file} loads without errors and warnings`, () => {
      const { config, warnings } = loadConfig(join(examples, 'configs', file), { env });
      expect(Object.keys(config.mcpServers)).not.toEqual([]);
      expect(warnings).toEqual([]);
      expect(validateConfig(config)).toEqual({ isValid: true, errors: [], warnings: [] });
    });
  }

  test('the example config for hosts names the built command', () => {
    const { bin } = JSON.parse(readFileSync(join(root, 'packages/cli/package.json'), 'utf8')) as {
      bin: { weir: string };
    };
    const { config } = loadConfig(join(examples, 'configs', 'host.json'), { env });
    expect(config.mcpServers['weir']?.args?.[0]).toBe(`/path/to/weir/packages/cli/${bin.weir}`);
  });
});

describe('example servers', () => {
  test.each(servers)('the example server %s has 80 lines at most', (file) => {
    expect(readFileSync(join(examples, 'servers', file), 'utf8').split('\n').length).toBeLessThanOrEqual(80);
  });

  test('the example server clock shows and converts times, and explains invalid input', async () => {
    await using sdk = await connect('clock', 'legacy');
    expect(await call(sdk, 'now', { zone: 'UTC' })).toContain(String(new Date().getUTCFullYear()));
    const converted = await call(sdk, 'convert', { time: '23:30', from: 'UTC', to: 'Asia/Tokyo' });
    expect(converted).toMatch(/^When it is 23:30 in UTC, it is \w+day 08:30 in Asia\/Tokyo\.$/u);
    expect(await call(sdk, 'convert', { time: '25:30', from: 'UTC', to: 'UTC' })).toContain('no time of day');
    expect(await call(sdk, 'now', { zone: 'Mars/Base' })).toContain('Mars/Base');
    await expect(sdk.client.callTool({ name: 'nothing' })).rejects.toThrow('Unknown tool: nothing');
  });

  test('the example server notes keeps notes, lists them as resources and announces changes', async () => {
    await using sdk = await connect('notes', 'legacy');
    const changed = new Promise((resolve) =>
      sdk.client.setNotificationHandler('notifications/resources/list_changed', resolve),
    );
    expect(await call(sdk, 'write', { title: 'to do', body: 'Oil the weir' })).toBe('Written: to do');
    await changed;
    const { resources } = await sdk.client.listResources();
    expect(resources.map(({ name }) => name)).toEqual(['welcome', 'to do']);
    const { contents } = await sdk.client.readResource({ uri: resources[1]!.uri });
    expect(contents[0]).toMatchObject({ text: 'Oil the weir' });
    expect(await call(sdk, 'find', { words: 'OIL' })).toBe('to do: Oil the weir');
    expect(await call(sdk, 'delete', { title: 'to do' })).toBe('Deleted: to do');
    expect(await call(sdk, 'delete', { title: 'to do' })).toContain('There is no "to do"');
  });

  test('the example server dice rolls, in the modern revision only', async () => {
    await using sdk = await connect('dice', 'modern');
    const { structuredContent } = await sdk.client.callTool({
      name: 'roll',
      arguments: { dice: '4d1000+5' },
    });
    const { rolls, total } = structuredContent as { rolls: number[]; total: number };
    expect(rolls).toHaveLength(4);
    expect(rolls.reduce((sum, one) => sum + one, 5)).toBe(total);
    expect(await call(sdk, 'roll', { dice: 'many' })).toContain('are no dice');
    await expect(connect('dice', 'legacy')).rejects.toThrow('Unsupported protocol version');
  });
});

verifies('AGG-API-1', 'twenty lines embed the gateway in another program', async () => {
  const script = join(examples, 'embed', 'embed.mjs');
  expect(readFileSync(script, 'utf8').trimEnd().split('\n').length).toBeLessThanOrEqual(20);
  const { stdout, stderr } = await run(process.execPath, [script], { timeout: 30_000 });
  expect(stdout).toMatch(/^3d6: \d \+ \d \+ \d = \d+\n$/u);
  expect(stderr).toBe('');
});

test('npm start serves servers, prints how to use them, and leaves no process', async () => {
  const folder = temporaryFolder();
  const args = [join(root, 'scripts', 'start.mjs'), '--port', '0', '--state', join(folder, 'state')];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  const ended = once(child, 'close');
  onTestFinished(() => void child.kill('SIGINT'));
  let stdout = '';
  for await (const text of child.stdout.setEncoding('utf8')) {
    stdout += String(text);
    if (stdout.includes('The same with your own servers')) break;
  }
  for (const [key, tools] of Object.entries({
    clock: '2 tools',
    dice: '1 tool',
    notes: '3 tools',
    everything: '\\d+ tools',
  }))
    expect(stdout).toMatch(new RegExp(`^ {2}${key} +${tools}$`, 'mu'));
  expect(stdout).toMatch(/^weir starts 4 servers, served at http:\S+ {2}token=\S+$/mu);
  expect(stdout).toMatch(
    /^ {2}claude mcp add --transport http weir 'http:\S+' --header 'Authorization: Bearer \S+'$/mu,
  );
  const command = /^ {2}(curl .*?\n) *\n/msu.exec(stdout)?.[1] ?? '';
  if (process.platform !== 'win32')
    expect((await run('sh', ['-c', command], { timeout: 10_000 })).stdout).toContain('GMT+9');
  child.kill('SIGINT');
  expect(await ended).toEqual([0, null]);
  // Its servers are named from the command's folder, those of other tests from their own.
  if (process.platform === 'linux')
    expect(commandLinesWith(join(root, 'packages', 'cli', 'dist', 'demo'))).toEqual([]);
});

async function connect(server: string, era: Era): Promise<SdkConnection> {
  const args = [join(examples, 'servers', `${server}.mjs`)];
  return await connectSdk({ command: process.execPath, args, env: {} }, era);
}

async function call({ client }: SdkConnection, name: string, args: Record<string, unknown>): Promise<string> {
  const { content } = await client.callTool({ name, arguments: args });
  return (content as { text: string }[]).map(({ text }) => text).join('\n');
}
