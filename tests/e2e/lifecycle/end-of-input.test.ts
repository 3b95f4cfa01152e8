// @module-tag slow
// The end of stdin in every state of the gateway: requests are answered or refused, and 5 s later no process is left.
import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect } from 'vitest';
import {
  fixture,
  modernMeta,
  scripted,
  startWeir,
  temporaryFolder,
  type Ended,
  type ServerEntry,
  type Weir,
} from '../../support/harness.ts';
import { commandLinesWith, guardOf, isAlive, markOf, marked, until } from '../../support/processes.ts';
import { verifies } from '../../verifies.ts';

const onLinux = verifies.skipIf(process.platform === 'linux' ? undefined : 'finds processes through /proc');

/** Ends neither at the end of its input nor on SIGTERM. */
const STUBBORN = "process.on('SIGTERM', () => {}); setInterval(() => {}, 60_000);";
/** The same, and it never answers: its start hangs for as long as the limit allows. */
const hangs: ServerEntry = { ...scripted(STUBBORN), startupTimeout: 60_000 };
/** The same, but it hangs only when it has run before. */
const hangsAgain = (file: string): ServerEntry => ({
  ...scripted(`
    import { existsSync, writeFileSync } from 'node:fs';
    import { serve, tool } from 'stdio';
    if (existsSync(${JSON.stringify(file)})) {
      ${STUBBORN}
    } else serve({ name: 'once', tools: [tool('die')], call: { die: () => process.exit(1) } });
    writeFileSync(${JSON.stringify(file)}, '');`),
  startupTimeout: 60_000,
});
/** Runs, but neither answers calls nor ends. */
const stalls = scripted(`
  import { serve, tool } from 'stdio';
  ${STUBBORN}
  serve({ name: 'stalls', tools: [tool('stall')], call: { stall: () => new Promise(() => {}) } });`);
/** Asks its client something and does not end. */
const asks = scripted(`
  import { ask, serve, tool } from 'stdio';
  ${STUBBORN}
  const form = { message: 'Sure?', requestedSchema: { type: 'object', properties: {} } };
  serve({ name: 'asks', tools: [tool('ask')], call: { ask: () => ask('elicitation/create', form) } });`);

interface Outcome extends Ended {
  /** Milliseconds from the end of the input until the command had ended. */
  readonly endedAfter: number;
  /** Milliseconds until no process of the gateway's was left. */
  readonly goneAfter: number;
}

/** Closes stdin and waits until nothing is left. */
async function leave(weir: Weir, input = ''): Promise<Outcome> {
  const mark = await markOf(weir.pid);
  const guard = guardOf(weir.pid) ?? 0;
  const began = performance.now();
  weir.end(input);
  const goneAfter = await until(
    () => marked(mark).length === 0 && !isAlive(weir.pid) && !isAlive(guard),
    30_000,
  );
  const ended = await weir.ended;
  return { ...ended, goneAfter, endedAfter: performance.now() - began };
}

const line = (id: number | string, method: string, params: object = {}): string =>
  `${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`;

/** Sends a call without waiting for its answer. */
function call(weir: Weir, name: string, meta: object = {}): void {
  weir.send(line('call', 'tools/call', { name, arguments: {}, ...meta }).trim());
}

/** The promised 5 s, and a little for a machine on which several of these tests run at once. */
const GONE_MS = 5700;

const separator = ['--separator', ':'];

