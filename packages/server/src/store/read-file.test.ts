import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { readWhole } from './read-file.ts';

let folder: string;
beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'weir-read-'))));
afterEach(() => rmSync(folder, { recursive: true, force: true }));

test('readWhole reads a file up to its limit and rejects a folder', () => {
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

  test('readWhole rejects a pipe unless pipes are allowed', () => {
    expect(() => readWhole(pipe(), { most: 10 })).toThrow('is not a file but a device or a pipe');
  });

  test('readWhole gives a pipe up after its time limit', () => {
    expect(() => readWhole(pipe(), { most: 10, pipeMs: 50 })).toThrow('that its writer did not close within');
  });

  test('readWhole reads a pipe to its end even if it is written slowly', () => {
    const path = pipe();
    spawn('sh', ['-c', `sleep 0.1; exec >'${path}'; printf one; sleep 0.1; printf two`]);
    expect(readWhole(path, { most: 10, pipeMs: 10_000 }).toString()).toBe('onetwo');
  });

  test('readWhole rejects a pipe that yields more than the limit', () => {
    const path = pipe();
    spawn('sh', ['-c', `exec cat /dev/zero >'${path}'`]);
    expect(() => readWhole(path, { most: 100_000, pipeMs: 10_000 })).toThrow(/is larger than/u);
  });
});
