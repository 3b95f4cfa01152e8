// The master key in a real keychain: GNOME's, on a message bus of its own.
import { spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openEncryptedStore } from '@weir/server/store';
import { afterAll, describe, expect, test, vi } from 'vitest';
import { masterKey } from '../../../packages/server/src/store/master-key.ts';
import { startKeyring, whyNoKeyring } from '../../../scripts/keyring.mjs';
import { commandFor, fixture, temporaryFolder } from '../../support/harness.ts';
import { startServe } from '../../support/http.ts';
import { isAlive, until } from '../../support/processes.ts';

const tried = await tryKeyring();
const reason = typeof tried === 'string' ? tried : undefined;
const keyring = typeof tried === 'string' ? undefined : tried;
const env: Record<string, string> = { ...keyring?.env, WEIR_MASTER_KEY: 'keychain' };

afterAll(() => keyring?.stop());

describe.skipIf(reason !== undefined)(
  `a keychain that has no key yet${reason === undefined ? '' : ` (${reason})`}`,
  () => {
    test('concurrent first starts get the same new key from the keychain, and no folder has it', async () => {
      const folders = Array.from({ length: 4 }, temporaryFolder);
      const served = await Promise.all(folders.map((folder) => serve(folder, env)));
      expect(served.map(({ stderr }) => stderr).join('')).not.toContain('for this run only');
      const tokens = await Promise.all(folders.map((folder) => keptToken(join(folder, 'state'))));
      expect(tokens).toEqual(served.map(({ token }) => token));
    });

    test('a locked keychain refuses its key, and has the same key once unlocked', async () => {
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
  'a keychain command that waits for a user ends with the gateway (needs Linux)',
  async () => {
    const folder = temporaryFolder();
    const script = '#!/bin/sh\necho $$ >"$HOME/pid"\nexec sleep 60\n';
    writeFileSync(join(folder, 'secret-tool'), script, { mode: 0o755 });
    const PATH = `${folder}:${process.env['PATH']}`;
    const {
      command,
      args,
      cwd,
      env: variables,
    } = commandFor(
      { echo: fixture('echo') },
      { as: 'weir', folder, env: { PATH, WEIR_MASTER_KEY: 'keychain' } },
    );
    const [program = '', ...options] = args;
    const child = spawn(command, [program, 'serve', ...options], { env: variables, cwd, stdio: 'ignore' });
    const ended = new Promise((resolve) => child.once('exit', resolve));
    await until(
      () => existsSync(join(folder, 'pid')) && readFileSync(join(folder, 'pid'), 'utf8') !== '',
      10_000,
    );
    child.kill('SIGTERM');
    await ended;
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

/** Serves on HTTP, which needs a token, and ends. */
async function serve(
  folder: string,
  variables: Record<string, string>,
): Promise<{ token: string; stderr: string }> {
  await using served = await startServe({ echo: fixture('echo') }, { folder, env: variables });
  return { token: served.token, stderr: served.stderr };
}

/** Returns the token that the key in the keychain decrypts. */
async function keptToken(folder: string): Promise<string> {
  expect(existsSync(join(folder, 'master.key'))).toBe(false);
  const secrets = await openEncryptedStore({ folder, env, logger: { warn: (text) => expect.fail(text) } });
  return String(await secrets.get('access-token'));
}
