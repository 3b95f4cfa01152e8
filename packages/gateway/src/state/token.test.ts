import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { verifies } from '../../../../tests/verifies.ts';
import { stateToken } from './token.ts';

let folder: string;
beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'weir-token-'))));
afterEach(() => rmSync(folder, { recursive: true, force: true }));

verifies('SAFE-1', 'made once, readable for its owner alone, the same ever after', async () => {
  const state = join(folder, 'deep', 'state');
  const first = await stateToken(state);
  expect(first).toEqual({ token: expect.stringMatching(/^[\w-]{43}$/u) as unknown });
  expect(await stateToken(state)).toEqual(first);
  expect(readdirSync(state)).toEqual(['token']);
  if (process.platform !== 'win32') expect(statSync(join(state, 'token')).mode & 0o777).toBe(0o600);
  expect(readFileSync(join(state, 'token'), 'utf8')).toBe(`${first.token}\n`);
});

verifies('SAFE-1', 'two that start at once agree', async () => {
  const tokens = await Promise.all(Array.from({ length: 20 }, () => stateToken(folder)));
  expect(new Set(tokens.map(({ token }) => token)).size).toBe(1);
});

verifies('SAFE-1', 'another each time where it cannot be kept, and why', async () => {
  const none = [await stateToken(undefined), await stateToken(undefined)];
  expect(none[0]?.token).not.toBe(none[1]?.token);
  expect(none[0]?.warning).toBe('The token is for this run only: there is no state folder');
  writeFileSync(join(folder, 'file'), '');
  expect((await stateToken(join(folder, 'file'))).warning).toContain('for this run only');
});

test('a file that holds no token is named, and not overwritten', async () => {
  writeFileSync(join(folder, 'token'), 'short\n', { mode: 0o600 });
  expect((await stateToken(folder)).warning).toContain('holds no token; delete it');
  expect(readFileSync(join(folder, 'token'), 'utf8')).toBe('short\n');
});

test('one that others can read is used, with a warning', async () => {
  const { token } = await stateToken(folder);
  chmodSync(join(folder, 'token'), 0o644);
  const again = await stateToken(folder);
  expect(again.token).toBe(token);
  if (process.platform !== 'win32') expect(again.warning).toContain('chmod 600');
});
