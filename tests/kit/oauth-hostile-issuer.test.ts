import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import {
  GOOD_TOKENS,
  type HostileIssuer,
  type IssuerAnswer,
  startHostileIssuer,
} from '../support/hostile-issuer.ts';
import { until } from '../support/processes.ts';
import { createSignIn, type SignIn } from '../support/sign-in.ts';
import { verifies } from '../verifies.ts';

let issuer: HostileIssuer;
beforeAll(async () => {
  issuer = await startHostileIssuer();
});
afterAll(() => issuer.close());
beforeEach(() => {
  issuer.metadata = {};
  issuer.callback = {};
  issuer.answer = () => ({ body: GOOD_TOKENS });
  issuer.requests.length = 0;
  issuer.authorizations.length = 0;
});
afterEach(() => void vi.useRealTimers());

function signIn(overrides: Parameters<typeof createSignIn>[1] = {}): Promise<SignIn> {
  return createSignIn(issuer, { scope: 'mail.read', ...overrides });
}

describe('the token response of a hostile issuer', () => {
  const tokens = (members: object): IssuerAnswer => ({ body: { ...GOOD_TOKENS, ...members } });

  test('good tokens sign in the default account', async () => {
    const { loopback, store } = await signIn();
    expect(await loopback.login()).toEqual({ account: 'default' });
    expect(store.get('mail:default')).toMatchObject({ accessToken: 'access-1', refreshToken: 'refresh-1' });
    expect(Object.fromEntries(issuer.requests[0]?.form ?? [])).toMatchObject({
      grant_type: 'authorization_code',
      code: 'code-1',
      code_verifier: expect.stringMatching(/^[\w-]{43,128}$/) as string,
      redirect_uri: issuer.authorizations[0]?.get('redirect_uri'),
    });
  });

  test.each([
    ['token_type mac', tokens({ token_type: 'mac' })],
    ['token_type DPoP', tokens({ token_type: 'DPoP' })],
    ['token_type missing', tokens({ token_type: undefined })],
    ['expires_in negative', tokens({ expires_in: -1 })],
    ['expires_in zero', tokens({ expires_in: 0 })],
    ['expires_in above ten years', tokens({ expires_in: 315_360_001 })],
    [
      'expires_in huge',
      {
        headers: { 'content-type': 'application/json' },
        body: '{"access_token":"a","token_type":"Bearer","expires_in":1e400}',
      },
    ],
    ['expires_in NaN', tokens({ expires_in: 'NaN' })],
    ['expires_in a list', tokens({ expires_in: [] })],
    ['access_token missing', tokens({ access_token: undefined })],
    ['access_token empty', tokens({ access_token: '' })],
    ['access_token with a line break', tokens({ access_token: 'a\r\nx-admin: 1' })],
    ['access_token with a control character', tokens({ access_token: 'a\u0000' })],
    ['access_token outside ASCII', tokens({ access_token: 'ä' })],
    ['access_token a number', tokens({ access_token: 1 })],
    ['refresh_token a list', tokens({ refresh_token: ['x'] })],
    ['scope a number', tokens({ scope: 1 })],
    ['id_token broken', tokens({ id_token: 'a.b.c' })],
    ['body a list', { body: [] }],
    ['body HTML', { body: '<html>' }],
    ['body cut off', { headers: { 'content-type': 'application/json' }, body: '{"access_token":"a"' }],
    ['status 302', { status: 302, headers: { location: 'https://evil.example/' } }],
    ['status 307', { status: 307, headers: { location: 'https://evil.example/' } }],
    ['status 201', { status: 201, body: GOOD_TOKENS }],
    ['status 418', { status: 418, body: '' }],
    [
      'status 401 with a challenge',
      { status: 401, headers: { 'www-authenticate': 'Basic realm="x"' }, body: '' },
    ],
    [
      '1 MiB and one byte',
      {
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(GOOD_TOKENS).padEnd(1024 * 1024 + 1),
      },
    ],
  ])('%s is an error, and nothing is stored', async (_title, answer) => {
    issuer.answer = () => answer;
    const { loopback, store } = await signIn();
    await expect(loopback.login()).rejects.toMatchObject({ name: 'OAuthRequestError', retryable: false });
    expect(store.size).toBe(0);
    // The same answer to a refresh costs no token.
    const expired = { accessToken: 'old', refreshToken: 'kept', expiresAt: 1 };
    store.set('mail:me', expired).set('mail:', { accounts: ['me'] });
    await expect(loopback.getAccessToken()).rejects.toMatchObject({ name: 'OAuthRequestError' });
    expect(store.get('mail:me')).toEqual(expired);
  });

  test('ten years and 1 MiB are accepted', async () => {
    const text = JSON.stringify({ ...GOOD_TOKENS, expires_in: 315_360_000 });
    issuer.answer = () => ({
      headers: { 'content-type': 'application/json' },
      body: text.padEnd(1024 * 1024),
    });
    const { loopback } = await signIn();
    expect(await loopback.getAccessToken()).toBe('access-1');
  });

  test.each([500, 502, 503, 429, 408])(
    'status %d keeps the token, also with invalid_grant in the body',
    async (status) => {
      issuer.answer = () => ({ status, body: { error: 'invalid_grant' } });
      const { loopback, store } = await signIn();
      const expired = { accessToken: 'old', refreshToken: 'kept', expiresAt: 1 };
      store.set('mail:me', expired).set('mail:', { accounts: ['me'] });
      const call = loopback.getAccessToken();
      await expect(call).rejects.toMatchObject({
        retryable: true,
        message: expect.stringContaining(`status ${status}`) as string,
      });
      expect(store.get('mail:me')).toEqual(expired);
    },
  );

  test.each(['invalid_client', 'unauthorized_client', 'invalid_request', 'invalid_scope', 'made_up'])(
    'the error %s keeps the token',
    async (error) => {
      issuer.answer = () => ({ status: 400, body: { error } });
      const { loopback, store } = await signIn();
      store.set('mail:me', { accessToken: 'old', refreshToken: 'kept', expiresAt: 1 });
      await expect(loopback.getAccessToken({ account: 'me' })).rejects.toMatchObject({ retryable: false });
      expect(store.has('mail:me')).toBe(true);
    },
  );

  test("Microsoft's number of a mistake is in the error, without its text", async () => {
    issuer.answer = () => ({
      status: 400,
      body: { error: 'invalid_grant', error_description: 'AADSTS50011: secret text' },
    });
    const { loopback } = await signIn();
    await expect(loopback.login()).rejects.toThrow(
      /^The issuer refused the sign-in: invalid_grant \(AADSTS50011\)$/,
    );
  });

  verifies('KIT-OAUTH-1', 'a request that takes 10 s is given up, and may be tried again', async () => {
    let asked = false;
    issuer.answer = () => {
      asked = true;
      return new Promise<never>(() => {});
    };
    const { loopback, store } = await signIn();
    store.set('mail:me', { accessToken: 'old', refreshToken: 'kept', expiresAt: 1 });
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const call = loopback.getAccessToken({ account: 'me' });
    const failed = vi.fn();
    call.catch(failed);
    await until(() => asked);
    await vi.advanceTimersByTimeAsync(9999);
    await new Promise((resolve) => setImmediate(resolve));
    expect(failed).not.toHaveBeenCalled();
    await vi.advanceTimersByTimeAsync(1);
    await expect(call).rejects.toMatchObject({
      retryable: true,
      message: expect.stringContaining('no answer within 10 s') as string,
    });
    expect(store.has('mail:me')).toBe(true);
  });
});

