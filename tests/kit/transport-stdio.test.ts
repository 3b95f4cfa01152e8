// Serving MCP on stdio: real processes, and streams that a test holds.
import { spawn } from 'node:child_process';
import { PassThrough } from 'node:stream';
import { setupStdioServer, setupStdioTransport } from '@weir/server/transport';
import { describe, expect, test, vi } from 'vitest';
import { connectSdk, modernMeta, type Json } from '../support/harness.ts';
import { verifies } from '../verifies.ts';
import { legacyCall, testServer, waiting } from './transport-doors.ts';

const program = new URL('../fixtures/kit.mjs', import.meta.url).pathname;
const ERAS = ['legacy', 'modern'] as const;
const OPENING: Json = {
  jsonrpc: '2.0',
  id: 0,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'raw', version: '1' } },
};

/** The messages that open a connection in an era, and a call of the slow tool. */
function slowCall(era: (typeof ERAS)[number]): Json[] {
  const params = { name: 'slow', arguments: { ms: 150 } };
  if (era === 'legacy') return [OPENING, { jsonrpc: '2.0', id: 1, method: 'tools/call', params }];
  return [{ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { ...params, ...modernMeta() } }];
}

/** Takes the messages that have come. */
function linesOf(stdout: PassThrough): Json[] {
  return messagesOf(String(stdout.read() ?? ''));
}

function messagesOf(text: string): Json[] {
  const lines = text.split('\n').filter((line) => line !== '');
  return lines.map((line) => JSON.parse(line) as Json);
}

/** Runs the program over these messages and the end of its input. */
async function run(messages: readonly Json[], ...args: string[]): Promise<{ lines: Json[]; stderr: string }> {
  const child = spawn(process.execPath, [program, ...args], { env: {} });
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  child.stdin.end(messages.map((message) => `${JSON.stringify(message)}\n`).join(''));
  await new Promise((resolve) => child.on('close', resolve));
  return { lines: messagesOf(stdout), stderr };
}

describe.concurrent.each(ERAS)('a %s client on stdio', (era) => {
  verifies('KIT-TRANSPORT-1', `a ${era} client calls a tool of a child process`, async () => {
    await using connection = await connectSdk({ command: process.execPath, args: [program], env: {} }, era);
    const { content } = await connection.client.callTool({ name: 'slow', arguments: { ms: 1 } });
    expect(content).toEqual([{ type: 'text', text: 'done' }]);
  });

  verifies(
    'KIT-TRANSPORT-1',
    `the end of stdin lets a call of a ${era} client be answered, and then resolves`,
    async () => {
      for (const mode of [[], ['--instance']]) {
        const { lines, stderr } = await run(slowCall(era), ...mode);
        expect(lines.at(-1)).toMatchObject({ id: 1, result: { content: [{ type: 'text', text: 'done' }] } });
        expect(stderr).toBe('ended\n');
      }
    },
  );
});

verifies('KIT-TRANSPORT-1', 'a client that reads no answer keeps no process running', async () => {
  const child = spawn(process.execPath, [program, '--hasty'], { env: {}, stdio: ['pipe', 'pipe', 'pipe'] });
  let stderr = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  const exited = new Promise((resolve) => child.on('exit', resolve));
  child.stdin.write(
    [OPENING, legacyCall('long', { length: 300_000 })].map((one) => JSON.stringify(one)).join('\n'),
  );
  child.stdin.end('\n');
  await new Promise((resolve) => child.stdin.on('finish', resolve));
  const start = Date.now();
  expect(await exited).toBe(0);
  // The time that the process takes to start is in it.
  expect(Date.now() - start).toBeLessThan(300 + 2000);
  expect(stderr).toBe('ended\n');
});

