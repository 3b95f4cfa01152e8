import { chmodSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect } from 'vitest';
import { verifies } from '../../../tests/verifies.ts';
import { CodeCache } from './code-cache.ts';

const CODE = Buffer.from('compiled');
let home: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'weir-code-'));
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

function cacheFor(
  hash: string,
  env: NodeJS.ProcessEnv = { XDG_CACHE_HOME: home },
  uid = ownUid(),
): CodeCache {
  return new CodeCache({ env, version: 'v20.19.0', arch: 'x64', pid: 1, getuid: () => uid }, hash);
}

function ownUid(): number {
  return process.getuid?.() ?? 0;
}

const folder = (): string => join(home, 'weir');
const onlyFile = (): string => join(folder(), readdirSync(folder())[0] ?? '');

describe('the code cache', () => {
  verifies('PERF-1', 'the code cache is read by the next start of the same bundle and by no other', () => {
    expect(cacheFor('a').read()).toBeUndefined();
    cacheFor('a').store(() => CODE);
    expect(cacheFor('a').read()).toEqual(CODE);
    expect(cacheFor('b').read()).toBeUndefined();
  });

  verifies(
    'PERF-1',
    'the code cache is readable only by its owner, and ignored if other users can write it',
    () => {
      cacheFor('a').store(() => CODE);
      expect(statSync(folder()).mode & 0o777).toBe(0o700);
      expect(statSync(onlyFile()).mode & 0o777).toBe(0o600);
      expect(cacheFor('a', undefined, ownUid() + 1).read()).toBeUndefined();
      chmodSync(onlyFile(), 0o622);
      expect(cacheFor('a').read()).toBeUndefined();
    },
  );

  verifies('PERF-1', 'the code cache is stored in the cache folder of the system, or not at all', () => {
    cacheFor('a', { HOME: home }).store(() => CODE);
    expect(readdirSync(join(home, '.cache', 'weir'))).toHaveLength(1);
    for (const env of [{}, { HOME: 'relative' }, { HOME: '/proc/nowhere' }]) {
      cacheFor('a', env).store(() => CODE);
      expect(cacheFor('a', env).read()).toBeUndefined();
    }
  });

  verifies('PERF-1', 'the code cache replaces the oldest of 16 files', () => {
    for (let n = 0; n < 30; n++) cacheFor(`hash${n}`).store(() => CODE);
    expect(readdirSync(folder())).toHaveLength(16);
    expect(cacheFor('hash29').read()).toEqual(CODE);
    expect(cacheFor('hash28').read()).toEqual(CODE);
  });

  verifies('PERF-1', 'the code cache is not written while another process writes it', () => {
    cacheFor('a').store(() => CODE);
    writeFileSync(`${onlyFile()}.1`, 'of another that runs under the same number');
    cacheFor('a').store(() => Buffer.from('other'));
    expect(cacheFor('a').read()).toEqual(CODE);
  });
});
