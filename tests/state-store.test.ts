// What is kept survives what may happen to those who write it: SIGKILL, each other, and a full disk.
import { execFileSync, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openEncryptedDirectory } from '../packages/gateway/src/state/encrypted-directory.ts';
import type { KeyValueStore } from '../packages/gateway/src/state/key-value-store.ts';

/** 1000 for the long run. */
const KILLS = Number(process.env['WEIR_KILLS'] ?? 60);
const WRITERS = 3;
const KEYS = 3;
const masterKey = Buffer.alloc(32, 1);
const home = mkdtempSync(join(tmpdir(), 'weir-writers-'));
const program = join(home, 'writer.mjs');

beforeAll(async () => {
  const entry = fileURLToPath(new URL('fixtures/processes/state-writer.ts', import.meta.url));
  await build({ entryPoints: [entry], bundle: true, platform: 'node', format: 'esm', outfile: program });
});
afterAll(() => rmSync(home, { recursive: true, force: true }));

interface Run {
  readonly folder: string;
  readonly prefix: string;
  readonly keys: number;
  readonly rounds: number;
  readonly size: number;
  readonly first?: number;
}

/** Runs a writer to its end, which `onLine` may bring about. */
function write(
  { folder, prefix, keys, rounds, size, first = 1 }: Run,
  onLine: (line: string, kill: () => void) => void = () => {},
): Promise<void> {
  const args = [program, folder, prefix, keys, rounds, size, first].map(String);
  const env = { PATH: process.env['PATH'] };
  const child = spawn(process.execPath, args, { env, stdio: ['ignore', 'pipe', 'inherit'] });
  createInterface({ input: child.stdout }).on('line', (line) => onLine(line, () => child.kill('SIGKILL')));
  return new Promise((resolve) => child.once('close', () => resolve()));
}

/** Kills one writer again and again in the middle of its work; each time its records are the old or the new ones. */
async function killAgainAndAgain(store: KeyValueStore, run: Run, kills: number): Promise<Set<string>> {
  const seen = new Set<string>();
  const [begun, done] = [new Map<string, number>(), new Map<string, number>()];
  for (let k = 0; k < kills; k++) {
    let isDoomed = false;
    const first = Math.max(0, ...begun.values()) + 1;
    await write({ ...run, first }, (line, kill) => {
      const [what = '', key = '', n = ''] = line.split(' ');
      (what === 'begin' ? begun : done).set(key, Number(n));
      if (isDoomed || what !== 'done') return;
      isDoomed = true;
      setTimeout(kill, Math.random() * 8);
    });
    for (const [key, newest] of begun) {
      const value = (await store.get(`${run.prefix}${key}`)) as { n: number; filler: string } | undefined;
      if (done.has(key)) expect(value).toBeDefined();
      expect([done.get(key), newest]).toContain(value?.n);
      if (value !== undefined) expect(value.filler).toBe(String(value.n % 10).repeat(run.size));
      seen.add(value?.n === done.get(key) ? 'old' : 'new');
      if (value !== undefined) done.set(key, value.n);
    }
  }
  return seen;
}

test(`a record is the old or the new one after each of ${KILLS} times SIGKILL`, async () => {
  const folder = join(home, 'killed');
  const store = await openEncryptedDirectory({ folder, masterKey });
  const each = Math.ceil(KILLS / WRITERS);
  const runs = Array.from({ length: WRITERS }, (_, w) => ({
    folder,
    prefix: `w${w}-`,
    keys: KEYS,
    rounds: 1e6,
    size: 50_000,
  }));
  const seen = await Promise.all(runs.map((run) => killAgainAndAgain(store, run, each)));
  expect(seen.flatMap((states) => [...states])).toContain('old');
  // On a busy machine a writer may never have come to one of its keys.
  expect((await store.keys()).length).toBeGreaterThanOrEqual(WRITERS);
}, 600_000);

test('two processes that write a hundred records each lose none', async () => {
  const folder = join(home, 'two');
  const run = { folder, keys: 100, rounds: 1, size: 100 };
  await Promise.all([write({ ...run, prefix: 'a' }), write({ ...run, prefix: 'b' })]);
  const store = await openEncryptedDirectory({ folder, masterKey });
  expect(await store.keys()).toHaveLength(200);
  expect(readdirSync(folder)).toHaveLength(200);
});

const tiny = join(home, 'tiny');
const whyNoDisk = tinyDisk();
afterAll(() => {
  if (whyNoDisk === undefined) execFileSync('umount', [tiny]);
});

test.skipIf(whyNoDisk !== undefined)(
  `a full disk is an error, and what was there before stays${whyNoDisk === undefined ? '' : ` (${whyNoDisk})`}`,
  async () => {
    const folder = join(tiny, 'records');
    const store = await openEncryptedDirectory({ folder, masterKey });
    await store.set('a', 'old');
    await store.set('b', 'small');
    await expect(store.set('a', 'x'.repeat(1_000_000))).rejects.toMatchObject({
      name: 'RecordError',
      key: 'a',
      message: expect.stringContaining('ENOSPC') as string,
    });
    expect(await store.get('a')).toBe('old');
    expect(await store.get('b')).toBe('small');
    expect(readdirSync(folder)).toHaveLength(2);
    await store.set('a', 'new');
    expect(await store.get('a')).toBe('new');
  },
);

/** A file system of 64 kB; why there is none, where there is none. */
function tinyDisk(): string | undefined {
  mkdirSync(tiny);
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=64k', 'tmpfs', tiny], { stdio: 'ignore' });
    return undefined;
  } catch {
    return 'needs root, to mount a tiny disk';
  }
}
