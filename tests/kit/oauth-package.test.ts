import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type {
  AuthAdapter,
  CachedToken,
  createOAuthAdapters,
  OAuthAdapters,
  OAuthFactoryConfig,
} from '@weir/server/oauth';
import type { KeyValueStore } from '@weir/server/store';
import { build } from 'esbuild';
import { afterAll, describe, expect, expectTypeOf, test } from 'vitest';
import { root } from '../support/source-files.ts';
import { verifies } from '../verifies.ts';

const folder = mkdtempSync(join(tmpdir(), 'weir-without-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Runs a program in a folder without packages, and returns its lines. */
async function runWithoutPackages(contents: string): Promise<string[]> {
  const outfile = join(folder, 'program.mjs');
  await build({
    stdin: { contents, resolveDir: root, loader: 'ts' },
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    conditions: ['@weir/source'],
    external: ['openid-client'],
  });
  const { stdout } = await promisify(execFile)(process.execPath, [outfile]);
  return stdout.trim().split('\n');
}

describe('the package that sign-in needs', () => {
  verifies(
    'KIT-OAUTH-1',
    'a wrong config is reported before openid-client is imported, a missing package by name',
    async () => {
      const lines = await runWithoutPackages(`
      import { createOAuthAdapters } from '@weir/server/oauth';
      const good = { provider: 'google', service: 'mail', clientId: 'x', scope: 'openid', headless: true, tokenStore: new Map() };
      for (const config of [{ provider: 'oidc' }, good])
        await createOAuthAdapters(config as never).catch((error: Error) => console.log(error.message));
    `);
      expect(lines).toEqual([
        expect.stringMatching(
          /^createOAuthAdapters cannot use its config: service must .*; issuer is required/,
        ),
        expect.stringContaining('npm install openid-client@6'),
      ]);
    },
  );
});

describe('the types', () => {
  verifies('KIT-OAUTH-1', "seed 004's contract compiles", () => {
    expectTypeOf<OAuthAdapters['loopback']>().toEqualTypeOf<AuthAdapter>();
    expectTypeOf<typeof createOAuthAdapters>().toEqualTypeOf<
      (config: OAuthFactoryConfig) => Promise<OAuthAdapters>
    >();
    expectTypeOf<CachedToken>().toEqualTypeOf<{
      readonly accessToken: string;
      readonly refreshToken?: string;
      readonly expiresAt?: number;
      readonly scope?: string;
    }>();
    expectTypeOf<{
      provider: 'google' | 'microsoft';
      service: string;
      clientId: string;
      clientSecret?: string;
      scope: string;
      headless: boolean;
      tokenStore: KeyValueStore<CachedToken>;
      logger: Console;
      tenant?: string;
    }>().toExtend<OAuthFactoryConfig>();
    expectTypeOf<KeyValueStore<CachedToken>>().toExtend<OAuthFactoryConfig['tokenStore']>();
    expectTypeOf<Map<string, CachedToken>>().toExtend<OAuthFactoryConfig['tokenStore']>();
  });

  test('an adapter has the methods that the requirement names', () => {
    expectTypeOf<AuthAdapter['getAccessToken']>().returns.resolves.toBeString();
    expectTypeOf<AuthAdapter['login']>().returns.resolves.toEqualTypeOf<{ readonly account: string }>();
    expectTypeOf<AuthAdapter['logout']>().parameter(0).toEqualTypeOf<string | undefined>();
    expectTypeOf<AuthAdapter['accounts']>().returns.resolves.toEqualTypeOf<string[]>();
  });
});
