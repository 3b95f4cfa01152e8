import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { explainSpawnFailure, SpawnError, SpawnFailure, type Attempt } from './spawn-error.ts';

const folder = mkdtempSync(join(tmpdir(), 'weir-spawn-'));
afterAll(() => rmSync(folder, { recursive: true }));
writeFileSync(join(folder, 'plain'), 'no program');
writeFileSync(join(folder, 'script'), '#!/no/such/interpreter\n');
chmodSync(join(folder, 'script'), 0o755);
mkdirSync(join(folder, 'folder'));

const env = { PATH: `/nowhere:${folder}` };

async function explain(code: string, attempt: Omit<Attempt, 'env'>): Promise<[string, string]> {
  const error = await explainSpawnFailure(Object.assign(new Error('raw'), { code }), { env, ...attempt });
  return [error.failure, error.message];
}

test('explainSpawnFailure distinguishes the causes of ENOENT and EACCES', async () => {
  expect(await explain('ENOENT', { command: 'nosuch' })).toEqual([
    SpawnFailure.COMMAND_NOT_FOUND,
    'command not found: "nosuch"; check the spelling, install it, or give its full path (a host\'s PATH is often shorter than a shell\'s)',
  ]);
  expect(await explain('ENOENT', { command: './nosuch', cwd: folder })).toEqual([
    SpawnFailure.COMMAND_NOT_FOUND,
    'command not found: "./nosuch"; check the path',
  ]);
  expect((await explain('ENOENT', { command: './script', cwd: folder }))[0]).toBe(
    SpawnFailure.INTERPRETER_NOT_FOUND,
  );
  expect(await explain('EACCES', { command: 'plain' })).toEqual([
    SpawnFailure.NOT_EXECUTABLE,
    `not executable: "${folder}/plain"; allow it with chmod +x or name a program`,
  ]);
  expect((await explain('EACCES', { command: `${folder}/folder` }))[0]).toBe(SpawnFailure.NOT_EXECUTABLE);
});

test('explainSpawnFailure names a bad working directory before the command', async () => {
  expect(await explain('ENOENT', { command: 'node', cwd: '/no/such/folder' })).toEqual([
    SpawnFailure.NO_WORKING_DIRECTORY,
    'working directory does not exist: "/no/such/folder"; create it or correct "cwd"',
  ]);
  expect((await explain('ENOTDIR', { command: 'node', cwd: join(folder, 'plain') }))[1]).toContain(
    'working directory is not a directory',
  );
});

test('explainSpawnFailure names the root of the client where that is the bad folder', async () => {
  const own = { command: 'node', isClientFolder: true };
  expect(await explain('ENOENT', { ...own, cwd: '/no/such/folder' })).toEqual([
    SpawnFailure.NO_WORKING_DIRECTORY,
    'the client\'s root does not exist: "/no/such/folder"; create it or correct the roots of the client (they must be folders of this machine)',
  ]);
  expect((await explain('ENOTDIR', { ...own, cwd: join(folder, 'plain') }))[1]).toBe(
    `the client's root is not a directory: "${folder}/plain"; correct the roots of the client (they must be folders of this machine)`,
  );
});

test('explainSpawnFailure names a shortage of resources, and keeps the code of other errors', async () => {
  expect(await explain('EMFILE', { command: 'node' })).toEqual([
    SpawnFailure.NO_RESOURCES,
    'too many open files; raise the limit (ulimit -n) or start fewer servers',
  ]);
  expect((await explain('EPERM', { command: 'node' }))[1]).toBe('the system refused to start "node" (EPERM)');
});

test('explainSpawnFailure keeps an explained error and repeats no arguments', async () => {
  const known = new SpawnError(SpawnFailure.OTHER, 'known');
  expect(await explainSpawnFailure(known, { command: 'x', env })).toBe(known);
  const raw = Object.assign(new Error("Received 'secret'"), {
    code: 'ERR_INVALID_ARG_VALUE',
    spawnargs: ['secret'],
  });
  const explained = await explainSpawnFailure(raw, { command: 'x', env });
  expect(explained.message).toContain('NUL character');
  expect(JSON.stringify(explained, Object.getOwnPropertyNames(explained))).not.toContain('secret');
});
