import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { loadConfig, validateConfig } from '@weir/gateway';
import { describe, expect, onTestFinished, test } from 'vitest';
import { connectSdk, temporaryFolder, type Era, type SdkConnection } from '../support/harness.ts';
import { connectHttp } from '../support/http.ts';
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

  for (const era of ['legacy', 'modern'] as const) {
    test(`the example server clock shows and converts times, and explains invalid input (${era})`, async () => {
      await using sdk = await connect('clock', era);
      const now = await itemOf(sdk, 'time-get', { zone: 'UTC' });
      expect(now).toMatchObject({ zone: 'UTC', offset: '+00:00' });
      expect(now['date']).toContain(String(new Date().getUTCFullYear()));
      const there = await itemOf(sdk, 'time-get', { time: '23:30', from: 'UTC', zone: 'Asia/Tokyo' });
      expect(there).toMatchObject({ time: '08:30', offset: '+09:00' });
      expect(await textOf(sdk, 'time-get', { time: '25:30', zone: 'UTC' })).toContain('time: Invalid');
      expect(await textOf(sdk, 'time-get', { zone: 'Mars' })).toContain('zone: not a time zone');
      expect(await structured(sdk, 'zone-search', { query: 'paris' })).toEqual({
        type: 'success',
        items: [{ zone: 'Europe/Paris' }],
      });
      await expect(sdk.client.callTool({ name: 'nothing' })).rejects.toThrow("Tool 'nothing' not found");
    });

    test(`the example server dice rolls dice, and offers a prompt (${era})`, async () => {
      await using sdk = await connect('dice', era);
      const roll = await itemOf(sdk, 'roll-get', { dice: '4d1000+5' });
      const { rolls, total } = roll as { rolls: number[]; total: number };
      expect(rolls).toHaveLength(4);
      expect(rolls.reduce((sum, one) => sum + one, 5)).toBe(total);
      expect(await textOf(sdk, 'roll-get', { dice: '2d6' })).toMatch(/^2d6: \d \+ \d = \d+$/u);
      expect(await textOf(sdk, 'roll-get', { dice: 'many' })).toContain('dice: not dice');
      const { messages } = await sdk.client.getPrompt({ name: 'decide', arguments: { options: 'tea' } });
      expect(messages).toHaveLength(1);
    });
  }

  test('the example server notes keeps notes, lists them as resources and announces new ones', async () => {
    await using sdk = await connect('notes', 'legacy');
    const changed = new Promise((resolve) =>
      sdk.client.setNotificationHandler('notifications/resources/list_changed', resolve),
    );
    const written = await itemOf(sdk, 'note-append', { title: 'to do', line: 'Oil the weir' });
    expect(written).toEqual({ title: 'to do', text: 'Oil the weir' });
    await changed;
    await itemOf(sdk, 'note-append', { title: 'to do', line: 'Close it' });
    const { resources } = await sdk.client.listResources();
    expect(resources.map(({ name }) => name)).toEqual(['welcome', 'to do']);
    const { contents } = await sdk.client.readResource({ uri: resources[1]!.uri });
    expect(contents[0]).toMatchObject({ text: 'Oil the weir\nClose it' });
    expect(await structured(sdk, 'note-search', { words: 'OIL' })).toMatchObject({
      items: [{ title: 'to do' }],
    });
    expect(await textOf(sdk, 'note-get', { title: 'gone' })).toContain('There is no note "gone"');
  });

  test('the example server notes tells all its clients over HTTP of a new note', async () => {
    await using notes = await startOnHttp('notes');
    await using hearer = await connectHttp(notes.url, 'legacy');
    const changed = new Promise((resolve) =>
      hearer.client.setNotificationHandler('notifications/resources/list_changed', resolve),
    );
    await using writer = await connectHttp(notes.url, 'modern');
    await itemOf(writer, 'note-append', { title: 'new', line: 'Hello' });
    await changed;
    const { contents } = await hearer.client.readResource({ uri: 'note:///new' });
    expect(contents[0]).toMatchObject({ text: 'Hello' });
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
    expect((await run('sh', ['-c', command], { timeout: 10_000 })).stdout).toContain('+09:00');
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

async function startOnHttp(server: string): Promise<{ url: string } & AsyncDisposable> {
  const args = [join(examples, 'servers', `${server}.mjs`), '--port', String(await freePort())];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = once(child, 'exit');
  for await (const line of createInterface({ input: child.stdout }))
    return {
      url: /http:\S+/u.exec(line)?.[0] ?? '',
      async [Symbol.asyncDispose]() {
        child.kill();
        await ended;
      },
    };
  throw new Error(`The example server ${server} ended before it listened`);
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  return port;
}

type Sdk = Pick<SdkConnection, 'client'>;
type Values = Record<string, unknown>;

async function structured({ client }: Sdk, name: string, args: Values): Promise<unknown> {
  const { structuredContent } = await client.callTool({ name, arguments: args });
  return structuredContent;
}

async function itemOf(sdk: Sdk, name: string, args: Values): Promise<Values> {
  return ((await structured(sdk, name, args)) as { item: Values }).item;
}

async function textOf({ client }: Sdk, name: string, args: Values): Promise<string> {
  const { content } = await client.callTool({ name, arguments: args });
  return (content as { text: string }[]).map(({ text }) => text).join('\n');
}
