import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { asKeyValue, createFileStore } from '@weir/server/store';
import { build } from 'esbuild';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type AuthorizationServer, startAuthorizationServer } from '../support/authorization-server.ts';
import { createHeadlessBrowser } from '../support/headless-browser.ts';
import { GOOD_TOKENS, type HostileIssuer, startHostileIssuer } from '../support/hostile-issuer.ts';
import { createSignIn, type SignIn } from '../support/sign-in.ts';
import { verifies } from '../verifies.ts';

const ALICE = 'alice@example.test';
const MINUTE_MS = 60_000;
/** After this time, a token of 5 minutes has expired. */
const EXPIRED_MS = 5 * MINUTE_MS + 1;

let server: AuthorizationServer;
beforeAll(async () => {
  server = await startAuthorizationServer();
});
afterAll(() => server.stop());
beforeEach(() => void (server.grants.length = 0));

async function signedIn(overrides: Parameters<typeof createSignIn>[1] = {}, at = server): Promise<SignIn> {
  const signIn = await createSignIn(at, overrides);
  await signIn.loopback.login();
  at.grants.length = 0;
  return signIn;
}

interface Tokens {
  readonly accessToken: string;
  readonly refreshToken: string;
  readonly expiresAt: number;
}

function tokensOf({ store }: SignIn, account = ALICE): Tokens {
  return store.get(`mail:${account}`) as Tokens;
}

describe('the refresh', () => {
  verifies(
    'KIT-OAUTH-1',
    'an expired token is refreshed, and the rotated refresh token is kept',
    async () => {
      const signIn = await signedIn();
      const seen = [tokensOf(signIn)];
      for (let round = 0; round < 3; round += 1) {
        signIn.clock.aheadMs += EXPIRED_MS;
        expect(await signIn.loopback.getAccessToken()).toBe(tokensOf(signIn).accessToken);
        seen.push(tokensOf(signIn));
      }
      expect(new Set(seen.map(({ refreshToken }) => refreshToken)).size).toBe(4);
      expect(server.grants).toEqual(['refresh_token', 'refresh_token', 'refresh_token']);
    },
  );

  verifies(
    'KIT-OAUTH-1',
    '50 parallel calls on an expired token make one refresh and 50 results',
    async () => {
      const signIn = await signedIn();
      signIn.clock.aheadMs = EXPIRED_MS;
      const calls = Array.from({ length: 50 }, () => signIn.loopback.getAccessToken());
      expect(new Set(await Promise.all(calls))).toEqual(new Set([tokensOf(signIn).accessToken]));
      expect(server.grants).toEqual(['refresh_token']);
    },
  );

  test('adapters of one store make one refresh between them', async () => {
    const signIn = await signedIn();
    const shared = { tokenStore: signIn.store, now: () => Date.now() + EXPIRED_MS };
    const adapters = await Promise.all(Array.from({ length: 5 }, () => createSignIn(server, shared)));
    const tokens = await Promise.all(adapters.map(({ loopback }) => loopback.getAccessToken()));
    expect(new Set(tokens).size).toBe(1);
    expect(server.grants).toEqual(['refresh_token']);
  });

  test('a caller that cancels gets its error, and the others their token', async () => {
    const signIn = await signedIn();
    signIn.clock.aheadMs = EXPIRED_MS;
    const cancelled = new AbortController();
    const first = signIn.loopback.getAccessToken({ signal: cancelled.signal });
    const second = signIn.loopback.getAccessToken();
    cancelled.abort(new Error('no longer needed'));
    await expect(first).rejects.toThrow('no longer needed');
    expect(await second).toBe(tokensOf(signIn).accessToken);
    await expect(signIn.loopback.getAccessToken({ signal: cancelled.signal })).rejects.toThrow('no longer');
    expect(server.grants).toEqual(['refresh_token']);
  });

  test('a refresh that every caller has cancelled is completed and stored', async () => {
    const signIn = await signedIn();
    signIn.clock.aheadMs = EXPIRED_MS;
    const { refreshToken } = tokensOf(signIn);
    const cancelled = new AbortController();
    const call = signIn.loopback.getAccessToken({ signal: cancelled.signal });
    // The refresh has begun once the store was read.
    setTimeout(() => cancelled.abort(new Error('cancelled')), 1);
    await call.catch(() => {});
    await expect.poll(() => tokensOf(signIn).refreshToken).not.toBe(refreshToken);
    expect(server.grants).toEqual(['refresh_token']);
  });

  verifies('KIT-OAUTH-1', 'a refresh token that was revoked elsewhere signs the account out', async () => {
    const signIn = await signedIn();
    const { refreshToken } = tokensOf(signIn);
    await fetch(`${server.issuer}/token/revocation`, {
      method: 'POST',
      body: new URLSearchParams({ token: refreshToken, client_id: 'native' }),
    });
    signIn.clock.aheadMs = EXPIRED_MS;
    const call = signIn.loopback.getAccessToken({ interactive: false });
    await expect(call).rejects.toMatchObject({ name: 'AuthRequiredError' });
    expect(signIn.store.has(`mail:${ALICE}`)).toBe(false);
    expect(await signIn.loopback.accounts()).toEqual([]);
    expect(signIn.log.join()).toContain('sign in again');
  });

  test('a token without a refresh token asks for a sign-in once it has expired', async () => {
    const signIn = await createSignIn(server, { scope: 'openid email mail.read' });
    await signIn.loopback.login();
    expect(tokensOf(signIn).refreshToken).toBeUndefined();
    signIn.clock.aheadMs = EXPIRED_MS;
    const call = signIn.loopback.getAccessToken({ interactive: false });
    await expect(call).rejects.toMatchObject({ name: 'AuthRequiredError' });
  });
});

