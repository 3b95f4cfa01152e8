import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openEncryptedStore } from './open-encrypted-store.ts';

let folder: string;
beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'weir-own-'))));
afterEach(() => rmSync(folder, { recursive: true, force: true }));

test('openEncryptedStore makes a key and keeps values that the next start reads', async () => {
  const deep = join(folder, 'deep', 'state');
  await (await openEncryptedStore({ folder: deep, env: {} })).set('a', Buffer.from('hush'));
  expect(String(await (await openEncryptedStore({ folder: deep, env: {} })).get('a'))).toBe('hush');
  expect(readdirSync(deep).toSorted()).toEqual(['master.key', 'secrets']);
});

test('openEncryptedStore reads the key in the variable of its name and warns of nothing', async () => {
  const env = { MY_NOTES_MASTER_KEY: 'ab'.repeat(32) };
  const logger = { warn: (text: string) => expect.fail(text) };
  await (await openEncryptedStore({ folder, env, name: 'my-notes', logger })).set('a', Buffer.from('hush'));
  expect(readdirSync(folder)).toEqual(['secrets']);
});

test.skipIf(process.platform === 'win32')(
  'openEncryptedStore warns of a key that other users can read',
  async () => {
    await openEncryptedStore({ folder, env: {} });
    chmodSync(join(folder, 'master.key'), 0o644);
    const warnings: string[] = [];
    await openEncryptedStore({ folder, env: {}, logger: { warn: (text) => warnings.push(text) } });
    expect(warnings).toEqual([
      `Other users can read ${join(folder, 'master.key')}. Run: chmod 600 ${join(folder, 'master.key')}`,
    ]);
  },
);

test.skipIf(process.platform === 'win32')(
  'openEncryptedStore refuses a folder that other users can write to, and a file in its place',
  async () => {
    const open = join(folder, 'open');
    mkdirSync(open);
    chmodSync(open, 0o777);
    expect(statSync(open).mode & 0o777).toBe(0o777);
    await expect(openEncryptedStore({ folder: open, env: {} })).rejects.toThrow(
      `The folder ${open} is not used: other users can write to it.`,
    );
    writeFileSync(join(folder, 'file'), '');
    await expect(openEncryptedStore({ folder: join(folder, 'file'), env: {} })).rejects.toThrow(
      'it is not a folder. Name another folder.',
    );
    expect(readdirSync(open)).toEqual([]);
  },
);

const key = (byte: number): string => Buffer.alloc(32, byte).toString('hex');
const provided = (byte: number): { folder: string; env: Record<string, string> } => ({
  folder,
  env: { WEIR_MASTER_KEY: key(byte) },
});

test('openEncryptedStore makes no new key beside secrets whose key was deleted', async () => {
  await (await openEncryptedStore({ folder, env: {} })).set('a', Buffer.from('hush'));
  const kept = readFileSync(join(folder, 'master.key'));
  unlinkSync(join(folder, 'master.key'));
  const secrets = join(folder, 'secrets');
  await expect(openEncryptedStore({ folder, env: {} })).rejects.toThrow(
    `${folder} holds secrets, but its master key ${join(folder, 'master.key')} is missing. No new key is made, which could not open them: restore the old key, or delete ${secrets} to start over`,
  );
  expect(readdirSync(folder)).toEqual(['secrets']);
  writeFileSync(join(folder, 'master.key'), kept, { mode: 0o600 });
  expect(String(await (await openEncryptedStore({ folder, env: {} })).get('a'))).toBe('hush');
  rmSync(secrets, { recursive: true });
  unlinkSync(join(folder, 'master.key'));
  await (await openEncryptedStore({ folder, env: {} })).set('a', Buffer.from('new'));
});

test.each(['with', 'without'])(
  'openEncryptedStore refuses another key than that of the secrets, in a folder %s a check record',
  async (kind) => {
    const store = await openEncryptedStore(provided(1));
    for (const name of ['a', 'b']) await store.set(name, Buffer.from('hush'));
    const check = join(folder, 'secrets', 'key-check');
    if (kind === 'without') unlinkSync(check);
    await expect(openEncryptedStore(provided(2))).rejects.toThrow(
      `The master key of WEIR_MASTER_KEY is not the one that the secrets in ${join(folder, 'secrets')} were encrypted with: provide that key, or delete`,
    );
    // One that is damaged does not lock the others up.
    writeFileSync(store.locate('b'), 'damaged');
    const again = await openEncryptedStore(provided(1));
    expect(String(await again.get('a'))).toBe('hush');
    expect((await again.list()).map(({ name }) => name)).toEqual(['a']);
    await again.set('b', Buffer.from('mended'));
    expect(existsSync(check)).toBe(true);
  },
);

test('the first of two stores with different keys that writes decides on the key', async () => {
  const [one, other] = [await openEncryptedStore(provided(1)), await openEncryptedStore(provided(2))];
  await one.set('a', Buffer.from('hush'));
  for (let attempt = 0; attempt < 2; attempt++) {
    await expect(other.set('b', Buffer.from('hush'))).rejects.toThrow('is not the one that the secrets');
    await expect(other.update('b', () => Buffer.from('hush'))).rejects.toThrow('is not the one');
  }
  expect((await one.list()).map(({ name }) => name)).toEqual(['a']);
  expect(readdirSync(join(folder, 'secrets'))).toHaveLength(2);
});

test('a file of another program in the folder of the secrets is not taken for one', async () => {
  mkdirSync(join(folder, 'secrets'));
  writeFileSync(join(folder, 'secrets', 'notes'), 'x');
  await (await openEncryptedStore({ folder, env: {} })).set('a', Buffer.from('hush'));
});
