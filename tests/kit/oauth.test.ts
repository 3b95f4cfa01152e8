import { AuthRequiredError, createCallbackHandler, OAuthRequestError } from '@weir/server/oauth';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import {
  type AuthorizationServer,
  HOSTED,
  startAuthorizationServer,
} from '../support/authorization-server.ts';
import { createHeadlessBrowser } from '../support/headless-browser.ts';
import { until } from '../support/processes.ts';
import { createSignIn } from '../support/sign-in.ts';
import { verifies } from '../verifies.ts';

const ALICE = 'alice@example.test';

let server: AuthorizationServer;
beforeAll(async () => {
  server = await startAuthorizationServer();
});
afterAll(() => server.stop());
beforeEach(() => {
  server.user = 'alice';
  server.grants.length = 0;
});
afterEach(() => void vi.useRealTimers());

/** Follows the sign-in up to the callback, without visiting it. */
async function callbackOf(authUrl: string): Promise<URL> {
  const stopAt = new URL(authUrl).searchParams.get('redirect_uri') ?? '';
  return new URL((await createHeadlessBrowser().visit(authUrl, stopAt)).url);
}

/** Begins a sign-in that waits for its callback, and returns both. */
async function beginSignIn(overrides: Parameters<typeof createSignIn>[1] = {}) {
  const signIn = await createSignIn(server, { openBrowser: () => {}, ...overrides });
  const login = signIn.loopback.login();
  login.catch(() => {});
  await until(() => signIn.prompts.length === 1);
  const callback = await callbackOf(signIn.prompts[0]?.authUrl ?? '');
  return { ...signIn, login, callback };
}

function changed(callback: URL, name: string, value: string | undefined): URL {
  const url = new URL(callback);
  if (value === undefined) url.searchParams.delete(name);
  else url.searchParams.set(name, value);
  return url;
}