describe('an issuer that is down', () => {
  verifies('KIT-OAUTH-1', 'an issuer that is down for a minute signs no account out', async () => {
    const other = await startAuthorizationServer();
    const signIn = await signedIn({}, other);
    const before = tokensOf(signIn);
    await other.stop();
    signIn.clock.aheadMs = 5 * MINUTE_MS - 30_000;
    expect(await signIn.loopback.getAccessToken()).toBe(before.accessToken);
    signIn.clock.aheadMs += MINUTE_MS;
    for (let call = 0; call < 3; call += 1) {
      await expect(signIn.loopback.getAccessToken()).rejects.toMatchObject({
        name: 'OAuthRequestError',
        retryable: true,
        message: expect.stringContaining('ECONNREFUSED') as string,
      });
    }
    expect(tokensOf(signIn)).toEqual(before);
    expect(await signIn.loopback.accounts()).toEqual([ALICE]);
    await other.start();
    expect(await signIn.loopback.getAccessToken()).toBe(tokensOf(signIn).accessToken);
    expect(tokensOf(signIn).accessToken).not.toBe(before.accessToken);
    expect(other.grants).toEqual(['refresh_token']);
    expect(signIn.prompts).toHaveLength(1);
    await other.stop();
  });

  test('a process that starts while the issuer is down works once it is up', async () => {
    const other = await startAuthorizationServer();
    const { store } = await signedIn({}, other);
    await other.stop();
    const later = await createSignIn(other, { tokenStore: store, now: () => Date.now() + EXPIRED_MS });
    await expect(later.loopback.getAccessToken()).rejects.toMatchObject({ retryable: true });
    await other.start();
    expect(await later.loopback.getAccessToken()).toEqual(expect.any(String));
    await other.stop();
  });
});

