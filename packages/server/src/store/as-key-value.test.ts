import { copyFileSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, expectTypeOf, test } from 'vitest';
import { asKeyValue, type LockingKeyValueStore } from './as-key-value.ts';
import { createFileStore } from './file-store.ts';
import type { KeyValueStore } from './key-value-store.ts';
import { createMemoryStore } from './memory-store.ts';
import { createEncryptedStore } from './open-encrypted-store.ts';
import { StoreError, type Store } from './store-contract.ts';

const root = mkdtempSync(join(tmpdir(), 'weir-keys-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

const inFiles = (): { folder: string; store: Store } => {
  const folder = mkdtempSync(join(root, 'x-'));
  return { folder, store: createFileStore({ folder }) };
};
const backends: Record<string, () => Store | Promise<Store>> = {
  memory: () => createMemoryStore(),
  files: () => inFiles().store,
  'encrypted files': () => createEncryptedStore(inFiles().store, Buffer.alloc(32, 7)),
};

/** Keys that a store, a file system or an encoding refuses, changes or takes for another. */
const ODD_KEYS = [
  ' |a|A|google:me@example.com|__proto__|../../a|a/b|a\0b|con|€😀|\u00e4|a\u0308|a\ufffd'.split('|'),
  ['', 'a\ud800', 'a\udc00', 'x'.repeat(100_000), `${'x'.repeat(99_999)}y`],
].flat();

describe.each(Object.keys(backends))('JSON values in %s', (name) => {
  const open = async (): Promise<LockingKeyValueStore<unknown>> =>
    asKeyValue(await (backends[name] as () => Store | Promise<Store>)());

  test(`values in ${name} are returned as JSON keeps them, and deleted`, async () => {
    const values = await open();
    for (const value of [{ a: [1, null, 'x'] }, 'text', 0, false, null, [], '\ud800']) {
      await values.set('key', value);
      expect(await values.get('key')).toEqual(value);
    }
    await values.delete('key');
    await values.delete('key');
    expect(await values.get('key')).toBeUndefined();
  });

  test(`keys of any length and any character are kept apart in ${name}`, async () => {
    const values = await open();
    for (const key of ODD_KEYS) await values.set(key, { key });
    for (const key of ODD_KEYS) expect(await values.get(key)).toEqual({ key });
    for (const key of ODD_KEYS) await values.delete(key);
    for (const key of ODD_KEYS) expect(await values.get(key)).toBeUndefined();
  });

  test(`actions under the lock of a key run one at a time in ${name}, those of other keys at once`, async () => {
    const values = await open();
    const log: string[] = [];
    const run = (key: string, n: number): Promise<number> =>
      values.lock(key, async () => {
        log.push(`${key}${n} begins`);
        await new Promise((resolve) => setTimeout(resolve, 5));
        log.push(`${key}${n} ends`);
        return n;
      });
    expect(await Promise.all([run('a', 1), run('a', 2), run('b', 3), run('a', 4)])).toEqual([1, 2, 3, 4]);
    const ofA = log.filter((line) => line.startsWith('a'));
    expect(ofA).toEqual(['a1 begins', 'a1 ends', 'a2 begins', 'a2 ends', 'a4 begins', 'a4 ends']);
    expect(log.indexOf('b3 begins')).toBeLessThan(log.indexOf('a2 ends'));
  });
});

test('a value is returned until its time is over', async () => {
  let now = 1000;
  const values = asKeyValue<string>(createMemoryStore(), { now: () => now });
  await values.set('a', 'x', 500);
  await values.set('b', 'y');
  now = 1499;
  expect(await values.get('a')).toBe('x');
  now = 1500;
  expect(await values.get('a')).toBeUndefined();
  expect(await values.get('b')).toBe('y');
  await values.set('a', 'z');
  expect(await values.get('a')).toBe('z');
  await values.set('a', 'z', 0);
  expect(await values.get('a')).toBeUndefined();
  await expect(values.set('b', 'z', Number.NaN)).rejects.toThrow('a number of milliseconds, not NaN');
  expect(await values.get('b')).toBe('y');
});

test('a value of more than 1 MiB of JSON is refused, and the earlier one stays', async () => {
  const values = asKeyValue<string>(createMemoryStore());
  const largest = 'x'.repeat(1024 * 1024 - 2);
  await values.set('a', largest);
  await expect(values.set('a', `${largest}x`)).rejects.toThrow(
    'the value has 1048577 bytes in JSON, and 1048576 are allowed',
  );
  expect(await values.get('a')).toBe(largest);
  await asKeyValue<string>(createMemoryStore(), { largestValue: 4 }).set('a', 'xx');
});

test('a value without JSON is refused, and the earlier one stays', async () => {
  const values = asKeyValue<unknown>(createMemoryStore());
  await values.set('a', 1);
  for (const value of [undefined, () => {}, 1n])
    await expect(values.set('a', value)).rejects.toThrow(TypeError);
  expect(await values.get('a')).toBe(1);
});

test.each(['', '{', 'null', '{"key":"b","value":1}', '{"value":1}'])(
  'a damaged record is an error for its key alone until it is replaced: %j',
  async (text) => {
    const { folder, store } = inFiles();
    const values = asKeyValue<string>(store);
    await values.set('a', 'secret');
    const [file = ''] = readdirSync(folder);
    await values.set('b', 'other');
    writeFileSync(join(folder, file), text);
    const error = await values.get('a').catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(StoreError);
    expect(error).toMatchObject({ place: join(folder, file) });
    expect(await values.get('b')).toBe('other');
    await values.set('a', 'new');
    expect(await values.get('a')).toBe('new');
  },
);

test('a record copied to the name of another is an error that does not quote it', async () => {
  const { folder, store } = inFiles();
  const values = asKeyValue<string>(store);
  await values.set('a', 'hush');
  const [one = ''] = readdirSync(folder);
  await values.set('b', 'other');
  const other = readdirSync(folder).find((name) => name !== one) ?? '';
  copyFileSync(join(folder, one), join(folder, other));
  const error = (await values.get('b').catch((thrown: unknown) => thrown)) as Error;
  expect(error.message).toBe(`${join(folder, other)} is damaged. Delete it to start over.`);
});

test('file names do not show keys, and an encrypted store shows neither keys nor values', async () => {
  const { folder, store } = inFiles();
  const values = asKeyValue<string>(await createEncryptedStore(store, Buffer.alloc(32, 7)));
  await values.set('google:me@example.com', 'hush');
  await values.lock('google:me@example.com', async () => {});
  for (const name of readdirSync(folder)) {
    expect(name).toMatch(/^[0-9a-f]{64}$/u);
    expect(readFileSync(join(folder, name), 'latin1')).not.toMatch(/google|hush|pid/u);
  }
  const plain = inFiles();
  await asKeyValue(plain.store).set('google:me@example.com', 'hush');
  expect(readdirSync(plain.folder).join()).toMatch(/^kv-[0-9a-f]{60}$/u);
});

test('asKeyValue makes a key-value store of the type of its values', () => {
  expectTypeOf(asKeyValue<number>(createMemoryStore())).toExtend<KeyValueStore<number>>();
  expectTypeOf(asKeyValue<number>(createMemoryStore()).get).returns.resolves.toEqualTypeOf<
    number | undefined
  >();
});