describe('the metadata of a hostile issuer', () => {
  test.each([
    ['issuer another', () => ({ issuer: 'https://evil.example' })],
    ['issuer with a slash', () => ({ issuer: `${issuer.issuer}/` })],
    ['issuer missing', () => ({ issuer: undefined })],
    ['token_endpoint http elsewhere', () => ({ token_endpoint: 'http://evil.example/token' })],
    ['token_endpoint file', () => ({ token_endpoint: 'file:///etc/passwd' })],
    ['token_endpoint missing', () => ({ token_endpoint: undefined })],
    ['authorization_endpoint file', () => ({ authorization_endpoint: 'file:///etc/passwd' })],
    ['authorization_endpoint javascript', () => ({ authorization_endpoint: 'javascript:alert(1)' })],
    ['authorization_endpoint http elsewhere', () => ({ authorization_endpoint: 'http://evil.example/a' })],
    ['authorization_endpoint with a user', () => ({ authorization_endpoint: 'https://a:b@evil.example/a' })],
    ['authorization_endpoint missing', () => ({ authorization_endpoint: undefined })],
    ['PKCE methods without S256', () => ({ code_challenge_methods_supported: ['plain'] })],
    ['PKCE methods empty', () => ({ code_challenge_methods_supported: [] })],
  ])('%s is refused', async (_title, metadata) => {
    issuer.metadata = metadata();
    const { loopback, store, pages } = await signIn();
    await expect(loopback.login()).rejects.toMatchObject({ name: 'OAuthRequestError' });
    expect([store.size, issuer.requests]).toEqual([0, []]);
    expect(pages.every(({ status }) => status === 400)).toBe(true);
  });

  test('the metadata is read once, but again after a failure', async () => {
    let reads = 0;
    const counting: typeof fetch = (input, init) => {
      if (new Request(input).url.includes('/.well-known/')) reads += 1;
      return fetch(input, init);
    };
    issuer.metadata = { issuer: 'https://evil.example' };
    const { loopback } = await signIn({ fetch: counting });
    await expect(loopback.login()).rejects.toThrow();
    issuer.metadata = {};
    await loopback.login();
    await loopback.login();
    expect(reads).toBe(2);
  });

  test('a callback that names an issuer is compared also where the metadata does not promise it', async () => {
    issuer.callback = { iss: 'https://evil.example' };
    const { loopback } = await signIn();
    await expect(loopback.login()).rejects.toThrow('does not come from the issuer');
    issuer.callback = { iss: issuer.issuer };
    expect(await loopback.login()).toEqual({ account: 'default' });
  });

  test('an ID token with another nonce is refused', async () => {
    const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
    const seconds = Math.floor(Date.now() / 1000);
    const idToken = (nonce: string | undefined): string => {
      const claims = {
        iss: issuer.issuer,
        aud: 'native',
        sub: 'me',
        iat: seconds,
        exp: seconds + 300,
        nonce,
      };
      return `${part({ alg: 'RS256' })}.${part(claims)}.${part({})}`;
    };
    issuer.metadata = { id_token_signing_alg_values_supported: ['RS256'] };
    const { loopback, store } = await signIn({ scope: 'openid' });
    for (const nonce of ['another', undefined]) {
      issuer.answer = () => ({ body: { ...GOOD_TOKENS, id_token: idToken(nonce) } });
      await expect(loopback.login()).rejects.toMatchObject({ name: 'OAuthRequestError' });
    }
    issuer.answer = () => ({ body: GOOD_TOKENS });
    await expect(loopback.login()).rejects.toMatchObject({ name: 'OAuthRequestError' });
    expect(store.size).toBe(0);
    issuer.answer = () => ({
      body: { ...GOOD_TOKENS, id_token: idToken(issuer.authorizations.at(-1)?.get('nonce') ?? '') },
    });
    expect(await loopback.login()).toEqual({ account: 'me' });
  });
});

