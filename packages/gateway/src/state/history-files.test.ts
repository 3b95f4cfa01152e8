import { appendFileSync, mkdtempSync, promises, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { verifies } from '../../../../tests/verifies.ts';
import { HistoryFiles, readHistory, type HistoryFilesOptions } from './history-files.ts';

let state: string;
let failures: string[];
let time: number;
beforeEach(() => {
  state = mkdtempSync(join(tmpdir(), 'weir-history-'));
  failures = [];
  time = Date.UTC(2026, 0, 1);
});
afterEach(() => rmSync(state, { recursive: true, force: true }));

function filesOf(pid: number, rules: HistoryFilesOptions['rules'] = {}): HistoryFiles {
  const onFailed = (reason: string): void => void failures.push(reason);
  return new HistoryFiles({ state, pid, now: () => time++, onFailed, rules });
}

function names(): string[] {
  return readdirSync(join(state, 'history')).toSorted();
}

verifies(
  'HEALTH-7',
  'history lines are read back in order, from files readable only by their owner',
  async () => {
    const files = filesOf(7);
    for (let line = 0; line < 1000; line += 2) {
      files.append(`{"line":${line}}\n{"line":${line + 1}}\n`);
      await files.flush();
    }
    await files.flush();
    expect(readHistory(state)).toEqual(Array.from({ length: 1000 }, (_, line) => ({ line })));
    expect(names()).toHaveLength(1);
    if (process.platform === 'win32') return;
    expect(statSync(join(state, 'history')).mode & 0o777).toBe(0o700);
    expect(statSync(join(state, 'history', names()[0] ?? '')).mode & 0o777).toBe(0o600);
  },
);

verifies('HEALTH-7', 'history lines that wait for the disk are written in order, up to a limit', async () => {
  const files = filesOf(7);
  for (let line = 0; line < 500; line++) files.append(`{"line":${line}}\n`);
  await files.flush();
  expect(readHistory(state)).toEqual(Array.from({ length: 500 }, (_, line) => ({ line })));
  const padding = 'x'.repeat(1024 * 1024);
  for (let line = 0; line < 20; line++) files.append(`{"line":${line},"padding":"${padding}"}\n`);
  await files.flush();
  expect(readHistory(state).slice(500)).toHaveLength(9);
  files.append('{"line":"next"}\n');
  await files.flush();
  expect(readHistory(state).at(-1)).toEqual({ line: 'next' });
});

verifies('HEALTH-7', 'two processes write their history to files of their own', async () => {
  const both = [filesOf(1), filesOf(2)];
  for (let line = 0; line < 500; line++) {
    both.forEach((files, by) => files.append(`${JSON.stringify({ by, line })}\n`));
    await Promise.all(both.map((files) => files.flush()));
  }
  expect(names()).toHaveLength(2);
  expect(readHistory(state)).toHaveLength(1000);
});

verifies(
  'HEALTH-7',
  'a full history file is followed by a new one, and the oldest files are deleted',
  async () => {
    const rules = { largestFile: 1000, largestFolder: 4000 };
    const files = filesOf(7, rules);
    for (let batch = 0; batch < 40; batch++) {
      files.append(`${JSON.stringify({ batch, padding: 'x'.repeat(200) })}\n`);
      await files.flush();
    }
    const sizes = names().map((name) => statSync(join(state, 'history', name)).size);
    expect(sizes.length).toBeGreaterThan(2);
    expect(sizes.reduce((one, other) => one + other)).toBeLessThanOrEqual(4000 + 300);
    expect(readHistory(state).at(-1)).toMatchObject({ batch: 39 });
  },
);

verifies('HEALTH-7', 'history files have 4 MiB each and 16 MiB together by default', async () => {
  const files = filesOf(7);
  const megabyte = 1024 * 1024;
  const rest = `${JSON.stringify({ padding: '' })}\n`.length;
  for (let n = 0; n < 30; n++) {
    files.append(`${JSON.stringify({ padding: 'x'.repeat(megabyte - rest) })}\n`);
    await files.flush();
  }
  const sizes = names().map((name) => statSync(join(state, 'history', name)).size / megabyte);
  expect(sizes).toEqual([4, 4, 4, 2]);
  expect(readHistory(state)).toHaveLength(14);
});

verifies('HEALTH-7', 'many short-lived processes leave at most "mostFiles" history files', async () => {
  for (let pid = 1; pid <= 12; pid++) {
    const files = filesOf(pid, { mostFiles: 5 });
    files.append(`${JSON.stringify({ pid })}\n`);
    await files.flush();
  }
  expect(readHistory(state)).toEqual([8, 9, 10, 11, 12].map((pid) => ({ pid })));
});

test('readHistory skips an incomplete line and ignores other files', async () => {
  const files = filesOf(7);
  files.append('{"a":1}\n');
  await files.flush();
  appendFileSync(join(state, 'history', names()[0] ?? ''), '{"b":');
  writeFileSync(join(state, 'history', 'notes.txt'), '{"c":1}\n');
  expect(readHistory(state)).toEqual([{ a: 1 }]);
});

test('history files report a failed write once and accept further lines', async () => {
  writeFileSync(join(state, 'history'), '');
  const files = filesOf(7);
  for (let times = 0; times < 3; times++) {
    files.append('{}\n');
    await files.flush();
  }
  expect(failures).toHaveLength(1);
  expect(readHistory(state)).toEqual([]);
});

test('a history on a full disk keeps the lines written before', async () => {
  const before = filesOf(1);
  before.append('{"kept":1}\n');
  await before.flush();
  // A name can be had on a full disk, but no byte.
  const full = vi.spyOn(promises, 'appendFile').mockImplementation(async (file) => {
    writeFileSync(file as string, '', { flag: 'a' });
    throw new Error('ENOSPC');
  });
  const files = filesOf(7, { mostFiles: 5 });
  for (let times = 0; times < 10; times++) {
    files.append('{"lost":1}\n');
    await files.flush();
  }
  full.mockRestore();
  files.append('{"kept":2}\n');
  await files.flush();
  expect(readHistory(state)).toEqual([{ kept: 1 }, { kept: 2 }]);
  expect(names()).toHaveLength(2);
});