describe('the loopback sign-in', () => {
  verifies('KIT-OAUTH-1', 'a sign-in by loopback stores a CachedToken under service:account', async () => {
    const { loopback, store, prompts, pages } = await createSignIn(server);
    const token = await loopback.getAccessToken();
    expect(store.get(`mail:${ALICE}`)).toEqual({
      accessToken: token,
      refreshToken: expect.any(String) as string,
      expiresAt: expect.any(Number) as number,
      scope: 'openid email offline_access mail.read',
    });
    expect(await loopback.accounts()).toEqual([ALICE]);
    expect(await loopback.getAccessToken()).toBe(token);
    expect(server.grants).toEqual(['authorization_code']);
    expect(prompts).toHaveLength(1);
    await until(() => pages.length === 1);
    expect(pages[0]).toMatchObject({ status: 200, body: expect.stringContaining('Signed in') as string });
  });

  verifies('KIT-OAUTH-1', 'the request has a loopback address, PKCE with S256, state and nonce', async () => {
    const { prompts, login, callback } = await beginSignIn();
    const query = Object.fromEntries(new URL(prompts[0]?.authUrl ?? '').searchParams);
    expect(query).toMatchObject({
      client_id: 'native',
      response_type: 'code',
      redirect_uri: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/callback$/) as string,
      code_challenge: expect.stringMatching(/^[\w-]{43}$/) as string,
      code_challenge_method: 'S256',
      state: expect.stringMatching(/^[\w-]{43}$/) as string,
      nonce: expect.stringMatching(/^[\w-]{43}$/) as string,
      prompt: 'consent',
    });
    expect((await fetch(callback)).status).toBe(200);
    await login;
  });

  test('the page of the callback loads nothing, is not cached and passes no address on', async () => {
    const { pages, loopback } = await createSignIn(server);
    await loopback.login();
    await until(() => pages.length === 1);
    expect(Object.fromEntries(pages[0]?.headers ?? [])).toMatchObject({
      'content-security-policy': expect.stringContaining("default-src 'none'") as string,
      'referrer-policy': 'no-referrer',
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
    });
  });

  test('the path of the callback is random unless it is set', async () => {
    const options = { callbackPath: undefined, headless: true, redirectUri: undefined } as const;
    const paths: string[] = [];
    for (const provider of ['google', 'microsoft'] as const) {
      const { loopback } = await createSignIn(server, { ...options, provider, fetch: withoutDeviceFlow });
      const { authUrl } = await refusal(loopback.getAccessToken());
      paths.push(new URL(new URL(authUrl).searchParams.get('redirect_uri') ?? '').pathname);
    }
    expect(paths).toEqual([expect.stringMatching(/^\/[\w-]{22}$/), '/']);
  });

  verifies(
    'KIT-OAUTH-1',
    'a callback with a wrong state is not found, and the right one still counts',
    async () => {
      const { callback, login, store } = await beginSignIn();
      for (const state of ['wrong', '', undefined]) {
        expect((await fetch(changed(callback, 'state', state))).status).toBe(404);
      }
      expect((await fetch(new URL('/elsewhere', callback))).status).toBe(404);
      expect((await fetch(new URL(`${callback.pathname}x${callback.search}`, callback))).status).toBe(404);
      expect((await fetch(callback, { method: 'POST' })).status).toBe(404);
      const twice = new URL(callback);
      twice.searchParams.append('state', 'x');
      expect((await fetch(twice)).status).toBe(404);
      expect(store.size).toBe(0);
      expect((await fetch(callback)).status).toBe(200);
      expect(await login).toEqual({ account: ALICE });
    },
  );

  verifies('KIT-OAUTH-1', 'a callback with a wrong, a missing or a second iss is refused', async () => {
    const evil = 'https://evil.example';
    for (const change of [
      (url: URL) => changed(url, 'iss', evil),
      (url: URL) => changed(url, 'iss', `${server.issuer}/`),
      (url: URL) => changed(url, 'iss', undefined),
      (url: URL) => new URL(`${url.href}&iss=${evil}`),
    ]) {
      const { callback, login, store } = await beginSignIn();
      const page = await fetch(change(callback));
      expect(page.status).toBe(400);
      await expect(login).rejects.toThrow('The callback of the sign-in does not come from the issuer');
      expect(store.size).toBe(0);
    }
    expect(server.grants).toEqual([]);
  });

  test('a callback counts once', async () => {
    const { callback, login } = await beginSignIn();
    const statuses = await Promise.all([fetch(callback), fetch(callback)]);
    expect(new Set(statuses.map(({ status }) => status))).toEqual(new Set([200, 404]));
    await login;
    await expect(fetch(callback)).rejects.toThrow('fetch failed');
  });

  test('a refusal of the user is reported without the text of the issuer', async () => {
    server.user = undefined;
    const { loopback, pages, store } = await createSignIn(server);
    await expect(loopback.login()).rejects.toThrow('The issuer refused the sign-in: access_denied');
    await until(() => pages.length === 1);
    expect(pages[0]?.status).toBe(400);
    expect(pages[0]?.body).not.toContain('refused</script>');
    expect(pages[0]?.body).not.toContain('script');
    expect(store.size).toBe(0);
  });

  test('a code that another sign-in requested is refused', async () => {
    const victim = await beginSignIn();
    const attacker = await beginSignIn();
    const injected = changed(victim.callback, 'code', attacker.callback.searchParams.get('code') ?? '');
    expect((await fetch(injected)).status).toBe(400);
    await expect(victim.login).rejects.toThrow('invalid_grant');
    expect(victim.store.size).toBe(0);
    await fetch(attacker.callback);
    await attacker.login.catch(() => {});
  });

  verifies('KIT-OAUTH-1', 'a sign-in waits 5 minutes', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const { login, callback } = await beginSignIn();
    const failed = vi.fn();
    login.catch(failed);
    await vi.advanceTimersByTimeAsync(5 * 60_000 - 1);
    expect(failed).not.toHaveBeenCalled();
    await vi.advanceTimersByTimeAsync(1);
    await expect(login).rejects.toThrow('No sign-in within 5 minutes');
    await expect(fetch(callback)).rejects.toThrow('fetch failed');
  });

  test('50 callers without a token share one sign-in and one browser', async () => {
    const { loopback, pages, prompts } = await createSignIn(server);
    const tokens = await Promise.all(Array.from({ length: 50 }, () => loopback.getAccessToken()));
    expect(new Set(tokens).size).toBe(1);
    await until(() => pages.length === 1);
    expect([pages.length, prompts.length, server.grants.length]).toEqual([1, 1, 1]);
  });

  test('a sign-in ends with its last caller', async () => {
    const { loopback, prompts } = await createSignIn(server, { openBrowser: () => {} });
    const cancelled = [new AbortController(), new AbortController()];
    const logins = cancelled.map(({ signal }) => loopback.login({ signal }));
    void Promise.allSettled(logins);
    await until(() => prompts.length === 1);
    const redirectUri = new URL(prompts[0]?.authUrl ?? '').searchParams.get('redirect_uri') ?? '';
    cancelled[0]?.abort(new Error('enough'));
    await expect(logins[0]).rejects.toThrow('enough');
    expect((await fetch(redirectUri)).status).toBe(404);
    cancelled[1]?.abort(new Error('enough, too'));
    await expect(logins[1]).rejects.toThrow('enough, too');
    await expect(fetch(redirectUri)).rejects.toThrow('fetch failed');
  });

  test('a sign-in that a call has begun stays open for its user when the call is cancelled', async () => {
    const { loopback, prompts } = await createSignIn(server, { openBrowser: () => {} });
    const cancelled = new AbortController();
    const call = loopback.getAccessToken({ signal: cancelled.signal });
    void Promise.allSettled([call]);
    await until(() => prompts.length === 1);
    cancelled.abort(new Error('timed out'));
    await expect(call).rejects.toThrow('timed out');
    const page = await createHeadlessBrowser().visit(prompts[0]?.authUrl ?? '');
    expect(page.body).toContain('Signed in');
    expect(await loopback.getAccessToken()).toEqual(expect.any(String));
    expect(prompts).toHaveLength(1);
  });

  test('a browser that does not start leaves the address in the log', async () => {
    const { loopback, log } = await createSignIn(server, {
      onAuthUrl: undefined,
      openBrowser: () => {
        throw new Error('none here');
      },
    });
    const cancelled = new AbortController();
    const login = loopback.login({ signal: cancelled.signal });
    login.catch(() => {});
    await until(() => log.length === 2);
    expect(log.join()).toContain(`${server.issuer}/auth?`);
    expect(log[1]).toContain('No browser could be opened');
    cancelled.abort();
    await expect(login).rejects.toThrow();
  });

  test.each(['getAccessToken', 'login'] as const)(
    '%s without a browser and without a log gets the address, where the sign-in stays open',
    async (method) => {
      const { loopback } = await createSignIn(server, {
        onAuthUrl: undefined,
        logger: undefined,
        openBrowser: () => Promise.reject(new Error('none here')),
      });
      const { authUrl } = await refusal(loopback[method]());
      expect((await refusal(loopback[method]())).authUrl).toBe(authUrl);
      expect((await createHeadlessBrowser().visit(authUrl)).body).toContain('Signed in');
      expect(await loopback.getAccessToken()).toEqual(expect.any(String));
    },
  );

  test('a call without a browser waits where onAuthUrl shows the address', async () => {
    const { loopback } = await createSignIn(server, {
      onAuthUrl: ({ authUrl }) => void createHeadlessBrowser().visit(authUrl),
      openBrowser: () => Promise.reject(new Error('none here')),
    });
    expect(await loopback.getAccessToken()).toEqual(expect.any(String));
  });

  test('a call waits 45 s, then gets the address of the sign-in, which stays open', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const { loopback, prompts } = await createSignIn(server, { openBrowser: () => new Promise(() => {}) });
    const call = loopback.getAccessToken();
    const failed = vi.fn();
    call.catch(failed);
    await until(() => prompts.length === 1);
    await vi.advanceTimersByTimeAsync(44_999);
    expect(failed).not.toHaveBeenCalled();
    await vi.advanceTimersByTimeAsync(1);
    const { authUrl } = await refusal(call);
    expect(authUrl).toBe(prompts[0]?.authUrl);
    await createHeadlessBrowser().visit(authUrl);
    expect(await loopback.getAccessToken()).toEqual(expect.any(String));
  });

  test('the log has the address above debug only where the user has to read it there', async () => {
    const debug: string[] = [];
    const above: string[] = [];
    const write = (text: string): void => void above.push(text);
    const logger = { debug: (text: string) => void debug.push(text), info: write, warn: write, error: write };
    const { loopback } = await createSignIn(server, { onAuthUrl: undefined, logger });
    await loopback.login();
    expect([debug.join().includes('state='), above.join().includes('state=')]).toEqual([true, false]);
  });
});

