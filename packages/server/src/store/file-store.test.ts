import { spawnSync } from 'node:child_process';
import {
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { fileNameOf, nameOfFile } from './file-names.ts';
import { createFileStore, type FileStoreOptions } from './file-store.ts';
import { thisPlace } from './owner-process.ts';
import type { Store } from './store-contract.ts';
import { storeCase } from './store.case.ts';

const root = mkdtempSync(join(tmpdir(), 'weir-store-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));
const newFolder = (): string => join(mkdtempSync(join(root, 'x-')), 'values');

const isWindows = process.platform === 'win32';
const isRoot = process.getuid?.() === 0;

function damagesOf(): Record<string, (place: string) => void> {
  return {
    'larger than any value': (place) => truncateSync(place, 257 * 1024 * 1024),
    ...(!isWindows && {
      'a pipe': (place: string) => {
        rmSync(place);
        spawnSync('mkfifo', [place]);
      },
    }),
    ...(isRoot && { 'a file of another user': (place: string) => chownSync(place, 1234, 1234) }),
  };
}

for (const isDurable of [true, false])
  storeCase(isDurable ? 'files' : 'files that need not survive a power cut', () => {
    const folder = newFolder();
    return { open: () => createFileStore({ folder, isDurable }), damages: damagesOf() };
  });

function open(options: Partial<FileStoreOptions> = {}): { folder: string; store: Store } {
  const { folder = newFolder() } = options;
  return { folder, store: createFileStore({ ...options, folder }) };
}

const value = Buffer.from('value');

describe('a folder of values', () => {
  test('a file store creates its folder with the first write', async () => {
    const { folder, store } = open();
    expect(await store.get('a')).toBeUndefined();
    expect(await store.list()).toEqual([]);
    expect(existsSync(folder)).toBe(false);
    await store.set('a', value);
    expect(readdirSync(folder)).toEqual(['a']);
  });

  test.skipIf(isWindows)('a file store makes its folder and files readable only by their owner', async () => {
    const { folder, store } = open();
    await store.set('a', value);
    await store.update('a', () => Buffer.from('other'));
    expect(statSync(folder).mode & 0o777).toBe(0o700);
    expect(statSync(join(folder, 'a')).mode & 0o777).toBe(0o600);
  });

  test('a file store does not list files that are not values', async () => {
    const { folder, store } = open();
    await store.set('a', value);
    for (const name of ['B', '.DS_Store', 'a~lock', 'a~1-1', 'a%', 'con', 'a b'])
      writeFileSync(join(folder, name), 'x');
    mkdirSync(join(folder, 'sub'));
    utimesSync(join(folder, 'a~lock'), 1, 1);
    expect((await store.list()).map(({ name }) => name)).toEqual(['a']);
    await store.set('a', value);
    expect((await store.list()).map(({ name }) => name)).toEqual(['a']);
  });

  test('a failed write is an error that names the file, and the old value stays', async () => {
    const { folder, store } = open();
    await store.set('a', value);
    // A file in its place stops root as well, whom permissions do not stop.
    renameSync(folder, `${folder}.away`);
    writeFileSync(folder, '');
    await expect(store.set('a', value)).rejects.toMatchObject({
      name: 'StoreError',
      place: join(folder, 'a'),
    });
    rmSync(folder);
    renameSync(`${folder}.away`, folder);
    expect(await store.get('a')).toEqual(value);
    await store.set('a', Buffer.from('new'));
    expect(String(await store.get('a'))).toBe('new');
  });

  test('a folder in the place of a value is an error that names it', async () => {
    const { folder, store } = open();
    mkdirSync(join(folder, 'a'), { recursive: true });
    await expect(store.get('a')).rejects.toMatchObject({ name: 'StoreError' });
    await expect(store.set('a', value)).rejects.toMatchObject({
      name: 'StoreError',
      place: join(folder, 'a'),
    });
    expect(readdirSync(folder)).toEqual(['a']);
  });

  test('a file store removes old temporary files of killed processes, but not recent ones', async () => {
    const { folder, store } = open();
    await store.set('a', value);
    const ages: Record<string, number> = { 'a~old-1': 120, 'a~new-1': 0 };
    for (const [name, age] of Object.entries(ages)) {
      writeFileSync(join(folder, name), 'half');
      const at = Date.now() / 1000 - age;
      utimesSync(join(folder, name), at, at);
    }
    await open({ folder }).store.set('b', value);
    expect(readdirSync(folder).toSorted()).toEqual(['a', 'a~new-1', 'b']);
  });
});

describe('the lock of a value', () => {
  const lockOf = (folder: string): string => join(folder, 'a~lock');
  const timed = async (write: Promise<unknown>): Promise<number> => {
    const began = performance.now();
    await write;
    return performance.now() - began;
  };

  test('the lock of a process that has ended is taken over at once', async () => {
    const { folder, store } = open();
    await store.set('a', value);
    const { pid } = spawnSync(process.execPath, ['-e', '']);
    writeFileSync(lockOf(folder), `${pid} ${thisPlace()}`);
    expect(await timed(store.set('a', value))).toBeLessThan(1000);
    expect(readdirSync(folder)).toEqual(['a']);
  });

  test('a lock that is older than any write is taken over even if its process id is in use', async () => {
    const { folder, store } = open();
    await store.set('a', value);
    writeFileSync(lockOf(folder), `${process.pid} ${thisPlace()}`);
    utimesSync(lockOf(folder), 1, 1);
    expect(await timed(store.set('a', value))).toBeLessThan(1000);
  });

  test('a write waits for the lock of a process of another container, whose id says nothing here', async () => {
    const { folder, store } = open();
    await store.set('a', value);
    const { pid } = spawnSync(process.execPath, ['-e', '']);
    writeFileSync(lockOf(folder), `${pid} ${thisPlace()}1`);
    setTimeout(() => rmSync(lockOf(folder)), 200);
    expect(await timed(store.set('a', value))).toBeGreaterThan(150);
  });

  test('a write waits for the lock of a running process', async () => {
    const { folder, store } = open();
    await store.set('a', value);
    writeFileSync(lockOf(folder), `${process.pid} ${thisPlace()}`);
    setTimeout(() => rmSync(lockOf(folder)), 200);
    expect(await timed(store.set('a', value))).toBeGreaterThan(150);
    expect(await timed(store.get('a'))).toBeLessThan(100);
  });
});

test.each([
  ['master.key', 'master.key'],
  ['0123abcd-ef', '0123abcd-ef'],
  ['a/b', 'a%2fb'],
  ['Ab', '%41b'],
  ['.a.', '%2ea%2e'],
  ['nul.txt', '%6eul.txt'],
  ['€', '%e2%82%ac'],
])('the value %j is in the file %j', (name, file) => {
  expect(fileNameOf(name)).toBe(file);
  expect(nameOfFile(file)).toBe(name);
});

test.each(['A', '%61', '%zz', '%2F', '%ff', 'a~lock', 'con', ''])('the file %j is not a value', (file) => {
  expect(nameOfFile(file)).toBeUndefined();
});
