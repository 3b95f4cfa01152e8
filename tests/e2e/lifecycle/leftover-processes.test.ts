// @module-tag slow
// No process of the command is alive five seconds after its end, however it ends.
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect } from 'vitest';
import {
  fixture,
  startWeir,
  temporaryFolder,
  textOf,
  type ServerEntry,
  type Weir,
} from '../../support/harness.ts';
import { guardOf, isAlive, marked, markOf, until } from '../../support/processes.ts';
import { verifies } from '../../verifies.ts';

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
  forks: fixture('grandchild'),
  session: fixture('grandchild', '--own-session'),
  pipes: fixture('grandchild', '--own-session', '--hold-pipes'),
  clean: fixture('grandchild', '--own-session', '--clean-environment'),
};

/** When the guard has had its first look: a server that ends at once with its gateway leaves no time for another. */
const FIRST_LOOK_MS = 2500;

/** A grandchild whose descent alone tells whose it is. */
async function strayOf(weir: Weir): Promise<number> {
  const [, grandchild] = textOf(await weir.callTool('clean:pids'))
    .split(' ')
    .map(Number);
  return grandchild ?? 0;
}

const ENDINGS: Readonly<Record<string, (weir: Weir) => void>> = {
  'the end of its input': (weir) => weir.end(),
  SIGINT: (weir) => weir.kill('SIGINT'),
  SIGTERM: (weir) => weir.kill('SIGTERM'),
  SIGKILL: (weir) => weir.kill('SIGKILL'),
  'a crash of its own': (weir) => weir.kill('SIGSEGV'),
};
const isOrderly = (name: string): boolean => name !== 'SIGKILL' && name !== 'a crash of its own';

// Each waits for seconds and works for milliseconds, so these run at the same time.
describe.concurrent('a gateway that ends', () => {
  for (const [name, end] of Object.entries(ENDINGS)) {
    onLinux(
      'AGG-CHILD-5',
      `after ${name} no child, no grandchild and no guard is left of a gateway`,
      async () => {
        await using weir = startWeir({ ...stubborn, npx: behindNpx() });
        await weir.initialize();
        await weir.request('tools/list');
        const mark = await markOf(weir.pid);
        const guard = guardOf(weir.pid) ?? 0;
        // Six children, three grandchildren, and what npx puts between itself and its server.
        expect(marked(mark).length).toBeGreaterThanOrEqual(10);
        const stray = await strayOf(weir);
        expect(isAlive(stray)).toBe(true);
        expect(marked(mark)).not.toContain(stray);
        if (!isOrderly(name)) await delay(FIRST_LOOK_MS);
        weir.send({ id: 'in flight', method: 'tools/call', params: { name: 'stubborn:pid' } });
        end(weir);
        await until(() => marked(mark).length === 0 && !isAlive(stray) && !isAlive(weir.pid), 5000);
        await until(() => !isAlive(guard), 1000);
        const { code } = await weir.ended;
        expect(code).toBe(isOrderly(name) ? 0 : null);
      },
    );
  }

  for (const name of ['the end of its input', 'SIGTERM', 'SIGKILL'] as const) {
    onLinux(
      'AGG-CHILD-5',
      `after ${name} a grandchild in a session of its own that obeys SIGTERM ends at once`,
      async () => {
        await using weir = startWeir({ clean: stubborn.clean, e: fixture('echo') });
        await weir.initialize();
        const stray = await strayOf(weir);
        expect(isAlive(stray)).toBe(true);
        if (!isOrderly(name)) await delay(FIRST_LOOK_MS);
        ENDINGS[name]?.(weir);
        await until(() => !isAlive(stray), 1500);
      },
    );
  }

  for (const name of ['the end of its input', 'SIGTERM', 'SIGKILL'] as const) {
    onLinux('AGG-CHILD-5', `after ${name} during the start no process of the gateway is left`, async () => {
      await using weir = startWeir(
        { ...stubborn, mute: fixture('silent') },
        { args: ['--startup-timeout', '20s'] },
      );
      await weir.initialize();
      const mark = await markOf(weir.pid);
      const guard = guardOf(weir.pid) ?? 0;
      ENDINGS[name]?.(weir);
      await until(() => marked(mark).length === 0 && !isAlive(weir.pid), 5000);
      await until(() => !isAlive(guard), 1000);
    });
  }

  onLinux(['AGG-CHILD-3', 'AGG-CHILD-5'], 'a failed start leaves no server process', async () => {
    await using weir = startWeir(
      { ...stubborn, broken: fixture('silent') },
      { args: ['--startup-timeout', '2s'] },
    );
    await weir.initialize();
    const mark = await markOf(weir.pid);
    const { code, stderr } = await weir.ended;
    expect(code).toBe(1);
    expect(stderr).toContain("'broken'");
    await until(() => marked(mark).length === 0, 1000);
  });

  onLinux(
    ['AGG-CHILD-4', 'AGG-CHILD-5'],
    'a killed server leaves no grandchild while the gateway runs on',
    async () => {
      await using weir = startWeir({ forks: fixture('grandchild'), e: fixture('echo') });
      await weir.initialize();
      const [self, grandchild] = textOf(await weir.callTool('forks:pids'))
        .split(' ')
        .map(Number) as [number, number];
      expect(isAlive(grandchild)).toBe(true);
      process.kill(self, 'SIGKILL');
      await until(() => !isAlive(grandchild), 5000);
      expect(textOf(await weir.callTool('e:echo', { text: 'x' }))).toBe('x');
    },
  );
});