// Each waits for seconds: together they take no longer than the slowest.
describe.concurrent('at the end of the input', () => {
  onLinux('AGG-CHILD-5', 'the end of the input closes a starting server at once', async () => {
    await using weir = startWeir({ hangs }, { args: ['--keep-going'] });
    await weir.initialize();
    const { code, goneAfter } = await leave(weir);
    expect(code).toBe(0);
    // The end of its input, SIGTERM after 1 s, SIGKILL after another.
    expect(goneAfter).toBeGreaterThan(1900);
    expect(goneAfter).toBeLessThan(3500);
  });

  onLinux(
    'AGG-CHILD-5',
    'the end of the input gives requests that wait for a start 2 s, then an error',
    async () => {
      await using weir = startWeir({ hangs });
      await weir.initialize();
      const { code, stdout, stderr, goneAfter } = await leave(weir, line('list', 'tools/list'));
      expect(code).toBe(0);
      expect(stdout).toMatch(/"id":"list","error":\{"code":-32000,"message":"The gateway is shutting down/u);
      expect(stderr).toContain('one request was not finished');
      expect(goneAfter).toBeGreaterThan(3900);
      expect(goneAfter).toBeLessThan(GONE_MS);
    },
  );

  onLinux('AGG-CHILD-5', 'the end of the input gives calls in flight 2 s, then an error', async () => {
    const slow = scripted(`
      import { serve, text, tool } from 'stdio';
      const later = (ms) => new Promise((resolve) => setTimeout(resolve, ms, text('after ' + ms)));
      serve({ name: 'slow', tools: [tool('wait')], call: { wait: ({ ms }) => later(ms) } });`);
    await using weir = startWeir({ slow, stalls }, { args: separator });
    await weir.tools();
    const wait = line('slow', 'tools/call', { name: 'slow:wait', arguments: { ms: 1500 } });
    const { code, stdout, goneAfter } = await leave(
      weir,
      wait + line('stalled', 'tools/call', { name: 'stalls:stall' }),
    );
    expect(code).toBe(0);
    expect(stdout).toContain('after 1500');
    expect(stdout).toMatch(
      /"id":"stalled","error":\{"code":-32000,"message":"Server 'stalls' has been stop/u,
    );
    expect(goneAfter).toBeLessThan(GONE_MS);
  });

  onLinux('AGG-CHILD-5', 'the end of the input closes a restarting server', async () => {
    await using weir = startWeir(
      { again: hangsAgain(join(temporaryFolder(), 'ran')) },
      { args: ['--keep-going', '--debug', ...separator] },
    );
    await weir.tools();
    call(weir, 'again:die');
    await weir.says(/started as process \d+[^]*started as process \d+/u);
    const { code, goneAfter } = await leave(weir);
    expect(code).toBe(0);
    expect(goneAfter).toBeLessThan(GONE_MS);
  });

  onLinux('AGG-CHILD-5', 'the end of the input closes a removed server that drains', async () => {
    await using weir = startWeir({ stalls, e: fixture('echo') }, { args: separator });
    await weir.tools();
    call(weir, 'stalls:stall');
    writeFileSync(join(weir.folder, 'mcp.json'), JSON.stringify({ mcpServers: { e: fixture('echo') } }));
    await weir.call('notifications/tools/list_changed');
    const { code, goneAfter } = await leave(weir);
    expect(code).toBe(0);
    expect(goneAfter).toBeLessThan(GONE_MS);
  });

  onLinux('AGG-CHILD-5', 'the end of the input ends a suspended call', async () => {
    await using weir = startWeir({ asks }, { args: separator });
    call(weir, 'asks:ask', modernMeta({ elicitation: { form: {} } }));
    expect((await weir.answer('call')).result).toMatchObject({ resultType: 'input_required' });
    const { code, goneAfter } = await leave(weir);
    expect(code).toBe(0);
    expect(goneAfter).toBeLessThan(GONE_MS);
  });

  onLinux('AGG-CHILD-5', 'the end of the input closes a lazy server that hangs in its start', async () => {
    const folder = temporaryFolder();
    const lazy = { ...hangsAgain(join(folder, 'ran')), lazy: true };
    const options = { folder, args: ['--debug', ...separator] };
    {
      await using first = startWeir({ lazy, e: fixture('echo') }, options);
      await first.tools();
    }
    await using weir = startWeir({ lazy, e: fixture('echo') }, options);
    await weir.tools();
    call(weir, 'lazy:die');
    await weir.says(/\[lazy\] started as process/u);
    const { code, goneAfter } = await leave(weir);
    expect(code).toBe(0);
    expect(goneAfter).toBeLessThan(GONE_MS);
  });

  onLinux(
    ['AGG-CHILD-5', 'MANAGED-3'],
    'the gateway ends without a container engine that hangs',
    async () => {
      const folder = temporaryFolder();
      const token = `engine-${process.pid}-${Date.now()}`;
      writeFileSync(
        join(folder, 'docker'),
        `#!/bin/sh\nexec "${process.execPath}" -e "${STUBBORN}" ${token}\n`,
      );
      chmodSync(join(folder, 'docker'), 0o755);
      const env = { PATH: `${folder}:${process.env['PATH'] ?? ''}` };
      await using weir = startWeir({ c: { image: 'mcp/time' }, e: fixture('echo') }, { env });
      await weir.initialize();
      await until(() => commandLinesWith(token).length > 0);
      const { code, goneAfter } = await leave(weir, line('list', 'tools/list'));
      expect(code).toBe(0);
      expect(goneAfter).toBeLessThan(GONE_MS);
      await until(() => commandLinesWith(token).length === 0, 500);
    },
  );

  onLinux('AGG-CHILD-3', 'a failed start exits with 1 and its reason, also when the input ends', async () => {
    await using weir = startWeir(
      { stubborn: fixture('ignores-sigterm'), db: fixture('exit-at-start') },
      { args: ['--log-file', join(temporaryFolder(), 'weir.log')] },
    );
    await weir.initialize();
    const list = await weir.request('tools/list');
    expect(list.error?.message).toContain("Server 'db' failed during initialization");
    // The other server is still being stopped.
    weir.end();
    const { code, stderr } = await weir.ended;
    expect(code).toBe(1);
    expect(stderr).toContain("Server 'db' failed during initialization: it exited with code 3");
  });

  onLinux('AGG-CHILD-3', 'a start that fails after the end of the input exits with 1', async () => {
    const late = scripted(`await new Promise((resolve) => setTimeout(resolve, 700)); process.exit(3);`);
    await using weir = startWeir({ late });
    await weir.initialize();
    const { code, stdout, stderr } = await leave(weir, line('list', 'tools/list'));
    expect(code).toBe(1);
    expect(stderr).toContain("Server 'late' failed during initialization: it exited with code 3");
    expect(stdout).toContain('"id":"list","error"');
  });

  verifies('AGG-CHILD-5', 'the gateway starts no server when its input ends without a message', async () => {
    const started = join(temporaryFolder(), 'started');
    const script = `import { writeFileSync } from 'node:fs'; writeFileSync(${JSON.stringify(started)}, '');`;
    await using weir = startWeir({ s: scripted(script) }, { args: ['--debug'] });
    const { code, stderr } = await weir.close();
    await delay(50);
    expect(code).toBe(0);
    expect(stderr).not.toContain('started as process');
  });
});
