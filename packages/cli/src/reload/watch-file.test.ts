import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, unlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { until } from '../../../../tests/support/processes.ts';
import { verifies } from '../../../../tests/verifies.ts';
import { fingerprint } from './fingerprint.ts';
import { watchFile } from './watch-file.ts';

const folder = mkdtempSync(join(tmpdir(), 'weir-watch-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function watched(path: string): { changes: () => number; [Symbol.dispose](): void } {
  let changes = 0;
  const watch = watchFile(path, {
    known: fingerprint(path),
    changed: () => changes++,
    failed: (reason) => expect.fail(reason),
    lookMs: 20,
  });
  return { changes: () => changes, [Symbol.dispose]: () => watch.close() };
}

/** Waits until only file system events report a change. */
function looksAreOver(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 150));
}

function file(name: string): string {
  const path = join(mkdtempSync(join(folder, 'x-')), name);
  writeFileSync(path, '1');
  return path;
}

verifies(
  'HEALTH-3',
  'watchFile reports that a file is written, replaced, removed and created again',
  async () => {
    const path = file('mcp.json');
    using watch = watched(path);
    writeFileSync(path, '22');
    await until(() => watch.changes() === 1);
    writeFileSync(`${path}~`, '333');
    renameSync(`${path}~`, path);
    await until(() => watch.changes() === 2);
    unlinkSync(path);
    await until(() => watch.changes() === 3);
    writeFileSync(path, '4444');
    await until(() => watch.changes() === 4);
  },
);

verifies(
  'HEALTH-3',
  'watchFile reports several writes in a row as one change, even in a busy folder',
  async () => {
    const path = file('mcp.json');
    using watch = watched(path);
    const noise = setInterval(() => writeFileSync(`${path}.log`, String(Math.random())), 5);
    for (let times = 0; times < 10; times++) writeFileSync(path, 'x'.repeat(times + 2));
    await until(() => watch.changes() > 0);
    await new Promise((resolve) => setTimeout(resolve, 200));
    clearInterval(noise);
    expect(watch.changes()).toBe(1);
  },
);

test('watchFile follows a linked folder that is replaced', async () => {
  const root = mkdtempSync(join(folder, 'x-'));
  for (const name of ['one', 'two']) {
    mkdirSync(join(root, name));
    writeFileSync(join(root, name, 'mcp.json'), name);
  }
  symlinkSync('one', join(root, 'data'));
  symlinkSync(join('data', 'mcp.json'), join(root, 'mcp.json'));
  using watch = watched(join(root, 'mcp.json'));
  symlinkSync('two', join(root, 'data.new'));
  renameSync(join(root, 'data.new'), join(root, 'data'));
  await until(() => watch.changes() === 1);
  writeFileSync(join(root, 'two', 'mcp.json'), 'changed');
  await until(() => watch.changes() === 2);
});

test('watchFile follows a changed link in the path of the file', async () => {
  const root = mkdtempSync(join(folder, 'x-'));
  for (const name of ['one', 'two']) {
    mkdirSync(join(root, name));
    writeFileSync(join(root, name, 'mcp.json'), name);
  }
  symlinkSync('one', join(root, 'current'));
  using watch = watched(join(root, 'current', 'mcp.json'));
  await looksAreOver();
  symlinkSync('two', join(root, 'current.new'));
  renameSync(join(root, 'current.new'), join(root, 'current'));
  await until(() => watch.changes() === 1);
  writeFileSync(join(root, 'two', 'mcp.json'), 'changed');
  await until(() => watch.changes() === 2);
});

verifies('HEALTH-3', 'watchFile follows a file whose folder is replaced by another', async () => {
  const path = file('mcp.json');
  const [own, other] = [dirname(path), `${dirname(path)}-new`];
  mkdirSync(other);
  writeFileSync(join(other, 'mcp.json'), '22');
  using watch = watched(path);
  await looksAreOver();
  renameSync(own, `${own}-old`);
  renameSync(other, own);
  await until(() => watch.changes() === 1);
  writeFileSync(path, '333');
  await until(() => watch.changes() === 2);
});

verifies('HEALTH-3', 'watchFile follows a file whose folder is removed and created again', async () => {
  const path = file('mcp.json');
  using watch = watched(path);
  await looksAreOver();
  rmSync(dirname(path), { recursive: true });
  await until(() => watch.changes() === 1);
  mkdirSync(dirname(path));
  await looksAreOver();
  writeFileSync(path, '4444');
  await until(() => watch.changes() === 2);
});

verifies('HEALTH-3', 'watchFile reports a change from before the watch', async () => {
  const path = file('mcp.json');
  let changes = 0;
  const watch = watchFile(path, { known: 'other', changed: () => changes++, failed() {}, lookMs: 20 });
  await until(() => changes === 1);
  watch.close();
});
