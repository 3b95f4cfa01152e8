// Every call is recorded for the owner of the gateway, without secrets.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readHistory, type ToolInvocationRequest } from '@weir/gateway';
import { describe, expect } from 'vitest';
import {
  bin,
  commandFor,
  connectSdk,
  fixture,
  runWeir,
  startWeir,
  temporaryFolder,
  textOf,
  type Weir,
} from '../../support/harness.ts';
import { connectHttp, startServe } from '../../support/http.ts';
import { serveInProcess } from '../../support/in-process.ts';
import { until } from '../../support/processes.ts';
import { verifies } from '../../verifies.ts';

type Call = ToolInvocationRequest;

function historyIn(folder: string): Call[] {
  return readHistory(join(folder, 'state')) as Call[];
}

async function shown(folder: string, ...args: string[]): Promise<Call[]> {
  const { stdout, stderr } = await runWeir(['history', '--json', '--state', join(folder, 'state'), ...args], {
    folder,
  });
  expect(stderr).toBe('');
  return stdout
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Call);
}

/** A gateway whose server has been called in every way that ends. */
async function callInAllWays(weir: Weir): Promise<void> {
  await weir.tools();
  await weir.callTool('e:echo', { text: 'a private word' });
  await weir.callTool('e:fail', { message: 'a private failure' });
  await weir.callTool('e:error', { message: 'refused for hunter2secret' });
  await weir.callTool('nowhere:x');
  weir.send({ id: 'stalled', method: 'tools/call', params: { name: 's:stall', arguments: {} } });
  weir.notify('notifications/cancelled', { requestId: 'stalled' });
  await weir.callTool('s:echo', { text: 'after it' });
}

/** A call as the files have it. */
const KEPT = {
  id: 'x-0',
  serverId: 'e',
  toolName: 'echo',
  source: 'mcp-client',
  status: 'success',
  submittedAt: 0,
  completedAt: 0,
  retryAttempt: 0,
  maxRetries: 0,
};

/** Writes the history that an earlier gateway has left. */
function keep(folder: string, calls: readonly object[]): void {
  mkdirSync(join(folder, 'state', 'history'), { recursive: true });
  const lines = calls.map((call) => `${JSON.stringify(call)}\n`);
  writeFileSync(join(folder, 'state', 'history', '000000000-1.jsonl'), lines.join(''));
}

const SERVERS = { e: { ...fixture('echo'), env: { KEY: 'hunter2secret' } }, s: fixture('stall') };