describe('the headless sign-in', () => {
  verifies('KIT-OAUTH-1', 'a device flow signs in where the issuer has one', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const { loopback, prompts, store } = await createSignIn(server, { headless: true });
    const login = loopback.login();
    await until(() => prompts.length === 1);
    const [prompt] = prompts;
    expect(prompt?.userCode).toMatch(/^[A-Z]{4}-[A-Z]{4}$/);
    expect(prompt?.message).toBe(`Sign in to mail with the code ${prompt?.userCode} and try again.`);
    expect((await createHeadlessBrowser().visit(prompt?.authUrl ?? '')).body).toContain('Sign-in Success');
    await vi.advanceTimersByTimeAsync(4999);
    expect(server.grants).toEqual([]);
    await vi.advanceTimersByTimeAsync(1);
    expect(await login).toEqual({ account: ALICE });
    expect(server.grants).toEqual(['urn:ietf:params:oauth:grant-type:device_code']);
    expect(store.get(`mail:${ALICE}`)).toMatchObject({ refreshToken: expect.any(String) as string });
    expect(store.get(`mail:${ALICE}:subject`)).toMatchObject({ subject: 'alice' });
  });

  verifies(
    'KIT-OAUTH-1',
    'without a device flow the address is printed, and the next call has the token',
    async () => {
      const { loopback, log, prompts } = await createSignIn(server, {
        headless: true,
        fetch: withoutDeviceFlow,
      });
      const error = await refusal(loopback.getAccessToken());
      expect(error).toMatchObject({ code: 'AUTHENTICATION_REQUIRED', name: 'AuthRequiredError' });
      expect(error.message).toBe(`Sign in to mail and try again. ${error.authUrl}`);
      expect((await refusal(loopback.getAccessToken())).authUrl).toBe(error.authUrl);
      expect(prompts.map(({ authUrl }) => authUrl)).toEqual([error.authUrl]);
      const own = vi.fn();
      const login = loopback.login({ onAuthUrl: own });
      await until(() => own.mock.calls.length === 1);
      expect(own).toHaveBeenCalledWith(prompts[0]);
      await createHeadlessBrowser().visit(error.authUrl);
      expect(await login).toEqual({ account: ALICE });
      expect(await loopback.getAccessToken()).toEqual(expect.any(String));
      expect(log.join()).not.toContain('has ended');
    },
  );

  test('an address pasted by hand completes a sign-in on another machine', async () => {
    const { loopback } = await createSignIn(server, { headless: true, fetch: withoutDeviceFlow });
    const { authUrl } = await refusal(loopback.getAccessToken());
    const callback = await callbackOf(authUrl);
    expect(await loopback.handleCallback(callback.href)).toEqual({ account: ALICE });
    for (const other of [callback.href, `${callback.pathname}${callback.search}`, '', 'http://[', '?state='])
      await expect(loopback.handleCallback(other)).rejects.toThrow('belongs to no sign-in');
  });

  test('the log gets the address where onAuthUrl is missing, and login refuses without either', async () => {
    const options = { headless: true, onAuthUrl: undefined, fetch: withoutDeviceFlow };
    const { loopback, log } = await createSignIn(server, options);
    const cancelled = new AbortController();
    const login = loopback.login({ signal: cancelled.signal });
    login.catch(() => {});
    await until(() => log.length > 0);
    expect(log[0]).toContain(`Sign in to mail and try again. ${server.issuer}/auth?`);
    cancelled.abort();
    const silent = await createSignIn(server, { ...options, logger: undefined });
    await expect(silent.loopback.login()).rejects.toThrow('pass onAuthUrl or logger');
  });

  test('the caller may wait instead, or not wait, whatever headless says', async () => {
    const waits = await createSignIn(server, {
      headless: true,
      fetch: withoutDeviceFlow,
      onAuthUrl: ({ authUrl }) => void createHeadlessBrowser().visit(authUrl),
    });
    expect(await waits.loopback.getAccessToken({ interactive: true })).toEqual(expect.any(String));
    const leaves = await createSignIn(server);
    const { authUrl } = await refusal(leaves.loopback.getAccessToken({ interactive: false }));
    expect(authUrl).toContain('/auth?');
    expect(leaves.pages).toEqual([]);
  });
});

