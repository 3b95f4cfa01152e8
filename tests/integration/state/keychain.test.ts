// The master key in a real keychain: GNOME's, on a message bus of its own.
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, test, vi } from 'vitest';
import { masterKey } from '../../../packages/gateway/src/state/master-key.ts';
import { openStore } from '../../../packages/gateway/src/state/store.ts';
import { startKeyring, whyNoKeyring } from '../../../scripts/keyring.mjs';
import { fixture, startWeir, temporaryFolder } from '../../support/harness.ts';
import { isAlive, until } from '../../support/processes.ts';

const tried = await tryKeyring();
const reason = typeof tried === 'string' ? tried : undefined;
const keyring = typeof tried === 'string' ? undefined : tried;
const env: Record<string, string> = { ...keyring?.env, WEIR_MASTER_KEY: 'keychain' };

afterAll(() => keyring?.stop());

describe.skipIf(reason !== undefined)(
  `a keychain that has no key yet${reason === undefined ? '' : ` (${reason})`}`,
  () => {
    test('gives the same new one to gateways that start at once, and no folder has it', async () => {
      const folders = Array.from({ length: 4 }, temporaryFolder);
      const endings = await Promise.all(folders.map((folder) => runGateway(folder, env)));
      expect(endings.map(({ code, stderr }) => ({ code, stderr }))).toEqual(
        folders.map(() => ({ code: 0, stderr: '' })),
      );
      const counts = await Promise.all(folders.map((folder) => countRecords(join(folder, 'state'))));
      expect(counts).toEqual(folders.map(() => 1));
    });

    test('keeps its key when it is locked, and has it when it is unlocked again', async () => {
      const folder = temporaryFolder();
      const { bytes } = await masterKey({ env, folder });
      keyring?.lock();
      await expect(masterKey({ env, folder })).rejects.toThrow(/^The keychain is locked: unlock it, or/u);
      keyring?.unlock();
      const found = await vi.waitFor(() => masterKey({ env, folder }), { timeout: 10_000 });
      expect(found.bytes).toEqual(bytes);
      expect(readdirSync(folder)).toEqual([]);
    });
  },
);

test.skipIf(process.platform !== 'linux')(
  'a command of the keychain that waits for a person ends with the gateway (needs Linux)',
  async () => {
    const folder = temporaryFolder();
    const script = '#!/bin/sh\necho $$ >"$HOME/pid"\nexec sleep 60\n';
    writeFileSync(join(folder, 'secret-tool'), script, { mode: 0o755 });
    const PATH = `${folder}:${process.env['PATH']}`;
    expect((await runGateway(folder, { PATH, WEIR_MASTER_KEY: 'keychain' })).code).toBe(0);
    const pid = Number(readFileSync(join(folder, 'pid'), 'utf8'));
    await until(() => !isAlive(pid));
  },
);

async function tryKeyring(): Promise<Awaited<ReturnType<typeof startKeyring>> | string> {
  const cannot = whyNoKeyring();
  if (cannot !== undefined) return cannot;
  try {
    return await startKeyring();
  } catch (error) {
    return `keyring: ${(error as Error).message.split('\n')[0]}`;
  }
}

/** What it has to remember, that a server has run, is written at its end. */
async function runGateway(
  folder: string,
  variables: Record<string, string>,
): Promise<{ code: number | null; stderr: string }> {
  await using weir = startWeir(
    { echo: fixture('echo') },
    { folder, env: variables, args: ['--separator', '__'] },
  );
  await weir.request('initialize', {
    protocolVersion: '2025-11-25',
    capabilities: {},
    clientInfo: { name: 'test', version: '1' },
  });
  await weir.request('tools/list');
  return await weir.close();
}

/** Those that can be read with the key that the keychain has now. */
async function countRecords(folder: string): Promise<number> {
  expect(existsSync(join(folder, 'master.key'))).toBe(false);
  const warn = (text: string) => expect.fail(text);
  const log = { info() {}, warn, error: warn };
  const store = await openStore({ folder, env, log });
  return (await store.keys()).length;
}
