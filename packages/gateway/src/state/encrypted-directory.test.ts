import { spawnSync } from 'node:child_process';
import {
  copyFileSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { openEncryptedDirectory, type DirectoryOptions } from './encrypted-directory.ts';
import { RecordError, type KeyValueStore } from './key-value-store.ts';

const masterKey = Buffer.alloc(32, 7);
let folder: string;
beforeEach(() => (folder = join(mkdtempSync(join(tmpdir(), 'weir-store-')), 'records')));
afterEach(() => rmSync(dirname(folder), { recursive: true, force: true }));

const open = (more: Partial<DirectoryOptions> = {}): Promise<KeyValueStore> =>
  openEncryptedDirectory({ folder, masterKey, ...more });
const fileOf = (index: number): string => join(folder, readdirSync(folder).sort()[index] ?? '');

describe('what is set', () => {
  test.each([[null], [0], ['ä €'], [[1, { a: [] }]], [{ 'a"b': 1 }]])(
    'comes back, also after another start: %j',
    async (value) => {
      await (await open()).set('the key', value);
      expect(await (await open()).get('the key')).toEqual(value);
    },
  );

  test('is replaced, listed and deleted', async () => {
    const store = await open();
    expect(await store.get('a')).toBeUndefined();
    await store.set('a', 1);
    await store.set('a', 2);
    await store.set('b/../c', 3);
    expect(await store.get('a')).toBe(2);
    expect((await store.keys()).sort()).toEqual(['a', 'b/../c']);
    await store.delete('a');
    await store.delete('a');
    expect(await store.keys()).toEqual(['b/../c']);
  });

  test('is the last of many that were set at once', async () => {
    const [one, other] = [await open(), await open()];
    await Promise.all(Array.from({ length: 20 }, (_, n) => one.set('a', n)));
    expect(await other.get('a')).toBe(19);
    await Promise.all([one.set('a', 'one'), other.set('a', 'other')]);
    expect(['one', 'other']).toContain(await one.get('a'));
  });

  test('shows nothing of itself on disk, and is for its owner alone', async () => {
    await (await open()).set('server github', { token: 'hush' });
    const [name = ''] = readdirSync(folder);
    expect(name).toMatch(/^[0-9a-f]{64}$/u);
    expect(readFileSync(fileOf(0), 'latin1')).not.toMatch(/github|token|hush/u);
    if (process.platform === 'win32') return;
    expect(statSync(fileOf(0)).mode & 0o777).toBe(0o600);
    expect(statSync(folder).mode & 0o777).toBe(0o700);
  });
});

describe('a damaged record', () => {
  const damages: Record<string, (file: string, other: string) => void> = {
    'with a flipped bit': (file) => {
      const bytes = readFileSync(file);
      bytes[bytes.length - 3] = (bytes.at(-3) ?? 0) ^ 1;
      writeFileSync(file, bytes);
    },
    'cut short': (file) => writeFileSync(file, readFileSync(file).subarray(0, 40)),
    emptied: (file) => writeFileSync(file, ''),
    'that is text': (file) => writeFileSync(file, '{"key":"a","value":1}'),
    ...(process.platform !== 'win32' && {
      'that is a pipe': (file: string) => {
        rmSync(file);
        spawnSync('mkfifo', [file]);
      },
    }),
    'put under the name of another': (file, other) => copyFileSync(other, file),
  };

  test.each(Object.keys(damages))('%s is an error of its own, and the others are as before', async (how) => {
    const found: RecordError[] = [];
    const store = await open({ onDamaged: (error) => found.push(error) });
    await store.set('a', 1);
    const file = fileOf(0);
    await store.set('b', 2);
    const other = readdirSync(folder)
      .map((name) => join(folder, name))
      .find((path) => path !== file);
    damages[how]?.(file, other ?? '');
    const error: unknown = await store.get('a').catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(RecordError);
    expect(error).toMatchObject({ key: 'a', file, message: expect.stringContaining(file) as string });
    expect(await store.get('b')).toBe(2);
    expect(await store.keys()).toEqual(['b']);
    expect(found).toMatchObject([{ file }]);
    await store.set('a', 3);
    expect(await store.get('a')).toBe(3);
  });

  test('is what all are under another master key', async () => {
    await (await open()).set('a', 1);
    const store = await open({ masterKey: Buffer.alloc(32, 8) });
    await expect(store.get('a')).rejects.toThrow('another master key');
  });
});

test('what was left unfinished is removed, but not what may be in the making', async () => {
  const store = await open();
  await store.set('a', 1);
  const name = readdirSync(folder)[0] ?? '';
  for (const [suffix, age] of [
    ['.1.1', 120],
    ['.2.1', 0],
  ] as const) {
    writeFileSync(join(folder, name + suffix), 'half');
    const at = Date.now() / 1000 - age;
    utimesSync(join(folder, name + suffix), at, at);
  }
  await open();
  expect(readdirSync(folder).sort()).toEqual([name, `${name}.2.1`]);
});

test("what another process of our number has left or is writing is in nobody's way", async () => {
  const store = await open();
  await store.set('a', 1);
  const name = readdirSync(folder)[0] ?? '';
  // In containers every gateway may be process 1, and a state folder be that of several.
  const others = Array.from({ length: 300 }, (_, n) => `${name}.${process.pid}.${n}`);
  for (const other of others) writeFileSync(join(folder, other), 'half');
  await store.set('a', 2);
  expect(await store.get('a')).toBe(2);
  expect(readdirSync(folder)).toHaveLength(301);
});

test('a folder that takes nothing is an error that names the key', async () => {
  const store = await open();
  await store.set('a', 1);
  // Something else in its place stops root as well, whom permissions do not.
  renameSync(folder, `${folder}.away`);
  writeFileSync(folder, '');
  await expect(store.set('a', 2)).rejects.toMatchObject({ name: 'RecordError', key: 'a' });
  rmSync(folder);
  renameSync(`${folder}.away`, folder);
  expect(await store.get('a')).toBe(1);
});