describe('the device flow of a hostile issuer', () => {
  const DEVICE = {
    device_code: 'device-1',
    user_code: 'AB\u001b[31mCD',
    verification_uri: 'https://issuer.example/device',
    expires_in: 60,
  } as const;

  test('control characters in the code do not reach the terminal', async () => {
    issuer.metadata = { device_authorization_endpoint: `${issuer.issuer}/device` };
    issuer.answer = () => ({ body: DEVICE });
    const { loopback } = await signIn({ headless: true });
    await expect(loopback.getAccessToken()).rejects.toMatchObject({
      prompt: { userCode: 'AB[31mCD', authUrl: 'https://issuer.example/device' },
    });
  });

  test.each(['http://evil.example/device', 'javascript:alert(1)', 'https://u:p@evil.example/'])(
    'the address %s is not shown to the user',
    async (verification_uri) => {
      issuer.metadata = { device_authorization_endpoint: `${issuer.issuer}/device` };
      issuer.answer = () => ({ body: { ...DEVICE, verification_uri } });
      const { loopback, prompts } = await signIn({ headless: true });
      await expect(loopback.login()).rejects.toThrow('not safe to open');
      expect(prompts).toEqual([]);
    },
  );

  test('a client that may not use the device flow gets a loopback address', async () => {
    issuer.metadata = { device_authorization_endpoint: `${issuer.issuer}/device` };
    issuer.answer = () => ({ status: 400, body: { error: 'unauthorized_client' } });
    const { loopback, log } = await signIn({ headless: true });
    await expect(loopback.getAccessToken()).rejects.toMatchObject({
      authUrl: expect.stringContaining(`${issuer.issuer}/authorize?`) as string,
    });
    expect(log.join()).toContain('uses a loopback address, not the device flow');
  });
});