describe('streams that are passed in', () => {
  const text = (messages: readonly Json[]): string =>
    messages.map((one) => `${JSON.stringify(one)}\n`).join('');

  test('an empty input resolves at once', async () => {
    const stdin = new PassThrough();
    stdin.end();
    await setupStdioServer({ serverFactory: testServer, stdin, stdout: new PassThrough() });
  });

  test('an input that has ended before resolves at once', async () => {
    const stdin = new PassThrough();
    stdin.end().resume();
    await new Promise((resolve) => stdin.on('end', resolve));
    await setupStdioServer({ serverFactory: testServer, stdin, stdout: new PassThrough() });
  });

  test('a call that never ends delays the end by the time limit', async () => {
    const stdin = new PassThrough();
    const served = setupStdioServer({
      serverFactory: testServer,
      stdin,
      stdout: new PassThrough(),
      closeTimeoutMs: 30,
    });
    stdin.end(text([OPENING, legacyCall('wait', { key: 'stdio' })]));
    await served;
  });

  test('a cancelled call delays nothing', async () => {
    const stdin = new PassThrough();
    const served = setupStdioServer({ serverFactory: testServer, stdin, stdout: new PassThrough() });
    const cancelled = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } };
    stdin.end(text([OPENING, legacyCall('wait', { key: 'cancelled' }), cancelled]));
    await served;
  });

  test('a line that is not JSON is skipped', async () => {
    const stdin = new PassThrough();
    const stdout = new PassThrough();
    const served = setupStdioServer({ serverFactory: testServer, stdin, stdout });
    stdin.end(`no json\n${text([OPENING])}`);
    await served;
    expect(String(stdout.read())).toContain('"id":0');
  });

  test('a last line without its end is answered', async () => {
    const [stdin, stdout] = [new PassThrough(), new PassThrough()];
    const served = setupStdioServer({ serverFactory: testServer, stdin, stdout });
    stdin.end(text([OPENING, legacyCall('echo', { text: 'last' })]).trimEnd());
    await served;
    expect(String(stdout.read())).toContain('"last"');
  });

  test('a second request with an id in flight is refused, and the first one is answered', async () => {
    const [stdin, stdout] = [new PassThrough(), new PassThrough()];
    const served = setupStdioServer({ serverFactory: testServer, stdin, stdout });
    stdin.write(text([OPENING, legacyCall('wait', { key: 'twice' }), legacyCall('echo', { text: 'x' })]));
    const { release } = await vi.waitUntil(() => waiting.get('twice'));
    const refused = linesOf(stdout).find(({ id }) => id === 1);
    expect(refused).toMatchObject({
      error: { code: -32_600, message: expect.stringContaining('still being answered') as string },
    });
    release();
    stdin.end();
    await served;
    expect(linesOf(stdout)).toMatchObject([{ id: 1, result: { content: [{ text: 'waited for twice' }] } }]);
  });

  test('a message above 10 MiB ends the connection, and the log names the limit', async () => {
    const [stdin, logged] = [new PassThrough(), [] as unknown[]];
    const log = (message: string): void => void logged.push(message);
    const logger = { debug: log, info: log, warn: log, error: log };
    const served = setupStdioServer({ serverFactory: testServer, logger, stdin, stdout: new PassThrough() });
    const most = 10 * 1024 * 1024;
    stdin.write('x'.repeat(most));
    await new Promise((resolve) => setImmediate(resolve));
    expect(logged).toEqual([]);
    stdin.write('x');
    await served;
    expect(logged).toEqual([
      `A message on stdin is longer than ${most} bytes (10 MiB): the connection is closed`,
    ]);
  });

  test('close is over in time although a client reads nothing', async () => {
    const stdout = new PassThrough();
    stdout.write('x'.repeat(100_000));
    const handle = setupStdioTransport(testServer(), {
      stdin: new PassThrough(),
      stdout,
      closeTimeoutMs: 30,
    });
    await handle.close();
    expect(stdout.destroyed).toBe(true);
  });

  test('a client that closes its end of stdout ends the connection', async () => {
    const stdin = new PassThrough();
    const stdout = new PassThrough();
    const served = setupStdioServer({ serverFactory: testServer, stdin, stdout });
    stdout.destroy(new Error('EPIPE'));
    await served;
  });

  test('a factory that fails answers an error without its reason, which is logged', async () => {
    const [stdin, stdout, logged] = [new PassThrough(), new PassThrough(), [] as unknown[]];
    const log = (...parts: unknown[]): void => void logged.push(parts.map(String).join(' '));
    const serverFactory = (): never => {
      throw new Error('no database');
    };
    const logger = { debug: log, info: log, warn: log, error: log };
    const served = setupStdioServer({ serverFactory, logger, stdin, stdout });
    stdin.end(text([OPENING]));
    await served;
    expect(String(stdout.read())).toContain('Internal server error');
    expect(logged).toEqual(['The server factory failed Error: no database']);
  });

  verifies(
    'KIT-TRANSPORT-1',
    'setupStdioTransport returns a function that closes the connection',
    async () => {
      const stdin = new PassThrough();
      const handle = setupStdioTransport(testServer(), { stdin, stdout: new PassThrough() });
      expect(Object.keys(handle)).toEqual(['close']);
      await handle.close();
      await handle.close();
      expect(stdin.listenerCount('data')).toBe(0);
    },
  );
});
