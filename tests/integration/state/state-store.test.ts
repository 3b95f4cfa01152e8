// @module-tag slow
// Values survive what may happen to the processes that write them: SIGKILL, each other, and a full disk.
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { buildWriters, killWriters, outgrow, tinyDisk, write } from '../../../scripts/chaos/state-writes.mjs';

/** 1000 for the long run. */
const KILLS = Number(process.env['WEIR_KILLS'] ?? 60);
const home = mkdtempSync(join(tmpdir(), 'weir-writers-'));
const disk = tinyDisk(home);
const writers = await buildWriters(home);

afterAll(() => {
  if (disk.reason === undefined) disk.unmount();
  rmSync(home, { recursive: true, force: true });
});

describe.each(['files', 'encrypted'] as const)('a store of %s', (backend) => {
  test(`a store holds the old or the new value after each of ${KILLS} kills`, async () => {
    expect(await killWriters(writers, home, KILLS, backend)).toMatchObject({ isKept: true });
  }, 600_000);

  test('a store keeps all values of two processes that write at once', async () => {
    const folder = join(home, `two-${backend}`);
    const run = { program: writers.program, folder, backend, keys: 100, rounds: 1, size: 100 };
    await Promise.all([write({ ...run, prefix: 'a' }), write({ ...run, prefix: 'b' })]);
    const store = await writers.open(folder, backend);
    expect(await store.list()).toHaveLength(200);
    expect(readdirSync(folder)).toHaveLength(200);
  });

  test('a store keeps all updates of one value by three processes', async () => {
    const folder = join(home, `count-${backend}`);
    const run = { program: writers.program, folder, backend, prefix: '+', keys: 1, rounds: 40, size: 0 };
    await Promise.all([write(run), write(run), write(run)]);
    const store = await writers.open(folder, backend);
    expect(String(await store.get('count'))).toBe('120');
  });

  test.skipIf(disk.reason !== undefined)(
    `a store refuses a value on a full disk and keeps the others${disk.reason === undefined ? '' : ` (${disk.reason})`}`,
    async () => {
      const folder = join(disk.folder, backend);
      const store = await writers.open(folder, backend);
      await store.set('b', Buffer.from('small'));
      expect(await outgrow(store)).toMatchObject({ isKept: true });
      expect(String(await store.get('b'))).toBe('small');
      expect(readdirSync(folder)).toHaveLength(2);
    },
  );
});