describe('the callback over HTTP', () => {
  const hosted = { ...HOSTED, headless: true, scope: 'openid email offline_access' };

  verifies('KIT-OAUTH-1', 'a fixed callback signs in the account that began', async () => {
    const { loopback, store } = await createSignIn(server, hosted);
    const { authUrl } = await refusal(loopback.getAccessToken({ account: 'user-7' }));
    expect(new URL(authUrl).searchParams.get('redirect_uri')).toBe(HOSTED.redirectUri);
    const handle = createCallbackHandler(loopback, () => 'user-7');
    const callback = await callbackOf(authUrl);
    const page = await handle(new Request(callback));
    expect([page.status, await page.text()]).toEqual([200, expect.stringContaining('Signed in')]);
    expect(page.headers.get('content-security-policy')).toContain("default-src 'none'");
    expect([...store.keys()].sort()).toEqual(['mail:', 'mail:user-7', 'mail:user-7:subject']);
    expect((await handle(new Request(callback))).status).toBe(404);
    expect((await handle(new Request(callback, { method: 'POST' }))).status).toBe(404);
  });

  test('the path of a request is enough, and the log does not get the address', async () => {
    const { loopback, log, prompts } = await createSignIn(server, hosted);
    const { authUrl } = await refusal(loopback.getAccessToken({ account: 'user-8' }));
    const { pathname, search } = await callbackOf(authUrl);
    expect(await loopback.handleCallback(`${pathname}${search}`, { account: 'user-8' })).toEqual({
      account: 'user-8',
    });
    expect(prompts).toEqual([]);
    expect(log.join()).not.toContain(server.issuer);
  });

  test('the oldest of more than 1000 sign-ins that wait is given up', async () => {
    const { loopback } = await createSignIn(server, hosted);
    const urls: string[] = [];
    for (let user = 0; user < 1001; user += 1)
      urls.push((await refusal(loopback.getAccessToken({ account: `user-${user}` }))).authUrl);
    const [first, second] = await Promise.all(urls.slice(0, 2).map(callbackOf));
    await expect(loopback.handleCallback(first ?? '')).rejects.toThrow('belongs to no sign-in');
    expect(await loopback.handleCallback(second ?? '')).toEqual({ account: 'user-1' });
  });

  test('a user who opens the address of another one is refused', async () => {
    const { loopback, store } = await createSignIn(server, hosted);
    const { authUrl } = await refusal(loopback.getAccessToken({ account: 'mallory' }));
    const callback = await callbackOf(authUrl);
    for (const accountOf of [() => 'alice', () => undefined]) {
      expect((await createCallbackHandler(loopback, accountOf)(new Request(callback))).status).toBe(400);
    }
    expect(store.size).toBe(0);
  });

  test('a call must name its account, because several users may sign in', async () => {
    const { loopback } = await createSignIn(server, hosted);
    await expect(loopback.getAccessToken()).rejects.toThrow('account is missing');
    await expect(loopback.login()).rejects.toThrow('account is missing');
    await expect(loopback.logout()).rejects.toThrow('account is missing');
  });
});

