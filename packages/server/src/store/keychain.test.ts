// The keychain commands are stubs here; tests/integration/state/keychain.test.ts has a real keyring.
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { keychainText } from './keychain.ts';
import { masterKey } from './master-key.ts';

const weir = { name: 'weir', variable: 'WEIR_MASTER_KEY' };

let folder: string;
let env: Record<string, string>;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'weir-keychain-'));
  env = { PATH: `${folder}:/usr/bin:/bin`, KEPT: join(folder, 'kept'), TOLD: join(folder, 'told') };
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** A shell script of this name, first on PATH; it notes its arguments. */
function lazyUpstream(name: string, body: string): void {
  const file = join(folder, name);
  writeFileSync(file, `#!/bin/sh\nprintf '%s\\n' "$*" >>"$TOLD"\n${body}\n`);
  chmodSync(file, 0o755);
}

const told = () => readFileSync(join(folder, 'told'), 'utf8');
const kept = () => readFileSync(join(folder, 'kept'), 'utf8');

async function refusalOf(promise: Promise<unknown>): Promise<string> {
  const refusal = await promise.then(
    () => undefined,
    (error: unknown) => error,
  );
  return (refusal as Error).message;
}

const SECRET_TOOL = `case $1 in
lookup) cat "$KEPT" 2>/dev/null ;;
search) test ! -e "$KEPT" || echo "[/1]" ;;
store) cat >"$KEPT" ;;
esac`;

// As observed: silent, with exit code 1, and the item is listed without its secret.
const LOCKED_SECRET_TOOL = `case $1 in
lookup) exit 1 ;;
search) echo "[/1]"; echo "secret-tool: Cannot get secret of a locked object" >&2 ;;
store) cat >"$KEPT" ;;
esac`;

const SECURITY = `case $1 in
find-generic-password) cat "$KEPT" 2>/dev/null || { echo "could not be found" >&2; exit 44; } ;;
-i) read -r line; test -e "$KEPT" || printf '%s\\n' "\${line##* }" >"$KEPT" ;;
esac`;

