import {
  copyFileSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { createFileStore } from './file-store.ts';
import { createMemoryStore } from './memory-store.ts';
import { createEncryptedStore } from './open-encrypted-store.ts';
import type { Store } from './store-contract.ts';
import { storeCase } from './store.case.ts';

const masterKey = Buffer.alloc(32, 7);
const root = mkdtempSync(join(tmpdir(), 'weir-secrets-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

const openIn = (folder: string, key = masterKey): Promise<Store> =>
  createEncryptedStore(createFileStore({ folder, isDurable: true }), key);
const newFolder = (): string => join(mkdtempSync(join(root, 'x-')), 'secrets');

const damages: Record<string, (place: string) => void> = {
  'with a flipped bit': (place) => {
    const bytes = readFileSync(place);
    bytes[bytes.length - 3] = (bytes.at(-3) ?? 0) ^ 1;
    writeFileSync(place, bytes);
  },
  'cut short': (place) => writeFileSync(place, readFileSync(place).subarray(0, -1)),
  'cut shorter than its head': (place) => writeFileSync(place, readFileSync(place).subarray(0, 20)),
  emptied: (place) => writeFileSync(place, ''),
  'that is text': (place) => writeFileSync(place, '{"key":"a","value":1}'),
  'copied from another name': (place) => {
    const other = readdirSync(dirname(place)).find((name) => !place.endsWith(name));
    copyFileSync(join(dirname(place), other ?? ''), place);
  },
};

storeCase('encrypted files', () => {
  const folder = newFolder();
  return { open: () => openIn(folder), damages };
});

storeCase('encrypted memory', () => {
  const inner = createMemoryStore();
  return { open: () => createEncryptedStore(inner, masterKey) };
});

test("a secret's file shows neither its name nor its value and is readable only by its owner", async () => {
  const folder = newFolder();
  const store = await openIn(folder);
  await store.set('server github', Buffer.from('hush'));
  const [name = ''] = readdirSync(folder);
  expect(name).toMatch(/^[0-9a-f]{64}$/u);
  expect(readFileSync(join(folder, name), 'latin1')).not.toMatch(/github|hush/u);
  if (process.platform !== 'win32') expect(statSync(join(folder, name)).mode & 0o777).toBe(0o600);
});

test('an encrypted store encrypts a secret differently each time', async () => {
  const folder = newFolder();
  const store = await openIn(folder);
  const texts = new Set<string>();
  for (let n = 0; n < 3; n++) {
    await store.set('a', Buffer.from('hush'));
    texts.add(readFileSync(store.locate('a'), 'latin1'));
  }
  expect(texts.size).toBe(3);
});

test('an encrypted store neither reads nor lists a secret written with another master key', async () => {
  const folder = newFolder();
  await (await openIn(folder)).set('a', Buffer.from('hush'));
  const store = await openIn(folder, Buffer.alloc(32, 8));
  await expect(store.get('a')).rejects.toThrow('another master key');
  expect(await store.list()).toEqual([]);
});

test('an encrypted store refuses a master key of another length than 32 bytes', async () => {
  const short = createEncryptedStore(createMemoryStore(), Buffer.alloc(31));
  await expect(short).rejects.toThrow('A master key has 32 bytes; this one has 31');
});