describe('several accounts', () => {
  verifies('KIT-OAUTH-1', 'a store holds several accounts, and each call names its own', async () => {
    const { loopback, store } = await createSignIn(server);
    expect(await loopback.login()).toEqual({ account: ALICE });
    server.user = 'bob';
    expect(await loopback.login()).toEqual({ account: 'bob@example.test' });
    expect(await loopback.login({ account: 'work: 1' })).toEqual({ account: 'work: 1' });
    expect(await loopback.accounts()).toEqual([ALICE, 'bob@example.test', 'work: 1']);
    expect([...store.keys()].filter((key) => !key.endsWith(':subject')).sort()).toEqual([
      'mail:',
      `mail:${ALICE}`,
      'mail:bob@example.test',
      'mail:work%3A%201',
    ]);
    await expect(loopback.getAccessToken()).rejects.toThrow(
      '3 accounts are signed in to mail: pass `account`',
    );
    const tokens = await Promise.all(
      [ALICE, 'bob@example.test', 'work: 1'].map((account) => loopback.getAccessToken({ account })),
    );
    expect(new Set(tokens).size).toBe(3);
  });

  describe('users who are known', () => {
    const mismatch = {
      name: 'OAuthRequestError',
      code: 'FORBIDDEN',
      message: expect.stringContaining("Account 'ada' belongs to a user who is known, but another") as string,
    };

    verifies('KIT-OAUTH-1', 'an account whose token was lost takes no other user', async () => {
      const { loopback, store, clock, log, pages } = await createSignIn(server);
      await loopback.login({ account: 'ada' });
      const { refreshToken } = store.get('mail:ada') as { refreshToken: string };
      await fetch(`${server.issuer}/token/revocation`, {
        method: 'POST',
        body: new URLSearchParams({ token: refreshToken, client_id: 'native' }),
      });
      clock.aheadMs = 301_000;
      server.user = 'mallory';
      for (let call = 0; call < 2; call += 1)
        await expect(loopback.getAccessToken({ account: 'ada' })).rejects.toMatchObject(mismatch);
      expect(store.has('mail:ada')).toBe(false);
      await until(() => pages.length === 3);
      expect(pages.map(({ status }) => status)).toEqual([200, 400, 400]);
      expect(log.join()).toContain("Account 'ada' belongs to a user who is known");
      server.user = 'alice';
      expect(await loopback.getAccessToken({ account: 'ada' })).toEqual(expect.any(String));
    });

    test('a second login as another user is refused until the account has signed out', async () => {
      const { loopback, store } = await createSignIn(server);
      await loopback.login({ account: 'ada' });
      const before = store.get('mail:ada');
      server.user = 'mallory';
      await expect(loopback.login({ account: 'ada' })).rejects.toMatchObject(mismatch);
      expect(store.get('mail:ada')).toEqual(before);
      await loopback.logout('ada');
      expect([...store.keys()]).toEqual(['mail:']);
      expect(await loopback.login({ account: 'ada' })).toEqual({ account: 'ada' });
      expect(store.get('mail:ada:subject')).toEqual({
        issuer: server.issuer,
        subject: 'mallory',
        email: 'mallory@example.test',
      });
    });

    test('an account without a token can sign out', async () => {
      const { loopback, store } = await createSignIn(server);
      await loopback.login({ account: 'ada' });
      store.delete('mail:ada');
      expect(await loopback.logout('ada')).toEqual({ account: 'ada', revoked: true });
      await expect(loopback.logout('ada')).rejects.toThrow("Account 'ada' is not signed in");
    });

    test('a sign-in without an ID token does not take an account that is known', async () => {
      const { loopback, store } = await createSignIn(server);
      await loopback.login({ account: 'ada' });
      const scopeless = await createSignIn(server, { scope: 'mail.read', tokenStore: store });
      await expect(scopeless.loopback.login({ account: 'ada' })).rejects.toThrow('is openid in the scope?');
      // Without openid from the start, there is nothing to compare.
      await scopeless.loopback.login({ account: 'bob' });
      server.user = 'mallory';
      expect(await scopeless.loopback.login({ account: 'bob' })).toEqual({ account: 'bob' });
    });

    test('the issuer is told the email of the account, and no other name', async () => {
      const { loopback, prompts } = await createSignIn(server);
      for (const account of ['ada', 'ada', ALICE]) await loopback.login({ account });
      const hints = prompts.map(({ authUrl }) => new URL(authUrl).searchParams.get('login_hint'));
      expect(hints).toEqual([null, ALICE, ALICE]);
    });
  });

  test('adapters of one store remember no active account', async () => {
    const first = await createSignIn(server);
    await first.loopback.login({ account: 'one' });
    const second = await createSignIn(server, {
      tokenStore: first.store,
      headless: true,
      fetch: withoutDeviceFlow,
    });
    expect(await second.loopback.accounts()).toEqual(['one']);
    await refusal(second.loopback.getAccessToken({ account: 'two' }));
  });
});