describe.skipIf(process.platform !== 'linux')('secret-tool', () => {
  const platform = 'linux';

  test('secret-tool gets a new key once, by stdin, and no file is written', async () => {
    lazyUpstream('secret-tool', SECRET_TOOL);
    const state = join(folder, 'state');
    const options = { env: { ...env, WEIR_MASTER_KEY: 'keychain' }, folder: state };
    const keys = await Promise.all([masterKey(options), masterKey(options), masterKey(options)]);
    const hex = kept();
    expect(hex).toMatch(/^[0-9a-f]{64}$/u);
    expect(keys.map(({ bytes }) => bytes.toString('hex'))).toEqual([hex, hex, hex]);
    expect(told().match(/^store .*/gmu)).toEqual([
      'store --label=Weir master key service weir account master-key',
    ]);
    expect(told()).not.toContain(hex);
    expect(existsSync(state)).toBe(false);
  });

  test('another name asks the keychain for an item of its own', async () => {
    lazyUpstream('secret-tool', SECRET_TOOL);
    const own = { ...env, MY_NOTES_MASTER_KEY: 'keychain' };
    const { bytes } = await masterKey({ env: own, folder, name: 'my-notes' });
    expect(bytes.toString('hex')).toBe(kept());
    expect(told()).toContain('store --label=My-notes master key service my-notes account master-key');
  });

  test('a keychain item that is not a master key is refused and not shown', async () => {
    lazyUpstream('secret-tool', SECRET_TOOL);
    writeFileSync(join(folder, 'kept'), 'hunter2');
    const message = await refusalOf(masterKey({ env: { ...env, WEIR_MASTER_KEY: 'keychain' }, folder }));
    expect(message).toContain("The keychain's item weir/master-key does not hold a master key");
    expect(message).not.toContain('hunter2');
    expect(kept()).toBe('hunter2');
  });

  test('a locked keychain is an error, and its item is not overwritten', async () => {
    lazyUpstream('secret-tool', LOCKED_SECRET_TOOL);
    expect(await refusalOf(keychainText({ ...weir, env, platform }))).toMatch(
      /^The keychain is locked: unlock it, or/u,
    );
    expect(existsSync(join(folder, 'kept'))).toBe(false);
  });

  test('the error quotes a secret-tool that cannot reach a keychain', async () => {
    lazyUpstream('secret-tool', 'echo "secret-tool: Cannot autolaunch D-Bus" >&2; exit 1');
    expect(await refusalOf(keychainText({ ...weir, env, platform }))).toMatch(
      /^The keychain cannot be used \(secret-tool: Cannot autolaunch D-Bus\): .*WEIR_MASTER_KEY_FILE$/u,
    );
  });

  test('the error does not quote a secret-tool that repeats the key', async () => {
    const store = 'value=$(cat); printf %s "$value" >"$KEPT.seen"; echo "no: $value" >&2; exit 1';
    lazyUpstream('secret-tool', `case $1 in lookup) exit 1 ;; store) ${store} ;; esac`);
    const message = await refusalOf(keychainText({ ...weir, env, platform }));
    const seen = readFileSync(join(folder, 'kept.seen'), 'utf8');
    expect(seen).toMatch(/^[0-9a-f]{64}$/u);
    expect(message).toContain('(no: …)');
  });

  test('a secret-tool that does not answer is given up after the time limit', async () => {
    lazyUpstream('secret-tool', 'exec sleep 30');
    const began = performance.now();
    const message = await refusalOf(keychainText({ ...weir, env, platform, limitMs: 300 }));
    expect(message).toMatch(/^The keychain has not answered within 0\.3 s: unlock it/u);
    expect(performance.now() - began).toBeLessThan(10_000);
  });

  test('two processes that store a key at the same time get the same one', async () => {
    const warnings: Error[] = [];
    const note = (warning: Error) => warnings.push(warning);
    process.on('warning', note);
    lazyUpstream('secret-tool', SECRET_TOOL.replace('store)', 'store) sleep 1;'));
    const texts = await Promise.all([
      keychainText({ ...weir, env, platform }),
      keychainText({ ...weir, env, platform }),
    ]);
    process.off('warning', note);
    expect(texts).toEqual([kept(), kept()]);
    expect(warnings).toEqual([]);
  });

  test('the error names a missing secret-tool and its package', async () => {
    const message = await refusalOf(keychainText({ ...weir, env: { PATH: folder }, platform }));
    expect(message).toMatch(/needs the command "secret-tool", which was not found: .*libsecret-tools.*, or/u);
  });
});

describe.skipIf(process.platform === 'win32')('security', () => {
  const platform = 'darwin';

  test('security gets a new key by stdin and keeps an existing one', async () => {
    lazyUpstream('security', SECURITY);
    const text = await keychainText({ ...weir, env, platform });
    expect(text.trim()).toMatch(/^[0-9a-f]{64}$/u);
    expect(await keychainText({ ...weir, env, platform })).toBe(text);
    expect(told()).not.toContain(text.trim());
  });

  test('no new key is made in the keychain for a folder that holds secrets', async () => {
    lazyUpstream('security', SECURITY);
    const checkNew = (): void => {
      throw new Error('holds secrets');
    };
    expect(await refusalOf(keychainText({ ...weir, env, platform, checkNew }))).toBe('holds secrets');
    expect(existsSync(join(folder, 'kept'))).toBe(false);
    const text = await keychainText({ ...weir, env, platform });
    expect(await keychainText({ ...weir, env, platform, checkNew })).toBe(text);
  });

  test('the error quotes a security command that refuses, and no further command runs', async () => {
    lazyUpstream('security', 'echo "security: User interaction is not allowed." >&2; exit 36');
    expect(await refusalOf(keychainText({ ...weir, env, platform }))).toContain(
      'User interaction is not allowed.',
    );
    expect(told()).toBe('find-generic-password -s weir -a master-key -w\n');
  });
});

test('keychainText on Windows names the variables to use instead', async () => {
  expect(await refusalOf(keychainText({ ...weir, env, platform: 'win32' }))).toBe(
    'WEIR_MASTER_KEY=keychain is not supported on win32: provide the key in WEIR_MASTER_KEY, or the path of its file in WEIR_MASTER_KEY_FILE',
  );
});
