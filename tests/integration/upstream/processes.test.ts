// @module-tag slow
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { afterAll, afterEach, beforeAll, describe, expect } from 'vitest';
import {
  startGuard,
  type Guard,
  type GuardOptions,
} from '../../../packages/gateway/src/upstream/process/guard.ts';
import { posixGroup, hasLivingMember } from '../../../packages/gateway/src/upstream/process/process-group.ts';
import { spawnServer, type ServerProcess } from '../../../packages/gateway/src/upstream/process/spawn.ts';
import { stopServers } from '../../../packages/gateway/src/upstream/server-context.ts';
import {
  commandLinesWith,
  guardOf,
  guardsOf,
  isAlive,
  marked,
  proportionalKb,
  until,
} from '../../support/processes.ts';
import { verifies } from '../../verifies.ts';

const onLinux = verifies.skipIf(process.platform === 'linux' ? undefined : 'finds processes through /proc');
const node = process.execPath;
const folder = mkdtempSync(join(tmpdir(), 'weir-processes-'));
const gatewayFile = join(folder, 'gateway.mjs');
const quick = { eofMs: 1000, termMs: 300, killMs: 500 };

beforeAll(async () => {
  const entry = fixture('gateway.ts');
  await build({ entryPoints: [entry], bundle: true, platform: 'node', format: 'esm', outfile: gatewayFile });
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const guards: Guard[] = [];
afterEach(async () => {
  await Promise.all(guards.splice(0).map((guard) => guard.release(0)));
});

function fixture(name: string): string {
  return fileURLToPath(new URL(`../../fixtures/processes/${name}`, import.meta.url));
}

function guarded(options: GuardOptions = {}): Guard {
  const guard = startGuard({ path: process.env['PATH'], ...options });
  guards.push(guard);
  return guard;
}

interface Start {
  guard?: Guard;
  env?: Record<string, string>;
  cwd?: string;
  lines?: string[];
}

function start(
  command: string,
  args: string[],
  { guard = guarded(), env, cwd, lines = [] }: Start = {},
): Promise<ServerProcess> {
  const spec = { command, args, env: { ...process.env, ...env }, ...(cwd === undefined ? {} : { cwd }) };
  return spawnServer(spec, { guard, timing: quick, onStderrLine: (line) => lines.push(line) });
}

async function text(server: ServerProcess): Promise<string> {
  let all = '';
  for await (const chunk of server.stdout) all += String(chunk);
  return all;
}

verifies(
  'AGG-CHILD-1',
  'arguments, environment and folder reach a server unchanged, without a shell',
  async () => {
    const args = ['$(touch x)', '`id`', '; exit', '*', '"', "'", '', 'a b', '%PATH%', '\n'];
    const report =
      'process.stdout.write(JSON.stringify([process.argv.slice(1), process.env.A, process.cwd()]))';
    const server = await start(node, ['-e', report, '--', ...args], { env: { A: '$HOME' }, cwd: folder });
    expect(JSON.parse(await text(server))).toEqual([args, '$HOME', folder]);
    expect(await server.exited).toEqual({ code: 0, signal: null });
  },
);

onLinux(
  'AGG-CHILD-1',
  'a server leads its own process group, and only its processes carry the mark',
  async () => {
    const guard = guarded();
    const server = await start(node, [fixture('obedient.mjs')], { guard });
    await server.firstByte;
    expect(marked(guard.mark)).toEqual([server.pid]);
    expect(() => process.kill(-server.pid, 0)).not.toThrow();
    await server.stop();
  },
);

verifies('AGG-CHILD-2', 'the exit of a server comes after output that is read slowly', async () => {
  const size = 300_000;
  const server = await start(node, ['-e', `process.stdout.write('a'.repeat(${size}))`]);
  let read = 0;
  server.stdout.on('data', (chunk: Buffer) => {
    read += chunk.length;
    // The gateway works off a chunk in slices, which wait for their turn.
    server.stdout.pause();
    setTimeout(() => server.stdout.resume(), 300);
  });
  await server.exited;
  expect(read).toBe(size);
});

verifies(
  'AGG-CHILD-2',
  'the exit of a server comes after all of its output, with its stderr tail',
  async () => {
    const lines: string[] = [];
    const program =
      'process.stdout.write("x".repeat(150000)); console.error("one\\n\\u001b[31mtwo"); process.exitCode = 3';
    const server = await start(node, ['-e', program], { lines });
    let received = 0;
    server.stdout.on('data', (chunk: Buffer) => (received += chunk.length)).pause();
    expect(await server.exited).toEqual({ code: 3, signal: null });
    expect(received).toBe(150_000);
    expect(lines).toEqual(['one', '\\x1b[31mtwo']);
    expect(server.stderrTail()).toEqual(lines);
  },
);

verifies('AGG-CHILD-2', 'firstByte resolves without taking the byte from the reader', async () => {
  const server = await start(node, [fixture('obedient.mjs')]);
  await server.firstByte;
  await delay(50);
  server.stdin.end();
  expect(await text(server)).toBe('ready\n');
});

onLinux(
  'AGG-CHILD-2',
  'the exit of a server is reported although a process in another session holds the pipes',
  async () => {
    const guard = guarded();
    const holder =
      'require("child_process").spawn("sleep", ["60"], { detached: true, stdio: "inherit" }); process.exit(4)';
    const server = await start(node, ['-e', holder], { guard });
    server.stdout.resume();
    expect(await server.exited).toEqual({ code: 4, signal: null });
    expect(marked(guard.mark)).toHaveLength(1);
    await stopServers([server], guard);
    expect(marked(guard.mark)).toEqual([]);
  },
);

verifies(
  'AGG-CHILD-4',
  'a server that closes its stdin or dies does not bring the gateway down',
  async () => {
    const server = await start(node, [
      '-e',
      'process.stdin.destroy(); setTimeout(() => process.exit(5), 200)',
    ]);
    const writing = setInterval(() => server.stdin.write('x'.repeat(100_000)), 5);
    expect(await server.exited).toEqual({ code: 5, signal: null });
    await delay(50);
    clearInterval(writing);
    await server.stop();
  },
);

verifies('AGG-CHILD-2', 'a spawn error names the reason and the place, and no secret', async () => {
  const guard = guarded();
  const plain = join(folder, 'plain');
  writeFileSync(plain, 'text');
  const tries: [string, string[], Start, string][] = [
    ['no-such-command', [], {}, 'command not found: "no-such-command"'],
    ['./no-such-command', [], {}, 'command not found: "./no-such-command"; check the path'],
    [plain, [], {}, `not executable: "${plain}"`],
    [folder, [], {}, `not executable: "${folder}"`],
    [node, [], { cwd: join(folder, 'missing') }, 'working directory does not exist'],
    [node, [], { cwd: plain }, 'working directory is not a directory'],
    [node, ['x'.repeat(4_000_000)], {}, 'too long for the system'],
    [node, ['secret\0'], {}, 'hold a NUL character'],
  ];
  for (const [command, args, options, message] of tries) {
    const error: unknown = await start(command, args, { ...options, guard }).catch(
      (reason: unknown) => reason,
    );
    expect(error).toMatchObject({ name: 'SpawnError', message: expect.stringContaining(message) as string });
    expect(JSON.stringify(error, ['message', 'stack', 'cause'])).not.toContain('secret');
  }
});

onLinux('AGG-CHILD-5', 'a server ends with its stdin, else by SIGTERM, else by SIGKILL', async () => {
  const guard = guarded();
  const began = performance.now();
  const obedient = await start(node, [fixture('obedient.mjs')], { guard });
  await obedient.firstByte;
  await obedient.stop();
  expect(await obedient.exited).toEqual({ code: 0, signal: null });
  expect(performance.now() - began).toBeLessThan(quick.eofMs);
  const polite = await start(node, ['-e', 'console.log(1); setInterval(() => 0, 1000)'], { guard });
  await polite.firstByte;
  await polite.stop();
  expect(await polite.exited).toEqual({ code: null, signal: 'SIGTERM' });
  const stubborn = await start(node, [fixture('stubborn.mjs')], { guard });
  await stubborn.firstByte;
  await stubborn.stop();
  expect(await stubborn.exited).toEqual({ code: null, signal: 'SIGKILL' });
  expect(marked(guard.mark)).toEqual([]);
});

onLinux(
  'AGG-CHILD-5',
  'processes in the group of a server end with it, after a stop and after a crash',
  async () => {
    const guard = guarded();
    const stopped = await start(node, [fixture('family.mjs')], { guard });
    await stopped.firstByte;
    expect(marked(guard.mark)).toHaveLength(2);
    await stopped.stop();
    expect(marked(guard.mark)).toEqual([]);
    const crashed = await start(node, [fixture('family.mjs'), 'crash'], { guard });
    expect((await crashed.exited).code).toBe(7);
    expect(marked(guard.mark)).toHaveLength(1);
    await until(() => marked(guard.mark).length === 0, 1500);
  },
);

onLinux('AGG-CHILD-5', 'several servers stop at the same time', async () => {
  const guard = guarded();
  const servers = await Promise.all(
    Array.from({ length: 6 }, () => start(node, [fixture('stubborn.mjs')], { guard })),
  );
  await Promise.all(servers.map((server) => server.firstByte));
  const began = performance.now();
  await stopServers(servers, guard);
  expect(performance.now() - began).toBeLessThan(2 * (quick.eofMs + quick.termMs));
  expect(marked(guard.mark)).toEqual([]);
});

/** A project whose own program npx runs, without any network. */
function npxProject(): string {
  const project = join(folder, 'project');
  if (existsSync(project)) return project;
  const bin = join(project, 'node_modules', '.bin');
  mkdirSync(bin, { recursive: true });
  writeFileSync(join(project, 'package.json'), '{ "name": "project", "version": "1.0.0", "private": true }');
  writeFileSync(
    join(bin, 'stubborn-server'),
    `#!/usr/bin/env node\nimport(${JSON.stringify(fixture('stubborn.mjs'))});\n`,
  );
  chmodSync(join(bin, 'stubborn-server'), 0o755);
  return project;
}

interface RunningGateway {
  pid: number;
  mark: string;
  guard: number;
  endInput(): void;
  /** Resolves when no process holds the gateway's stdout any more. */
  outputEnded: Promise<unknown>;
  exited: Promise<unknown>;
}

async function startGateway(servers: object[], plan: object = {}): Promise<RunningGateway> {
  const child = spawn(node, [gatewayFile, JSON.stringify({ servers, ...plan })], {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: { ...process.env, npm_config_cache: join(folder, 'npm-cache'), npm_config_update_notifier: 'false' },
  });
  const exited = once(child, 'exit');
  const outputEnded = once(child.stdout, 'end');
  const [line] = (await once(child.stdout, 'data')) as [Buffer];
  const pid = child.pid!;
  const { mark } = JSON.parse(String(line)) as { mark: string };
  return { pid, mark, guard: guardOf(pid)!, endInput: () => child.stdin.end(), outputEnded, exited };
}

const stubborn = { command: node, args: [fixture('stubborn.mjs')] };
const sessionFamily = { command: node, args: [fixture('family.mjs'), 'session'] };
const groupFamily = { command: node, args: [fixture('family.mjs')] };

/** When the guard has had its first look: a server that ends at once with its gateway leaves no time for another. */
const FIRST_LOOK_MS = 2500;

/** The name of a program may look like the rest of its line in /proc, and hold a line end. */
const oddlyNamed = join(folder, 'a) S 1 1\n2 (b');

/**
 * Ends with its stdin, and has started what ignores every request to end: in a session and with an environment of its
 * own, and from there once more the same.
 */
function strayFamily(token: string): { command: string; args: string[] } {
  if (!existsSync(oddlyNamed)) symlinkSync(node, oddlyNamed);
  const both = 'setsid env -i "$@" & exec env -i "$@"';
  const server = `setsid env -i PATH="$PATH" sh -c '${both}' sh "$@" & exec cat`;
  return { command: 'sh', args: ['-c', server, 'sh', oddlyNamed, fixture('stubborn.mjs'), token] };
}

function strays(token: string): number {
  return commandLinesWith(`stubborn.mjs\0${token}\0`).filter((line) => line.startsWith(oddlyNamed)).length;
}

const endings: [string, (gateway: RunningGateway) => void][] = [
  ['the end of its stdin', (gateway) => gateway.endInput()],
  ['SIGINT', (gateway) => process.kill(gateway.pid, 'SIGINT')],
  ['SIGTERM', (gateway) => process.kill(gateway.pid, 'SIGTERM')],
  ['SIGKILL', (gateway) => process.kill(gateway.pid, 'SIGKILL')],
];
// Each waits for seconds and works for milliseconds, so these run at the same time.
describe.concurrent('a gateway that ends', () => {
  for (const [name, end] of endings) {
    onLinux('AGG-CHILD-5', `after ${name} no process of a gateway is alive five seconds later`, async () => {
      const npx = { command: 'npx', args: ['--no-install', 'stubborn-server'], cwd: npxProject() };
      const gateway = await startGateway([stubborn, groupFamily, sessionFamily, npx]);
      // A child; a child and a grandchild, twice; npx, its server and perhaps a shell between them.
      expect(marked(gateway.mark).length).toBeGreaterThanOrEqual(7);
      end(gateway);
      await until(() => marked(gateway.mark).length === 0, 5000);
      await until(() => !isAlive(gateway.pid) && !isAlive(gateway.guard), 1000);
      await gateway.exited;
    });

    onLinux(
      'AGG-CHILD-5',
      `after ${name} processes without group, session and mark are found by descent`,
      async () => {
        const token = `stray-${name.replaceAll(' ', '-')}-${process.pid}`;
        const gateway = await startGateway([strayFamily(token), groupFamily]);
        await until(() => strays(token) === 2);
        if (name === 'SIGKILL') await delay(FIRST_LOOK_MS);
        end(gateway);
        await until(() => strays(token) === 0, 5000);
        await until(() => !isAlive(gateway.pid) && !isAlive(gateway.guard), 1000);
      },
    );
  }

  onLinux(
    'AGG-CHILD-5',
    'processes that no server has started survive, also where they look like strays',
    async () => {
      const foreign = spawn('sleep', ['60'], {
        detached: true,
        stdio: 'ignore',
        env: { PATH: process.env['PATH'] },
      });
      const token = `beside-foreign-${process.pid}`;
      const guard = startGuard({ path: process.env['PATH'] });
      const { command, args } = strayFamily(token);
      const server = await start(command, args, { guard });
      await until(() => strays(token) === 2);
      await stopServers([server], guard);
      expect(strays(token)).toBe(0);
      expect(isAlive(foreign.pid!)).toBe(true);
      foreign.kill('SIGKILL');
    },
  );

  onLinux('AGG-CHILD-5', 'the stop of servers waits for a slow guard', async () => {
    const slow = mkdtempSync(join(folder, 'slow-'));
    writeFileSync(join(slow, 'grep'), '#!/bin/sh\nsleep 0.4\nPATH=${PATH#*:} exec grep "$@"\n', {
      mode: 0o755,
    });
    const token = `slow-look-${process.pid}`;
    const guard = startGuard({ path: [slow, process.env['PATH']].join(delimiter) });
    const { command, args } = strayFamily(token);
    const server = await start(command, args, { guard });
    await until(() => strays(token) === 2);
    await stopServers([server], guard);
    expect(strays(token)).toBe(0);
  });

  onLinux('AGG-CHILD-5', 'the guard of a killed gateway ends only the servers of that gateway', async () => {
    const [killed, other] = [await startGateway([stubborn]), await startGateway([stubborn])];
    process.kill(killed.pid, 'SIGKILL');
    await until(() => marked(killed.mark).length === 0 && !isAlive(killed.guard));
    expect(marked(other.mark)).toHaveLength(1);
    process.kill(other.pid, 'SIGKILL');
    await until(() => marked(other.mark).length === 0);
  });

  onLinux(
    'AGG-CHILD-5',
    'the guard finds a server by its mark when the gateway died before it named the group',
    async () => {
      const gateway = await startGateway([stubborn, sessionFamily], { tellsNoGroups: true });
      expect(marked(gateway.mark)).toHaveLength(3);
      process.kill(gateway.pid, 'SIGKILL');
      await until(() => marked(gateway.mark).length === 0);
    },
  );

  onLinux('AGG-CHILD-5', 'the guard finds a server without environment by its group', async () => {
    const token = `unmarked-${process.pid}`;
    const args = ['-i', node, fixture('stubborn.mjs'), token];
    const gateway = await startGateway([{ command: 'env', args }]);
    const isRunning = (): boolean => commandLinesWith(`stubborn.mjs\0${token}`).length > 0;
    expect(marked(gateway.mark)).toEqual([]);
    expect(isRunning()).toBe(true);
    process.kill(gateway.pid, 'SIGKILL');
    await until(() => !isRunning());
  });

  onLinux('AGG-CHILD-5', 'a gateway that is killed during its start leaves no server', async () => {
    const running = (token: string): number => commandLinesWith(`stubborn.mjs\0${token}`).length;
    const tokens = [1, 1, 2, 3].map((count, index) => ({
      count,
      token: `killed-early-${index}-${process.pid}`,
    }));
    for (const { count, token } of tokens) {
      const server = { command: node, args: [fixture('stubborn.mjs'), token] };
      const plan = JSON.stringify({ servers: [server, server, server, server] });
      const gateway = spawn(node, [gatewayFile, plan], { stdio: ['pipe', 'ignore', 'ignore'] });
      await until(() => running(token) >= count);
      gateway.kill('SIGKILL');
      await once(gateway, 'exit');
    }
    await until(() => tokens.every(({ token }) => running(token) === 0));
  });
});

onLinux('AGG-CHILD-5', 'the guard does not wait for zombie processes or count them as alive', async () => {
  const guard = guarded();
  const keeper = await start('sh', ['-c', 'setsid true & echo $!; exec sleep 60'], { guard });
  const [line] = (await once(keeper.stdout, 'data')) as [Buffer];
  const dead = Number(String(line));
  await until(() => posixGroup(dead).signal(0) && !hasLivingMember(dead));
  expect(hasLivingMember(keeper.pid)).toBe(true);
  const other = startGuard({ path: process.env['PATH'] });
  other.watch(dead);
  const began = performance.now();
  await other.release();
  expect(performance.now() - began).toBeLessThan(1000);
  await keeper.stop();
});

describe.concurrent('the guard of a gateway', () => {
  onLinux(
    'AGG-CHILD-5',
    'the guard ignores signals, holds no stream of the gateway and shows no mark',
    async () => {
      const gateway = await startGateway([stubborn]);
      for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.kill(-gateway.guard, signal);
      await delay(100);
      expect(isAlive(gateway.guard)).toBe(true);
      process.kill(gateway.pid, 'SIGKILL');
      const seen: string[] = [];
      await Promise.all([
        gateway.outputEnded.then(() => expect(isAlive(gateway.guard)).toBe(true)),
        until(() => {
          seen.push(...commandLinesWith(gateway.mark));
          return !isAlive(gateway.guard);
        }),
      ]);
      expect(seen).toEqual([]);
      expect(marked(gateway.mark)).toEqual([]);
    },
  );

  onLinux('PERF-1', 'the guard takes less than 2 MB of memory', async () => {
    const gateway = await startGateway([stubborn]);
    expect(proportionalKb(gateway.guard)).toBeLessThan(2000);
    process.kill(gateway.pid, 'SIGKILL');
    await until(() => !isAlive(gateway.guard));
  });
});

onLinux('AGG-CHILD-5', 'the guard is released at once where no process is left', async () => {
  const guard = guarded();
  const server = await start(node, [fixture('obedient.mjs')], { guard });
  await server.firstByte;
  await server.stop();
  const began = performance.now();
  await guard.release();
  expect(performance.now() - began).toBeLessThan(500);
});

/** A folder of programs that goes before the usual ones. */
function programs(name: string, scripts: Record<string, string>): string {
  const bin = join(folder, name);
  mkdirSync(bin);
  for (const [program, body] of Object.entries(scripts)) {
    writeFileSync(join(bin, program), `#!/bin/sh\n${body}\n`);
    chmodSync(join(bin, program), 0o755);
  }
  return `${bin}${delimiter}${process.env['PATH']}`;
}

const busybox = (process.env['PATH'] ?? '')
  .split(delimiter)
  .map((place) => join(place, 'busybox'))
  .find((file) => existsSync(file));

function busyboxOnly(): GuardOptions {
  const bin = join(folder, 'busybox');
  mkdirSync(bin);
  for (const tool of ['sh', 'grep', 'sleep', 'tr']) symlinkSync(busybox!, join(bin, tool));
  return { shell: join(bin, 'sh'), path: bin };
}

const surroundings: [string, string | undefined, () => GuardOptions][] = [
  ['bash', '/bin/bash', () => ({ shell: '/bin/bash' })],
  ['busybox alone', busybox ?? 'busybox', busyboxOnly],
  ['a grep that stops at the first NUL', undefined, () => ({ path: programs('blind', { grep: 'exit 1' }) })],
  ['no grep at all', undefined, () => ({ path: programs('none', { grep: 'exit 127' }) })],
  [
    'a sleep that knows only whole seconds',
    undefined,
    () => ({ path: programs('whole', { sleep: '[ "$1" = 1 ] && exec /bin/sleep 1' }) }),
  ],
  [
    'ps instead of /proc, as on macOS',
    undefined,
    () => ({
      platform: 'darwin',
      path: programs('mac', { ps: '[ "$2" != -E ] || exec /bin/ps axeww -o pid=,args=; exec /bin/ps "$@"' }),
    }),
  ],
];
describe.concurrent('a guard with other tools', () => {
  for (const [name, program, options] of surroundings) {
    const missing = program !== undefined && !existsSync(program) ? `there is no ${program} here` : undefined;
    const possible = missing === undefined ? onLinux : verifies.skipIf(missing);
    possible(['AGG-CHILD-5', 'AGG-QA-2'], `the guard ends all processes with ${name}`, async () => {
      const guard = startGuard(options());
      const server = await start(node, [fixture('family.mjs'), 'session', 'crash'], { guard });
      await server.exited;
      expect(marked(guard.mark)).toHaveLength(1);
      const token = `stray-${name.replaceAll(' ', '-')}-${process.pid}`;
      const family = strayFamily(token);
      const other = await start(family.command, family.args, { guard });
      await until(() => strays(token) === 2);
      await other.stop();
      expect(strays(token)).toBe(2);
      await guard.release(300);
      expect(marked(guard.mark)).toEqual([]);
      expect(strays(token)).toBe(0);
    });
  }
});

onLinux('AGG-CHILD-5', 'the loss of the guard is reported once', async () => {
  const reasons: string[] = [];
  // Those of earlier tests may be about to end.
  const earlier = guardsOf(process.pid);
  const guard = guarded({ onLost: (reason) => reasons.push(reason) });
  const own = (): number | undefined => guardsOf(process.pid).find((pid) => !earlier.includes(pid));
  await until(() => own() !== undefined);
  process.kill(own()!, 'SIGKILL');
  await until(() => reasons.length > 0);
  for (let group = 2; group < 100; group += 1) guard.unwatch(group);
  await guard.note();
  await guard.release();
  expect(reasons).toEqual(['the guard ended (SIGKILL)']);
});

onLinux('AGG-CHILD-5', 'a suspended guard delays the stop of a server by 2.5 s at most', async () => {
  const guard = guarded();
  const server = await start(node, [fixture('obedient.mjs')], { guard });
  await server.firstByte;
  const stuck = guardOf(process.pid)!;
  process.kill(stuck, 'SIGSTOP');
  const began = performance.now();
  await server.stop();
  expect(performance.now() - began).toBeLessThan(2500);
  process.kill(stuck, 'SIGCONT');
});

verifies('AGG-CHILD-5', 'a guard that cannot start is reported once, and servers still start', async () => {
  const reasons: string[] = [];
  const guard = startGuard({ shell: '/no/such/shell', onLost: (reason) => reasons.push(reason) });
  const server = await start(node, [fixture('obedient.mjs')], { guard });
  await server.firstByte;
  await stopServers([server], guard);
  expect(reasons).toEqual(['spawn /no/such/shell ENOENT']);
});

verifies('AGG-QA-2', 'the guard does nothing on Windows', async () => {
  const guard = startGuard({
    platform: 'win32',
    shell: '/no/such/shell',
    onLost: () => expect.unreachable(),
  });
  guard.watch(5);
  guard.unwatch(5);
  await guard.note();
  await guard.release();
  expect(guard.mark).toMatch(/^[0-9a-f]{32}$/);
});

verifies('AGG-CHILD-5', 'the guard refuses invalid groups and marks', async () => {
  const guard = guarded();
  for (const group of [-1, 0, 1, 1.5, Number.NaN, Number.POSITIVE_INFINITY]) {
    expect(() => guard.watch(group)).toThrow('Not a process group');
  }
  for (const mark of ['', 'a', `${'a'.repeat(31)}\n`, `${'a'.repeat(31)}.`])
    expect(() => startGuard({ mark })).toThrow('hex digits');
});