describe('the sign-out', () => {
  verifies('KIT-OAUTH-1', 'a sign-out revokes both tokens at the issuer and deletes them', async () => {
    const { loopback, store } = await createSignIn(server);
    const token = await loopback.getAccessToken();
    const userinfo = (): Promise<Response> =>
      fetch(`${server.issuer}/me`, { headers: { authorization: `Bearer ${token}` } });
    expect((await userinfo()).status).toBe(200);
    const before = server.revocations();
    expect(await loopback.logout()).toEqual({ account: ALICE, revoked: true });
    expect(server.revocations()).toBe(before + 2);
    expect((await userinfo()).status).toBe(401);
    expect(store.get(`mail:${ALICE}`)).toBeUndefined();
    expect(await loopback.accounts()).toEqual([]);
    await expect(loopback.logout()).rejects.toThrow('No account is signed in to mail');
    await expect(loopback.logout('bob')).rejects.toThrow("Account 'bob' is not signed in");
  });

  verifies('KIT-OAUTH-1', 'a sign-out that cannot revoke deletes the tokens and says so', async () => {
    const other = await startAuthorizationServer();
    const { loopback, store, log } = await createSignIn(other);
    await loopback.login();
    await other.stop();
    expect(await loopback.logout(ALICE)).toEqual({ account: ALICE, revoked: false });
    expect(store.get(`mail:${ALICE}`)).toBeUndefined();
    expect(log.join()).toContain('Revoking the refresh_token of mail:alice@example.test failed');
  });

  test('an issuer without a revocation endpoint is named in the log', async () => {
    const other = await startAuthorizationServer({ hasRevocation: false });
    const { loopback, log } = await createSignIn(other);
    await loopback.login();
    expect(await loopback.logout()).toEqual({ account: ALICE, revoked: false });
    expect(log.join()).toContain('The issuer has no revocation endpoint');
    await other.stop();
  });
});

