import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { readWhole } from './read-file.ts';

let folder: string;
beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'weir-read-'))));
afterEach(() => rmSync(folder, { recursive: true, force: true }));

test('a file is read up to its limit', () => {
  const file = join(folder, 'file');
  writeFileSync(file, 'x'.repeat(1000));
  expect(readWhole(file, { most: 1000 }).length).toBe(1000);
  expect(() => readWhole(file, { most: 999 })).toThrow(/is larger than/u);
  expect(() => readWhole(folder, { most: 1000 })).toThrow(`${folder} is a directory`);
});

describe.skipIf(process.platform === 'win32')('a pipe', () => {
  const pipe = (): string => {
    const path = join(folder, 'pipe');
    spawnSync('mkfifo', [path]);
    return path;
  };

  test('is refused unless it is allowed', () => {
    expect(() => readWhole(pipe(), { most: 10 })).toThrow('is not a file but a device or a pipe');
  });

  test('is given up after its time limit', () => {
    expect(() => readWhole(pipe(), { most: 10, pipeMs: 50 })).toThrow('was not written to its end within');
  });

  test('is read to its end, however slowly it is written', () => {
    const path = pipe();
    spawn('sh', ['-c', `sleep 0.1; exec >'${path}'; printf one; sleep 0.1; printf two`]);
    expect(readWhole(path, { most: 10, pipeMs: 10_000 }).toString()).toBe('onetwo');
  });

  test('is read up to its limit', () => {
    const path = pipe();
    spawn('sh', ['-c', `exec cat /dev/zero >'${path}'`]);
    expect(() => readWhole(path, { most: 100_000, pipeMs: 10_000 })).toThrow(/is larger than/u);
  });
});
