import { chmodSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { masterKey } from './master-key.ts';

let folder: string;
beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'weir-key-'))));
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const bytes = Buffer.alloc(32, 0xab);

test.each([
  ['base64', bytes.toString('base64')],
  ['base64url', bytes.toString('base64url')],
  ['hex', bytes.toString('hex')],
])('masterKey reads a key in %s from the environment or from a file that it names', async (_, text) => {
  expect(await masterKey({ env: { WEIR_MASTER_KEY: text }, folder })).toEqual({
    bytes,
    source: 'WEIR_MASTER_KEY',
  });
  const file = join(folder, 'given');
  writeFileSync(file, `${text}\n`, { mode: 0o600 });
  expect(await masterKey({ env: { WEIR_MASTER_KEY_FILE: file }, folder })).toEqual({ bytes, source: file });
  expect(readdirSync(folder)).toEqual(['given']);
});

test('masterKey creates a missing key once, in a file readable only by its owner', async () => {
  const state = join(folder, 'deep', 'state');
  const keys = await Promise.all(Array.from({ length: 10 }, () => masterKey({ env: {}, folder: state })));
  expect(new Set(keys.map((key) => key.bytes.toString('hex'))).size).toBe(1);
  expect(keys[0]?.bytes).toHaveLength(32);
  expect(readdirSync(state)).toEqual(['master.key']);
  if (process.platform === 'win32') return;
  expect(statSync(join(state, 'master.key')).mode & 0o777).toBe(0o600);
  chmodSync(join(state, 'master.key'), 0o644);
  expect((await masterKey({ env: {}, folder: state })).warning).toContain('chmod 600');
});

test.each([['short'], ['x'.repeat(64)], ['a'.repeat(42)]])(
  'masterKey rejects a text that is not a key without showing it: %s',
  async (text) => {
    const refusal: unknown = await masterKey({ env: { WEIR_MASTER_KEY: text }, folder }).catch(
      (error: unknown) => error,
    );
    expect((refusal as Error).message).toContain('WEIR_MASTER_KEY does not hold a master key');
    expect((refusal as Error).message).not.toContain(text);
  },
);

test('masterKey fails where WEIR_MASTER_KEY_FILE is missing, and creates no key', async () => {
  const env = { WEIR_MASTER_KEY_FILE: join(folder, 'gone') };
  await expect(masterKey({ env, folder })).rejects.toThrow(/WEIR_MASTER_KEY_FILE.*ENOENT/u);
  expect(readdirSync(folder)).toEqual([]);
});

test('masterKey reads variables that bear the name of the program', async () => {
  const key = bytes.toString('hex');
  const env = { WEIR_MASTER_KEY: 'short', MY_NOTES_MASTER_KEY: key };
  expect(await masterKey({ env, folder, name: 'my-notes' })).toMatchObject({ bytes });
  const message = 'NOTES_MASTER_KEY does not hold a master key';
  await expect(masterKey({ env: { NOTES_MASTER_KEY: 'x' }, folder, name: 'notes' })).rejects.toThrow(message);
});

test.each(['', 'Notes', 'a b', 'a"', '-w', 'a\nb', 'x'.repeat(65)])(
  'masterKey refuses a name that commands of a keychain could misread: %j',
  async (name) => {
    await expect(masterKey({ env: {}, folder, name })).rejects.toThrow('small letters, digits and hyphens');
    expect(readdirSync(folder)).toEqual([]);
  },
);