describe('PKCE', () => {
  verifies('KIT-OAUTH-1', 'an issuer that lists methods without S256 is refused', async () => {
    const fetch = withMetadata({ code_challenge_methods_supported: ['plain'] });
    const { loopback, prompts } = await createSignIn(server, { fetch });
    await expect(loopback.login()).rejects.toThrow('does not support PKCE with S256');
    expect(prompts).toEqual([]);
  });

  verifies('KIT-OAUTH-1', 'an issuer that lists no methods is sent S256', async () => {
    const fetch = withMetadata({ code_challenge_methods_supported: undefined });
    const { loopback } = await createSignIn(server, { fetch });
    expect(await loopback.login()).toEqual({ account: ALICE });
  });
});

/** Returns the error of a call that needs a sign-in. */
async function refusal(call: Promise<unknown>): Promise<AuthRequiredError> {
  const error: unknown = await call.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(AuthRequiredError);
  expect(error).not.toBeInstanceOf(OAuthRequestError);
  return error as AuthRequiredError;
}

/** Sends requests to the real server, and changes members of its metadata. */
function withMetadata(members: Record<string, unknown>): typeof fetch {
  return async (input, init) => {
    const response = await fetch(input, init);
    if (!new Request(input).url.includes('/.well-known/')) return response;
    return Response.json({ ...((await response.json()) as object), ...members });
  };
}

async function withoutDeviceFlow(...request: Parameters<typeof fetch>): Promise<Response> {
  return await withMetadata({ device_authorization_endpoint: undefined })(...request);
}
