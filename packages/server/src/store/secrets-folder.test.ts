import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
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
