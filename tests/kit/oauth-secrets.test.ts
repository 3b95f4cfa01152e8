import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { createCallbackHandler } from '@weir/server/oauth';
import { asKeyValue, createEncryptedStore, createFileStore } from '@weir/server/store';
import { afterAll, expect, test } from 'vitest';
import { HOSTED, startAuthorizationServer } from '../support/authorization-server.ts';
import { createHeadlessBrowser } from '../support/headless-browser.ts';
import { type HostileIssuer, type IssuerAnswer, startHostileIssuer } from '../support/hostile-issuer.ts';
import { createSignIn } from '../support/sign-in.ts';
import { verifies } from '../verifies.ts';

const folder = mkdtempSync(join(tmpdir(), 'weir-secrets-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Finds the secrets that a text holds, also encoded for a URL or in base64. */
function leaks(secrets: readonly string[], texts: readonly string[]): string[] {
  const spellings = secrets.flatMap((secret) => [
    secret,
    encodeURIComponent(secret),
    Buffer.from(secret).toString('base64url'),
  ]);
  return spellings.filter((spelling) => texts.some((text) => text.includes(spelling)));
}

function shown(value: unknown): string {
  return (
    inspect(value, { depth: 20, showHidden: true }) + (value instanceof Error ? (value.stack ?? '') : '')
  );
}

async function outcome(call: Promise<unknown>): Promise<string> {
  return await call.then(shown, shown);
}

verifies(
  'KIT-OAUTH-1',
  'no secret of a sign-in is in a log, an error, a result, a page or a file name',
  async () => {
    const server = await startAuthorizationServer();
    const sent: string[] = [];
    const recording: typeof fetch = async (input, init) => {
      if (init?.body instanceof URLSearchParams || typeof init?.body === 'string')
        sent.push(String(init.body));
      return await fetch(input, init);
    };
    const encrypted = await createEncryptedStore(createFileStore({ folder }), Buffer.alloc(32, 1));
    const tokenStore = asKeyValue(encrypted);
    const { loopback, log, clock } = await createSignIn(server, {
      ...HOSTED,
      scope: 'openid email offline_access',
      tokenStore,
      fetch: recording,
      headless: true,
    });
    const seen: string[] = [];
    const secrets = new Set<string>([HOSTED.clientSecret]);
    const remember = async (): Promise<void> => {
      const token = (await tokenStore.get('mail:me')) as { accessToken: string; refreshToken: string };
      secrets.add(token.accessToken).add(token.refreshToken);
    };
    const refusal: unknown = await loopback
      .getAccessToken({ account: 'me' })
      .catch((error: unknown) => error);
    const { authUrl } = refusal as { authUrl: string };
    const callback = (await createHeadlessBrowser().visit(authUrl, HOSTED.redirectUri)).url;
    secrets.add(new URL(callback).searchParams.get('code') ?? '');
    const page = await createCallbackHandler(loopback)(new Request(callback));
    seen.push(shown(refusal), await page.text(), shown([...page.headers]));
    await remember();
    clock.aheadMs += 301_000;
    const token = await loopback.getAccessToken({ account: 'me' });
    await remember();
    for (const body of sent) secrets.add(new URLSearchParams(body).get('code_verifier') ?? token);
    await server.stop();
    clock.aheadMs += 301_000;
    seen.push(await outcome(loopback.getAccessToken({ account: 'me' })));
    seen.push(await outcome(loopback.accounts()), await outcome(loopback.handleCallback(callback)));
    const files = readdirSync(folder, { recursive: true }) as string[];
    const bytes = readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'latin1'));
    expect(bytes.length).toBeGreaterThan(1);
    seen.push(await outcome(loopback.logout('me')));
    expect(secrets.size).toBeGreaterThanOrEqual(7);
    expect(leaks([...secrets], [...seen, ...log, ...files, ...bytes])).toEqual([]);
    // The check finds secrets: the requests to the issuer have them.
    expect(leaks([...secrets], sent).length).toBeGreaterThan(3);
  },
);

verifies(
  'KIT-OAUTH-1',
  'an issuer that plays secrets back gets none into a log, an error or a page',
  async () => {
    const issuer = await startHostileIssuer();
    const secrets = [
      'canary-refresh',
      'canary-access',
      'canary-code',
      'canary-client-secret',
      'canary-verifier',
    ];
    const all = secrets.join(' ');
    const json = { 'content-type': 'application/json' };
    const answers: IssuerAnswer[] = [
      { status: 400, body: { error: all, error_description: all, error_uri: `https://x/?${all}` } },
      { status: 400, body: { error: 'invalid_client', error_description: all } },
      { status: 400, body: { error: 'invalid_grant', error_description: `AADSTS50011 ${all}` } },
      { status: 401, headers: { 'www-authenticate': `Bearer realm="${all}", error="${all}"` }, body: all },
      { status: 302, headers: { location: `https://evil.example/?${all}` }, body: all },
      { status: 500, body: all },
      { status: 200, body: all },
      { status: 200, headers: json, body: `{"access_token":"canary-access","x":${all}` },
      { body: { access_token: 'canary-access', refresh_token: 'canary-refresh', token_type: 'mac' } },
      { body: { access_token: 'canary-access', token_type: 'Bearer', expires_in: -1 } },
      {
        body: {
          access_token: 'canary-access',
          token_type: 'Bearer',
          id_token: 'canary-access.canary-code.x',
        },
      },
      { body: { refresh_token: 'canary-refresh', token_type: all } },
    ];
    const texts = (await Promise.all(answers.map((answer) => sessionWith(issuer, answer)))).flat();
    expect(leaks(secrets, texts)).toEqual([]);
    expect(texts.length).toBeGreaterThan(4 * answers.length);
    await issuer.close();
  },
);

/** Signs in, refreshes and signs out at an issuer that gives this answer; returns everything that can be read afterwards. */
async function sessionWith(issuer: HostileIssuer, answer: IssuerAnswer): Promise<string[]> {
  issuer.callback = { code: 'canary-code', error_description: 'canary-code' };
  const { loopback, store, log, pages } = await createSignIn(issuer, {
    scope: 'mail.read',
    clientSecret: 'canary-client-secret',
    fetch: async (input, init) => {
      if (init?.method !== 'POST') return await fetch(input, init);
      const { status = 200, headers = {}, body } = answer;
      return new Response(typeof body === 'string' ? body : JSON.stringify(body), {
        status,
        headers: { ...(typeof body === 'string' ? {} : { 'content-type': 'application/json' }), ...headers },
      });
    },
  });
  const record = { accessToken: 'canary-access', refreshToken: 'canary-refresh', expiresAt: 1 };
  store.set('mail:me', record).set('mail:', { accounts: ['me'] });
  const seen = [await outcome(loopback.login())];
  seen.push(await outcome(loopback.getAccessToken({ account: 'me', interactive: false })));
  store.set('mail:me', record);
  seen.push(await outcome(loopback.logout('me')));
  return [...seen, ...log, ...pages.map(({ body }) => body)];
}

test('an error of the sign-in has no cause, because causes hold responses', async () => {
  const issuer = await startHostileIssuer();
  issuer.answer = () => ({ status: 400, body: { error: 'invalid_grant' } });
  const { loopback } = await createSignIn(issuer, { scope: 'mail.read' });
  const error: unknown = await loopback.login().catch((reason: unknown) => reason);
  expect((error as Error).cause).toBeUndefined();
  await issuer.close();
});