describe('the history of a gateway', () => {
  verifies(['HEALTH-4', 'HEALTH-7'], 'the history has every call with its outcome', async () => {
    const folder = temporaryFolder();
    const weir = startWeir(SERVERS, { folder });
    await callInAllWays(weir);
    await weir.close();
    const calls = await shown(folder);
    const ends = calls.map(({ serverId, toolName, status, error }) => [
      serverId,
      toolName,
      status,
      error?.message,
    ]);
    expect(ends).toEqual([
      ['e', 'echo', 'success', undefined],
      ['e', 'fail', 'error', 'The tool reported an error'],
      ['e', 'error', 'error', 'refused for [hidden]'],
      ['', 'nowhere:x', 'error', expect.stringContaining('nowhere:x')],
      ['s', 'stall', 'cancelled', undefined],
      ['s', 'echo', 'success', undefined],
    ]);
    for (const { id, source, submittedAt, startedAt = submittedAt, completedAt = 0 } of calls) {
      expect(id).toMatch(/^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/u);
      expect(source).toBe('mcp-client');
      expect(startedAt).toBeGreaterThanOrEqual(submittedAt);
      expect(completedAt).toBeGreaterThanOrEqual(startedAt);
    }
    expect(new Set(calls.map(({ id }) => id)).size).toBe(calls.length);
  });

  verifies(
    ['HEALTH-4', 'HEALTH-7'],
    'the history names the server and the tool of a hidden name',
    async () => {
      const folder = temporaryFolder();
      const entry = { ...fixture('echo'), excludeTools: ['fail'], tools: { echo: { rename: 'say' } } };
      const weir = startWeir({ e: entry }, { folder });
      await weir.tools();
      for (const name of ['e:fail', 'e:echo', 'fail']) await weir.callTool(name);
      await weir.close();
      const bare = startWeir({ e: entry }, { folder, args: ['--no-prefix'] });
      await bare.tools();
      for (const name of ['fail', 'echo']) await bare.callTool(name);
      await bare.close();
      const calls = (await shown(folder)).map(({ serverId, toolName, status }) => [
        serverId,
        toolName,
        status,
      ]);
      const [hidden, renamed] = ['fail', 'echo'].map((name) => ['e', name, 'error']);
      expect(calls).toEqual([hidden, renamed, hidden, hidden, renamed]);
    },
  );

  verifies(
    'HEALTH-7',
    'the history holds no arguments, contents or secrets, in files with mode 0600',
    async () => {
      const folder = temporaryFolder();
      const weir = startWeir(SERVERS, { folder });
      await callInAllWays(weir);
      await weir.close();
      const files = readdirSync(join(folder, 'state', 'history')).map((name) =>
        join(folder, 'state', 'history', name),
      );
      const text = files.map((file) => readFileSync(file, 'utf8')).join('');
      expect(text).toContain('"toolName":"fail"');
      expect(text).not.toMatch(/private|hunter2|because/u);
      if (process.platform !== 'win32')
        for (const file of files) expect(statSync(file).mode & 0o777).toBe(0o600);
    },
  );

  for (const era of ['legacy', 'modern'] as const)
    verifies('HEALTH-7', `the history names the ${era} client of a call, on stdio and on HTTP`, async () => {
      const folder = temporaryFolder();
      const { client } = await connectSdk(commandFor({ e: fixture('echo') }, { folder }), era);
      const [listed] = (await client.listTools()).tools;
      await client.callTool({ name: listed?.name ?? '', arguments: { text: 'x' } });
      await client.close();
      await using serve = await startServe({ e: fixture('echo') }, { folder });
      const { client: overHttp } = await connectHttp(serve.url, era, { token: serve.token });
      const [served] = (await overHttp.listTools()).tools;
      await overHttp.callTool({ name: served?.name ?? '', arguments: { text: 'x' } });
      await overHttp.close();
      await until(() => historyIn(folder).length === 2, 10_000);
      const asked = { client: { name: 'test', version: '1.2.3' }, source: 'mcp-client' };
      expect(await shown(folder)).toMatchObject([asked, asked]);
      const { stdout } = await runWeir(['history', '--state', join(folder, 'state')], { folder });
      expect(stdout.match(/ test 1\.2\.3$/gmu)).toHaveLength(2);
    });

  verifies('HEALTH-7', 'the history names the server of a call, also when it does not run', async () => {
    const folder = temporaryFolder();
    const weir = startWeir({ c: fixture('crash'), e: fixture('echo') }, { folder });
    await weir.tools();
    await weir.callTool('c:crash');
    await weir.callTool('c:pid');
    await weir.close();
    expect(historyIn(folder)).toMatchObject([
      { serverId: 'c', toolName: 'crash', status: 'error' },
      {
        serverId: 'c',
        toolName: 'pid',
        status: 'error',
        error: { message: expect.stringContaining("its server 'c' is not running") as string },
      },
    ]);
  });

  verifies('HEALTH-7', 'the history holds arguments with --history-arguments, but no secrets', async () => {
    const folder = temporaryFolder();
    const weir = startWeir({ e: fixture('echo') }, { folder, args: ['--history-arguments'] });
    await weir.tools();
    await weir.callTool('e:add', { a: 1, b: 2, login: { password: 'p4ss' }, text: 'Bearer s3cr3t' });
    await weir.close();
    const parameters = { a: 1, b: 2, login: { password: '[hidden]' }, text: 'Bearer [hidden]' };
    expect(historyIn(folder)).toMatchObject([{ toolName: 'add', parameters }]);
  });

  verifies(
    'HEALTH-7',
    'weir history filters by server and failure, as a table or as JSON lines',
    async () => {
      const folder = temporaryFolder();
      await using weir = startWeir(SERVERS, { folder });
      await callInAllWays(weir);
      await until(() => readdirSync(join(folder, 'state')).includes('run'), 10_000);
      const names = async (...args: string[]): Promise<string[]> =>
        (await shown(folder, ...args)).map(({ toolName }) => toolName);
      expect(await names('--server', 's')).toEqual(['stall', 'echo']);
      expect(await names('--failed')).toEqual(['fail', 'error', 'nowhere:x']);
      expect(await names('--failed', '--server', 'e', '--limit', '1')).toEqual(['error']);
      const { stdout } = await runWeir(['history', '--state', join(folder, 'state')], { folder });
      const lines = stdout.trimEnd().split('\n');
      expect(lines[0]).toMatch(/^TIME {17}SERVER {2}TOOL {7}STATE {6}TOOK +CLIENT$/u);
      expect(lines).toHaveLength(7);
      expect(lines[2]).toMatch(
        /^[-\d]{10} [:\d]{8} {2}e {7}fail {7}error {6}\d+ ms +test 1\.2\.3 {2}The tool reported/u,
      );
    },
  );

  verifies(
    ['HEALTH-4', 'HEALTH-7'],
    'the history distinguishes pending, timed-out and cancelled calls',
    async () => {
      const folder = temporaryFolder();
      const servers = { s: fixture('stall'), t: { ...fixture('stall'), timeout: 100 } };
      const weir = startWeir(JSON.stringify({ mcpConcurrentLimit: 1, mcpServers: servers }), { folder });
      await weir.tools();
      await until(() => readdirSync(join(folder, 'state')).includes('run'), 10_000);
      await weir.callTool('t:stall');
      const stalled = [weir.callTool('s:stall'), weir.callTool('s:stall')];
      await weir.callTool('t:echo', { text: 'x' });
      const statuses = async (): Promise<string[]> => (await shown(folder)).map(({ status }) => status);
      expect(await statuses()).toEqual(['timeout', 'executing', 'pending', 'success']);
      expect((await shown(folder))[0]?.error?.message).toMatch(/^Execution exceeded 0\.1s/u);
      expect((await runWeir(['pause', '--state', join(folder, 'state')], { folder })).code).toBe(0);
      await Promise.all(stalled);
      await weir.close();
      expect(await statuses()).toEqual(['timeout', 'cancelled', 'error', 'success']);
    },
  );

  verifies('HEALTH-7', 'weir history shows a call in flight', async () => {
    const folder = temporaryFolder();
    await using weir = startWeir(SERVERS, { folder });
    await weir.tools();
    await until(() => readdirSync(join(folder, 'state')).includes('run'), 10_000);
    weir.send({ id: 'stalled', method: 'tools/call', params: { name: 's:stall', arguments: {} } });
    await weir.callTool('s:echo', { text: 'x' });
    expect(await shown(folder)).toMatchObject([
      { toolName: 'stall', status: 'executing' },
      { toolName: 'echo', status: 'success' },
    ]);
  });

  verifies('HEALTH-7', 'the history keeps the written calls of a gateway that was killed', async () => {
    const folder = temporaryFolder();
    const weir = startWeir({ e: fixture('echo') }, { folder });
    await weir.tools();
    for (let call = 0; call < 50; call++) await weir.callTool('e:echo', { text: 'x' });
    await until(() => historyIn(folder).length === 50, 10_000);
    weir.kill('SIGKILL');
    await weir.ended;
    expect(await shown(folder)).toHaveLength(50);
  });

  verifies('HEALTH-7', 'the history has the calls of two gateways that run at once', async () => {
    const folder = temporaryFolder();
    const both = ['one.json', 'two.json'].map((file) => startWeir({ e: fixture('echo') }, { folder, file }));
    await Promise.all(both.map((weir) => weir.tools()));
    await Promise.all(
      both.flatMap((weir) => Array.from({ length: 200 }, () => weir.callTool('e:echo', { text: 'x' }))),
    );
    await Promise.all(both.map((weir) => weir.close()));
    const calls = await shown(folder, '--limit', '1000');
    expect(new Set(calls.map(({ id }) => id)).size).toBe(400);
    expect(calls.every(({ status }) => status === 'success')).toBe(true);
  });

  verifies(
    'HEALTH-7',
    'weir history --follow shows new calls, also of gateways that start later',
    async () => {
      const folder = temporaryFolder();
      const env = { XDG_RUNTIME_DIR: join(folder, 'run') };
      mkdirSync(env.XDG_RUNTIME_DIR);
      const ready = (weir: Weir): Promise<number> =>
        until(() => existsSync(join(folder, 'run', 'weir', `${weir.pid}.sock`)), 10_000);
      await using one = startWeir({ e: fixture('echo') }, { folder, env });
      await one.tools();
      await one.callTool('e:echo', { text: 'x' });
      await ready(one);
      const args = [bin('weir'), 'history', '--follow', '--json', '--state', join(folder, 'state')];
      const follower = spawn(process.execPath, args, { env: { ...process.env, ...env } });
      let told = '';
      follower.stdout.setEncoding('utf8').on('data', (text: string) => (told += text));
      const names = (): string[] => [...told.matchAll(/"toolName":"(\w+)"/gu)].map(([, name = '']) => name);
      await until(() => names().length === 1, 10_000);
      await one.callTool('e:add', { a: 1, b: 2 });
      await until(() => names().length === 2, 10_000);
      await using two = startWeir({ s: fixture('stall') }, { folder, env, file: 'other.json' });
      await two.tools();
      await ready(two);
      await until(() => {
        two.send({ id: `e${Math.random()}`, method: 'tools/call', params: { name: 's:stalled' } });
        return names().includes('stalled');
      }, 20_000);
      expect(names().slice(0, 2)).toEqual(['echo', 'add']);
      follower.kill('SIGINT');
      expect(await once(follower, 'exit')).toEqual([0, null]);
    },
  );

  const onLinux = verifies.skipIf(process.platform === 'linux' ? undefined : 'needs a shell and /dev/full');

  onLinux(
    'HEALTH-7',
    'weir history writes everything to a slow reader, and fails on a full disk',
    async () => {
      const folder = temporaryFolder();
      const calls = Array.from({ length: 2000 }, (_, at) => ({ ...KEPT, id: `x-${at}` }));
      keep(folder, calls);
      const weir = `"${process.execPath}" "${bin('weir')}" history --json --limit 2000 --state "${folder}/state"`;
      const run = (script: string): string => spawnSync('sh', ['-c', script], { encoding: 'utf8' }).stdout;
      expect(run(`${weir} | (sleep 1.5; wc -l)`).trim()).toBe('2000');
      expect(run(`${weir} 2>&1 > /dev/full; echo $?`)).toMatch(/^Cannot write the output: ENOSPC.*\n1\n$/u);
    },
  );

  verifies('HEALTH-7', 'weir history skips damaged records', async () => {
    const folder = temporaryFolder();
    const damaged = [
      { submittedAt: 1e300 },
      { completedAt: 'x' },
      { error: null },
      { error: { message: 5 } },
      { client: null },
      { client: { name: 5, version: '' } },
      { retryAttempt: null },
    ];
    keep(folder, [...damaged.map((damage, at) => ({ ...KEPT, ...damage, id: `d-${at}` })), KEPT]);
    const { code, stdout } = await runWeir(['history', '--state', join(folder, 'state')], { folder });
    expect([code, stdout.trimEnd().split('\n').length]).toEqual([0, 2]);
  });

  verifies('HEALTH-7', 'weir history says that there is no history, with exit code 1', async () => {
    const folder = temporaryFolder();
    const { code, stderr } = await runWeir(['history', '--state', join(folder, 'state')], { folder });
    expect([code, stderr]).toEqual([1, expect.stringMatching(/^No history: no gateway is running/u)]);
  });
});

verifies(
  ['HEALTH-7', 'HEALTH-8'],
  'a program sees its own calls and those of its clients in the history',
  async () => {
    await using weir = serveInProcess({ e: fixture('echo') });
    await weir.tools();
    await weir.gateway.callTool('e:echo', { text: 'x' });
    await weir.gateway.callTool('e:fail', {}, 'console');
    await expect(weir.gateway.callTool('e:error')).rejects.toThrow('refused');
    expect(textOf(await weir.callTool('e:echo', { text: 'y' }))).toBe('y');
    const recent: readonly ToolInvocationRequest[] = weir.gateway.history.recent();
    expect(recent.map(({ result }) => result?.content)).toEqual(['x', undefined, undefined, 'y']);
    expect(recent.map(({ client }) => client?.name)).toEqual([undefined, undefined, undefined, 'test']);
    expect(recent.map(({ toolName, source, status }) => [toolName, source, status])).toEqual([
      ['echo', 'program', 'success'],
      ['fail', 'console', 'error'],
      ['error', 'program', 'error'],
      ['echo', 'mcp-client', 'success'],
    ]);
  },
);
