// @module-tag slow
// What is kept survives what may happen to those who write it: SIGKILL, each other, and a full disk.
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
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

test(`a record is the old or the new one after each of ${KILLS} times SIGKILL`, async () => {
  expect(await killWriters(writers, home, KILLS)).toMatchObject({ isKept: true });
}, 600_000);

test('two processes that write a hundred records each lose none', async () => {
  const folder = join(home, 'two');
  const run = { program: writers.program, folder, keys: 100, rounds: 1, size: 100 };
  await Promise.all([write({ ...run, prefix: 'a' }), write({ ...run, prefix: 'b' })]);
  const store = await writers.open(folder);
  expect(await store.keys()).toHaveLength(200);
  expect(readdirSync(folder)).toHaveLength(200);
});

test.skipIf(disk.reason !== undefined)(
  `a full disk is an error, and what was there before stays${disk.reason === undefined ? '' : ` (${disk.reason})`}`,
  async () => {
    const folder = join(disk.folder, 'records');
    const store = await writers.open(folder);
    await store.set('b', 'small');
    expect(await outgrow(store)).toMatchObject({ isKept: true });
    expect(await store.get('b')).toBe('small');
    expect(readdirSync(folder)).toHaveLength(2);
  },
);
