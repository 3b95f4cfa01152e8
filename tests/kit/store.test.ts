// The store of `@weir/server` between processes: one action at a time under a lock, and whole values after a kill.
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { asKeyValue, createFileStore, openEncryptedStore } from '@weir/server/store';
import { describe, expect, test } from 'vitest';
import { temporaryFolder } from '../support/harness.ts';
import { bundleProgram } from '../support/program.ts';

/** Takes the lock of a key in a folder and writes `begins` and `ends` to a file, with the milliseconds between them. */
const locker = await bundleProgram(`
  import { appendFileSync } from 'node:fs';
  import { asKeyValue, createFileStore, openEncryptedStore, withLock } from '@weir/server/store';
  const [folder, log, milliseconds, kind] = process.argv.slice(2);
  const store = kind === 'encrypted' ? await openEncryptedStore({ folder, env: {} }) : createFileStore({ folder });
  const note = (text) => appendFileSync(log, process.pid + ' ' + text + '\\n');
  note('waits');
  const action = async () => {
    note('begins');
    process.stdout.write('begins\\n');
    await new Promise((resolve) => setTimeout(resolve, Number(milliseconds)));
    note('ends');
  };
  if (kind === 'quick') await withLock(store, 'a', action, { beatMs: 100, lapsesMs: 1000 });
  else await asKeyValue(store).lock('a', action);
`);

/** Writes values of 50 kB under one key until it is killed. */
const writer = await bundleProgram(`
  import { asKeyValue, openEncryptedStore } from '@weir/server/store';
  const values = asKeyValue(await openEncryptedStore({ folder: process.argv[2], env: {} }));
  for (let n = Number(process.argv[3]); ; n++) {
    await values.set('a', { n, filler: String(n % 10).repeat(50_000) });
    process.stdout.write(n + '\\n');
  }
`);

/** Counts up one value a hundred times. */
const counter = await bundleProgram(`
  import { createFileStore } from '@weir/server/store';
  const store = createFileStore({ folder: process.argv[2] });
  for (let n = 0; n < 100; n++) await store.update('n', (before) => Buffer.from(String(Number(before ?? 0) + 1)));
`);

/** Gives a process ids of its own, as a container does; the id of the process itself is larger by `ahead`. */
const inContainer = (ahead: number, command: string): string[] => [
  '--fork',
  '--pid',
  '--mount-proc',
  'sh',
  '-c',
  `for n in $(seq ${ahead}); do /bin/true; done; ${command}; true`,
];
const noContainer =
  spawnSync('unshare', inContainer(1, 'true')).status === 0 ? undefined : 'needs unshare, as root';

function start(program: string, ...args: string[]): ChildProcess {
  return spawn(process.execPath, [program, ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
}

const begun = (child: ChildProcess): Promise<unknown> => once(child.stdout as NodeJS.ReadableStream, 'data');
const ended = (child: ChildProcess): Promise<unknown> =>
  child.exitCode === null && child.signalCode === null ? once(child, 'exit') : Promise.resolve();

async function timed(action: Promise<unknown>): Promise<number> {
  const began = performance.now();
  await action;
  return performance.now() - began;
}

describe.concurrent('a lock between processes', () => {
  test.each(['plain', 'encrypted'])(
    'processes that share a folder of %s values run one at a time',
    async (kind) => {
      const [folder, log] = [temporaryFolder(), join(temporaryFolder(), 'log')];
      const children = Array.from({ length: 4 }, () => start(locker, folder, log, '60', kind));
      await Promise.all(children.map(ended));
      const lines = readFileSync(log, 'utf8').trim().split('\n');
      const ran = lines.filter((line) => !line.endsWith('waits'));
      expect(ran).toHaveLength(8);
      for (let n = 0; n < ran.length; n += 2) {
        const [pid] = (ran[n] ?? '').split(' ');
        expect(ran.slice(n, n + 2)).toEqual([`${pid} begins`, `${pid} ends`]);
      }
    },
  );

  test('a killed holder is replaced at once', async () => {
    const [folder, log] = [temporaryFolder(), join(temporaryFolder(), 'log')];
    const holder = start(locker, folder, log, '60000', 'plain');
    await begun(holder);
    holder.kill('SIGKILL');
    await ended(holder);
    const values = asKeyValue(createFileStore({ folder }));
    expect(await timed(values.lock('a', async () => {}))).toBeLessThan(1000);
  });

  test('a slow holder keeps its lock for longer than one without a sign of life', async () => {
    const [folder, log] = [temporaryFolder(), join(temporaryFolder(), 'log')];
    const holder = start(locker, folder, log, '2000', 'quick');
    await begun(holder);
    const next = start(locker, folder, log, '0', 'quick');
    await Promise.all([ended(holder), ended(next)]);
    const ran = readFileSync(log, 'utf8').trim().split('\n');
    const order = ran.filter((line) => !line.endsWith('waits'));
    expect(order).toEqual([
      `${holder.pid} begins`,
      `${holder.pid} ends`,
      `${next.pid} begins`,
      `${next.pid} ends`,
    ]);
  });

  test.skipIf(process.platform === 'win32')(
    'a stopped holder is replaced when its time is over',
    async () => {
      const [folder, log] = [temporaryFolder(), join(temporaryFolder(), 'log')];
      const holder = start(locker, folder, log, '60000', 'quick');
      await begun(holder);
      holder.kill('SIGSTOP');
      try {
        const took = await timed(ended(start(locker, folder, log, '0', 'quick')));
        expect(took).toBeGreaterThan(980);
        expect(took).toBeLessThan(10_000);
      } finally {
        holder.kill('SIGKILL');
      }
    },
  );
});

test('a value is the old or the new one after its writer was killed', async () => {
  const folder = temporaryFolder();
  const values = asKeyValue<{ n: number; filler: string }>(await openEncryptedStore({ folder, env: {} }));
  let last = 0;
  for (let kill = 0; kill < 6; kill++) {
    const child = start(writer, folder, String(last + 1));
    let written = last;
    const lines = createInterface({ input: child.stdout as NodeJS.ReadableStream });
    for await (const line of lines) {
      if (written === last) setTimeout(() => child.kill('SIGKILL'), Math.random() * 10);
      written = Number(line);
    }
    await ended(child);
    const { n = 0, filler = '' } = (await values.get('a')) ?? {};
    expect([written, written + 1]).toContain(n);
    expect(filler).toBe(String(n % 10).repeat(50_000));
    last = n;
  }
});

test.skipIf(noContainer !== undefined)(
  `processes with process ids of their own lose no update of one value${noContainer === undefined ? '' : ` (${noContainer})`}`,
  async () => {
    const folder = temporaryFolder();
    const children = [0, 20, 40].map((ahead) =>
      spawn('unshare', inContainer(ahead, `"${process.execPath}" "${counter}" "${folder}"`), {
        stdio: 'inherit',
      }),
    );
    await Promise.all(children.map(ended));
    expect(String(await createFileStore({ folder }).get('n'))).toBe('300');
  },
);
