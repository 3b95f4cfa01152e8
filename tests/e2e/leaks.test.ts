// However the command ends, nothing that it started is alive five seconds later.
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { guardOf, isAlive, marked, until } from '../fixtures/processes/living.ts';
import { verifies } from '../verifies.ts';
import { fixture, startWeir, temporaryFolder, textOf, type ServerEntry, type Weir } from './harness.ts';

const onLinux = verifies.skipIf(process.platform === 'linux' ? undefined : 'finds processes through /proc');

/** A server behind npx, without any network. */
function behindNpx(): ServerEntry {
  const project = temporaryFolder();
  const bin = join(project, 'node_modules', '.bin');
  mkdirSync(bin, { recursive: true });
  writeFileSync(join(project, 'package.json'), '{ "name": "project", "version": "1.0.0", "private": true }');
  const [script] = fixture('ignores-sigterm').args ?? [];
  writeFileSync(join(bin, 'behind-npx'), `#!/usr/bin/env node\nimport(${JSON.stringify(script)});\n`);
  chmodSync(join(bin, 'behind-npx'), 0o755);
  return { command: 'npx', args: ['--no-install', 'behind-npx'], cwd: project };
}

const stubborn = {
  stubborn: fixture('ignores-sigterm'),
  forks: fixture('forks'),
  session: fixture('forks', '--own-session'),
  pipes: fixture('forks', '--own-session', '--hold-pipes'),
};

/** What every process carries that this gateway has started. */
async function markOf(weir: Weir, tool: string): Promise<string> {
  const pid = textOf(await weir.callTool(tool)).split(' ')[0] ?? '';
  const environment = readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0');
  const mark = environment.find((entry) => entry.startsWith('WEIR_OWNER='))?.slice('WEIR_OWNER='.length);
  expect(mark).toMatch(/^[0-9a-f]{32}$/u);
  return mark ?? '';
}

const ENDINGS: Readonly<Record<string, (weir: Weir) => void>> = {
  'the end of its input': (weir) => weir.end(),
  SIGINT: (weir) => weir.kill('SIGINT'),
  SIGTERM: (weir) => weir.kill('SIGTERM'),
  SIGHUP: (weir) => weir.kill('SIGHUP'),
  SIGKILL: (weir) => weir.kill('SIGKILL'),
  'a crash of its own': (weir) => weir.kill('SIGSEGV'),
};
const isOrderly = (name: string): boolean => name !== 'SIGKILL' && name !== 'a crash of its own';

for (const [name, end] of Object.entries(ENDINGS)) {
  onLinux('AGG-CHILD-5', `after ${name} no child, no grandchild and no guard is left`, async () => {
    await using weir = startWeir({ ...stubborn, npx: behindNpx() });
    await weir.initialize();
    const mark = await markOf(weir, 'forks:pids');
    const guard = guardOf(weir.pid) ?? 0;
    // Five children, three grandchildren, and what npx puts between itself and its server.
    expect(marked(mark).length).toBeGreaterThanOrEqual(9);
    weir.send({ id: 'in flight', method: 'tools/call', params: { name: 'stubborn:pid' } });
    end(weir);
    await until(() => marked(mark).length === 0 && !isAlive(weir.pid), 5000);
    await until(() => !isAlive(guard), 1000);
    const { code } = await weir.ended;
    expect(code).toBe(isOrderly(name) ? 0 : null);
  });

  onLinux('AGG-CHILD-5', `after ${name} during the start nothing is left either`, async () => {
    await using weir = startWeir({ ...stubborn, mute: fixture('silent') }, { args: ['--startup-timeout', '20s'] });
    await weir.initialize();
    const guard = await new Promise<number>((resolve) => {
      const timer = setInterval(() => {
        const found = guardOf(weir.pid);
        if (found === undefined) return;
        clearInterval(timer);
        resolve(found);
      }, 5);
    });
    const before = descendants(weir.pid);
    end(weir);
    // At the end of its input the start is judged first; here that would be when the mute one is given up.
    if (name === 'the end of its input') weir.kill('SIGTERM');
    await until(() => !isAlive(weir.pid) && !isAlive(guard) && !before.some(isAlive), 6000);
  });
}

onLinux(['AGG-CHILD-3', 'AGG-CHILD-5'], 'a start that fails leaves nothing of those that had started', async () => {
  await using weir = startWeir({ ...stubborn, broken: fixture('silent') }, { args: ['--startup-timeout', '2s'] });
  await weir.initialize();
  await until(() => descendants(weir.pid).length >= 5);
  const before = descendants(weir.pid);
  const { code, stderr } = await weir.ended;
  expect(code).toBe(1);
  expect(stderr).toContain("'broken'");
  await until(() => !before.some(isAlive), 5000);
});

onLinux(['AGG-CHILD-4', 'AGG-CHILD-5'], 'a server that dies leaves no grandchild behind, while the gateway lives on', async () => {
  await using weir = startWeir({ forks: fixture('forks'), e: fixture('echo') });
  await weir.initialize();
  const [self, grandchild] = textOf(await weir.callTool('forks:pids')).split(' ').map(Number) as [number, number];
  expect(isAlive(grandchild)).toBe(true);
  process.kill(self, 'SIGKILL');
  await until(() => !isAlive(grandchild), 5000);
  expect(textOf(await weir.callTool('e:echo', { text: 'x' }))).toBe('x');
});

/** The children of a process, their children, and so on. */
function descendants(pid: number): number[] {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number);
  return children.flatMap((child) => [child, ...safely(() => descendants(child))]);
}

/** A process may be gone between two looks at it. */
function safely(look: () => number[]): number[] {
  try {
    return look();
  } catch {
    return [];
  }
}
