// Commands that stay: they print further lines of a server and changes of the list as they happen.
import { spawn, type ChildProcessByStdio } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { bin, fixture, runWeir, startWeir, temporaryFolder, type Weir } from '../../support/harness.ts';
import { until } from '../../support/processes.ts';

/** A command that stays; `await using` presses Ctrl-C. */
class Staying implements AsyncDisposable {
  output = '';
  readonly #child: ChildProcessByStdio<null, Readable, null>;
  readonly #ended: Promise<number | null>;

  constructor(folder: string, args: readonly string[]) {
    const env = { PATH: process.env['PATH'], XDG_RUNTIME_DIR: join(folder, 'run') };
    const all = [bin('weir'), ...args, '--state', join(folder, 'state')];
    this.#child = spawn(process.execPath, all, { env, stdio: ['ignore', 'pipe', 'ignore'] });
    this.#child.stdout.setEncoding('utf8').on('data', (text: string) => (this.output += text));
    this.#ended = new Promise((resolve) => this.#child.once('close', resolve));
  }

  get ended(): Promise<number | null> {
    return this.#ended;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#child.kill('SIGINT');
    expect(await this.#ended).toBe(0);
  }
}

async function gateway(servers: Parameters<typeof startWeir>[0]): Promise<{ folder: string; weir: Weir }> {
  const folder = temporaryFolder();
  mkdirSync(join(folder, 'run'));
  const weir = startWeir(servers, { folder, env: { XDG_RUNTIME_DIR: join(folder, 'run') } });
  await weir.tools();
  await until(() => existsSync(join(folder, 'run', 'weir', `${weir.pid}.sock`)), 10_000);
  return { folder, weir };
}

function run(folder: string, ...args: string[]): ReturnType<typeof runWeir> {
  const env = { XDG_RUNTIME_DIR: join(folder, 'run') };
  return runWeir([...args, '--state', join(folder, 'state')], { folder, env });
}

describe.concurrent('weir logs --follow', () => {
  test('weir logs --follow prints new lines of one server, and ends with the gateway', async () => {
    const { folder, weir } = await gateway({ c: fixture('crash'), e: fixture('echo') });
    await using _ = weir;
    const logs = new Staying(folder, ['logs', 'c', '--follow']);
    await using other = new Staying(folder, ['logs', 'e', '--follow', '--json']);
    await new Promise((resolve) => setTimeout(resolve, 1000));
    await weir.callTool('c:crash');
    await until(() => logs.output.includes('the tool crash was called'), 10_000);
    expect(other.output).toBe('');
    expect((await run(folder, 'stop')).code).toBe(0);
    expect(await logs.ended).toBe(0);
  });
});

describe.concurrent('weir ps --watch', () => {
  test('weir ps --watch prints the list again only when a server changes', async () => {
    const { folder, weir } = await gateway({ e: fixture('echo') });
    await using _ = weir;
    await using ps = new Staying(folder, ['ps', '--watch']);
    await until(() => ps.output.includes('Gateway '), 10_000);
    await new Promise((resolve) => setTimeout(resolve, 2500));
    expect(ps.output.split('Gateway ')).toHaveLength(2);
    expect((await run(folder, 'disable', 'e')).code).toBe(0);
    await until(() => ps.output.includes('disabled'), 10_000);
  });

  test('weir ps --watch --json prints a list a line, the last one empty when no gateway is left', async () => {
    const { folder, weir } = await gateway({ e: fixture('echo') });
    await using ps = new Staying(folder, ['ps', '--watch', '--json']);
    await until(() => ps.output.includes('\n'), 10_000);
    await weir[Symbol.asyncDispose]();
    await until(() => ps.output.endsWith('[]\n'), 10_000);
    for (const line of ps.output.trimEnd().split('\n')) expect(JSON.parse(line)).toBeInstanceOf(Array);
  });
});
