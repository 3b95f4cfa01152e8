import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { whileLocked } from './file-lock.ts';

let folder: string;
beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'weir-lock-'))));
afterEach(() => {
  vi.useRealTimers();
  rmSync(folder, { recursive: true, force: true });
});

test('an action that a slow disk holds up for 30 s keeps its lock', async () => {
  vi.useFakeTimers();
  const file = join(folder, 'a');
  const log: string[] = [];
  const slow = whileLocked(file, async () => {
    await new Promise((resolve) => setTimeout(resolve, 30_000));
    log.push('slow');
  });
  const next = whileLocked(file, async () => void log.push('next'));
  await vi.advanceTimersByTimeAsync(31_000);
  await Promise.all([slow, next]);
  expect(log).toEqual(['slow', 'next']);
  expect(readdirSync(folder)).toEqual([]);
});