describe('two processes', () => {
  const folder = mkdtempSync(join(tmpdir(), 'weir-sign-in-'));
  const program = join(folder, 'sign-in.mjs');

  beforeAll(async () => {
    const entry = fileURLToPath(new URL('../fixtures/processes/sign-in.ts', import.meta.url));
    await build({
      entryPoints: [entry],
      outfile: program,
      bundle: true,
      platform: 'node',
      format: 'esm',
      conditions: ['@weir/source'],
    });
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  interface Child {
    /** Tells the process to go on and returns its next line. */
    ask(): Promise<string>;
    next(): Promise<string>;
    readonly ended: Promise<unknown>;
  }

  /** Starts a process that asks for a token once it is told to. */
  async function start(options: object): Promise<Child> {
    const child = spawn(process.execPath, [program, JSON.stringify(options)], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
    const next = async (): Promise<string> => (await lines.next()).value as string;
    await next();
    return {
      ask() {
        child.stdin.write('go\n');
        return next();
      },
      next,
      ended: once(child, 'exit'),
    };
  }

  verifies('KIT-OAUTH-1', 'two processes that refresh at once make one refresh', async () => {
    const tokens = join(folder, 'shared');
    const store = asKeyValue(createFileStore({ folder: tokens }));
    const signIn = await createSignIn(server, { tokenStore: store });
    await signIn.loopback.login();
    const options = { issuer: server.issuer, folder: tokens, aheadMs: EXPIRED_MS };
    const processes = await Promise.all([start(options), start(options)]);
    const lines = await Promise.all(processes.map((each) => each.ask()));
    const answers = lines.flatMap((line) => JSON.parse(line) as string[]);
    expect(answers).toHaveLength(10);
    expect(new Set(answers)).toEqual(
      new Set([((await store.get(`mail:${ALICE}`)) as { accessToken: string }).accessToken]),
    );
    expect(server.grants).toEqual(['authorization_code', 'refresh_token']);
    await Promise.all(processes.map(({ ended }) => ended));
  });

  test.each([
    ['device', true],
    ['loopback', false],
  ])('a %s sign-in that a call has begun does not keep the process alive', async (kind, hasDeviceFlow) => {
    const other = await startAuthorizationServer({ hasDeviceFlow });
    const child = await start({ issuer: other.issuer, folder: join(folder, kind), aheadMs: 0 });
    const answers = JSON.parse(await child.ask()) as string[];
    expect(answers[0]).toContain('AuthRequiredError: Sign in to mail');
    expect(await child.ended).toEqual([0, null]);
    await other.stop();
  });

  test('login keeps the process alive until the user has signed in', async () => {
    const other = await startAuthorizationServer({ hasDeviceFlow: false });
    const options = { issuer: other.issuer, folder: join(folder, 'login'), aheadMs: 0, isLogin: true };
    const child = await start(options);
    const authUrl = await child.ask();
    await delay(100);
    expect((await createHeadlessBrowser().visit(authUrl)).body).toContain('Signed in');
    expect(new Set(JSON.parse(await child.next()) as string[]).size).toBe(1);
    expect(await child.ended).toEqual([0, null]);
    expect(other.grants).toEqual(['authorization_code']);
    await other.stop();
  });
});

describe('a store without a lock', () => {
  let issuer: HostileIssuer;
  beforeAll(async () => {
    issuer = await startHostileIssuer();
  });
  afterAll(() => issuer.close());

  const expired = { accessToken: 'old', refreshToken: 'used', expiresAt: 1 };
  const fresh = { accessToken: 'new', refreshToken: 'rotated', expiresAt: Date.now() + 60 * MINUTE_MS };

  async function withToken(token: object): Promise<SignIn> {
    issuer.requests.length = 0;
    const signIn = await createSignIn(issuer, { scope: 'mail.read', headless: true });
    signIn.store.set('mail:me', token).set('mail:', { accounts: ['me'] });
    return signIn;
  }

  test('a token that another process has stored meanwhile is taken after invalid_grant', async () => {
    const { loopback, store } = await withToken(expired);
    issuer.answer = () => {
      setTimeout(() => store.set('mail:me', fresh), 150);
      return { status: 400, body: { error: 'invalid_grant' } };
    };
    expect(await loopback.getAccessToken()).toBe('new');
    expect(store.get('mail:me')).toEqual(fresh);
  });

  test('a newer token that has expired, too, is refreshed in its place', async () => {
    const { loopback, store } = await withToken(expired);
    issuer.answer = (_, form) => {
      if (form.get('refresh_token') !== 'used') return { body: GOOD_TOKENS };
      store.set('mail:me', { ...fresh, expiresAt: 2 });
      return { status: 400, body: { error: 'invalid_grant' } };
    };
    expect(await loopback.getAccessToken()).toBe('access-1');
    expect(issuer.requests.map(({ form }) => form.get('refresh_token'))).toEqual(['used', 'rotated']);
  });

  test('an account that signs out during a refresh stays signed out', async () => {
    const { loopback, store } = await withToken(expired);
    issuer.answer = (endpoint) => {
      if (endpoint === 'token') store.delete('mail:me');
      return { body: GOOD_TOKENS };
    };
    await expect(loopback.getAccessToken()).rejects.toMatchObject({ name: 'AuthRequiredError' });
    expect(store.has('mail:me')).toBe(false);
  });

  test.each([
    ['another refresh token', {}, 'refresh-1'],
    ['no refresh token', { refresh_token: undefined }, 'used'],
  ])('an answer with %s leaves the right one in the store', async (_title, members, kept) => {
    const { loopback, store } = await withToken({ ...expired, scope: 'mail.read' });
    issuer.answer = () => ({ body: { ...GOOD_TOKENS, ...members } });
    expect(await loopback.getAccessToken()).toBe('access-1');
    expect(store.get('mail:me')).toMatchObject({ refreshToken: kept, scope: 'mail.read' });
  });

  test.each([59_999, 60_000, 60_001])(
    'a token with %d ms left is refreshed unless that is above 60 s',
    async (left) => {
      const at = 1_900_000_000_000;
      const { store } = await withToken({});
      store.set('mail:me', { accessToken: 'old', refreshToken: 'used', expiresAt: at + left });
      issuer.answer = () => ({ body: GOOD_TOKENS });
      const { loopback } = await createSignIn(issuer, {
        scope: 'mail.read',
        tokenStore: store,
        now: () => at,
      });
      expect(await loopback.getAccessToken()).toBe(left > 60_000 ? 'old' : 'access-1');
    },
  );

  test('accounts that processes add at once are all listed', async () => {
    const { store } = await withToken({});
    store.clear();
    const slow = {
      get: async (key: string) => (await Promise.resolve(), store.get(key)),
      set: async (key: string, value: unknown) => (await Promise.resolve(), void store.set(key, value)),
      delete: (key: string) => store.delete(key),
    };
    // Two store objects over the same values share no queue, as in two processes.
    const adapters = await Promise.all(
      [slow, { ...slow }].map((tokenStore) => createSignIn(issuer, { scope: 'mail.read', tokenStore })),
    );
    issuer.answer = () => ({ body: GOOD_TOKENS });
    await Promise.all(adapters.map(({ loopback }, at) => loopback.login({ account: `user-${at}` })));
    expect(await adapters[0]?.loopback.accounts()).toEqual(['user-0', 'user-1']);
  });
});
