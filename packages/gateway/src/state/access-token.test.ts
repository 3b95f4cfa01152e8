import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openEncryptedStore } from '@weir/server/store';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { verifies } from '../../../../tests/verifies.ts';
import { stateToken } from './access-token.ts';

let folder: string;
beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'weir-token-'))));
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const secretFile = (state: string): string => {
  const secrets = join(state, 'secrets');
  return join(secrets, readdirSync(secrets)[0] ?? '');
};

verifies('SAFE-1', 'the access token is made once and stays the same', async () => {
  const state = join(folder, 'deep', 'state');
  const first = await stateToken(state);
  expect(first).toEqual({ token: expect.stringMatching(/^[\w-]{43}$/u) as unknown });
  expect(await stateToken(state)).toEqual(first);
  expect(readdirSync(state).toSorted()).toEqual(['master.key', 'secrets']);
});

verifies('SAFE-1', 'the access token is encrypted on disk and readable only by its owner', async () => {
  const env = { WEIR_MASTER_KEY: Buffer.alloc(32, 5).toString('base64') };
  const { token } = await stateToken(folder, env);
  expect(readdirSync(folder)).toEqual(['secrets']);
  expect(readFileSync(secretFile(folder), 'latin1')).not.toContain(token);
  expect((await stateToken(folder, env)).token).toBe(token);
  if (process.platform !== 'win32') expect(statSync(secretFile(folder)).mode & 0o777).toBe(0o600);
});

verifies('SAFE-1', 'twenty first starts at the same time agree on one access token', async () => {
  const tokens = await Promise.all(Array.from({ length: 20 }, () => stateToken(folder)));
  expect(new Set(tokens.map(({ token }) => token)).size).toBe(1);
});

verifies(
  'SAFE-1',
  'the access token is new at each start where it cannot be stored, with a warning',
  async () => {
    const none = [await stateToken(undefined), await stateToken(undefined)];
    expect(none[0]?.token).not.toBe(none[1]?.token);
    expect(none[0]?.warning).toBe('The token is for this run only: there is no state folder');
    writeFileSync(join(folder, 'file'), '');
    expect((await stateToken(join(folder, 'file'))).warning).toContain('for this run only');
  },
);

test('stateToken warns of a token that it cannot decrypt and does not overwrite it', async () => {
  const { token } = await stateToken(folder);
  const other = await stateToken(folder, { WEIR_MASTER_KEY: Buffer.alloc(32, 5).toString('base64') });
  expect(other.token).not.toBe(token);
  expect(other.warning).toContain('The master key of WEIR_MASTER_KEY is not the one that the secrets in');
  expect((await stateToken(folder)).token).toBe(token);
});

test('stateToken warns of a secret that does not hold a token and does not overwrite it', async () => {
  const secrets = await openEncryptedStore({ folder, env: {} });
  await secrets.set('access-token', Buffer.from('short'));
  expect((await stateToken(folder)).warning).toContain('does not hold a token. Delete it');
  expect(String(await secrets.get('access-token'))).toBe('short');
});

test.skipIf(process.platform === 'win32')(
  'stateToken uses a master key that other users can read, with a warning',
  async () => {
    const { token } = await stateToken(folder);
    chmodSync(join(folder, 'master.key'), 0o644);
    const again = await stateToken(folder);
    expect(again.token).toBe(token);
    expect(again.warning).toContain('chmod 600');
  },
);
