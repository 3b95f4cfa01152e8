import { AuthRequiredError, type OAuthFactoryConfig } from '@weir/server/oauth';
import { describe, expect, test } from 'vitest';
import { createSignIn } from '../support/sign-in.ts';
import { verifies } from '../verifies.ts';

const TENANT = '11111111-2222-3333-4444-555555555555';
const OTHER_TENANT = '99999999-2222-3333-4444-555555555555';
const MICROSOFT = 'https://login.microsoftonline.com';

interface Provider {
  readonly metadata: { readonly issuer: string } & Record<string, unknown>;
  readonly claims: Record<string, unknown>;
  /** Addresses of the requests, in order. */
  readonly requests: string[];
}

/** Plays a provider that cannot be reached from a test. */
function fetchFrom({ metadata, claims, requests }: Provider, nonce: () => string): typeof fetch {
  return (input, init) => {
    const { url } = new Request(input);
    requests.push(url);
    if (init?.method !== 'POST') return Promise.resolve(Response.json(metadata));
    const seconds = Math.floor(Date.now() / 1000);
    const idToken = { aud: 'client', iat: seconds, exp: seconds + 300, nonce: nonce(), ...claims };
    const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
    const token = [part({ alg: 'RS256' }), part(idToken), part({})].join('.');
    return Promise.resolve(
      Response.json({ access_token: 'access', token_type: 'Bearer', expires_in: 3600, id_token: token }),
    );
  };
}

function google(claims: object): Provider {
  const issuer = 'https://accounts.google.com';
  return {
    metadata: {
      issuer,
      authorization_endpoint: `${issuer}/o/oauth2/v2/auth`,
      token_endpoint: 'https://oauth2.googleapis.com/token',
      code_challenge_methods_supported: ['plain', 'S256'],
    },
    claims: { iss: issuer, sub: '1234', ...claims },
    requests: [],
  };
}

/** Metadata of all tenants: its issuer has a placeholder, and it does not list PKCE methods. */
function microsoft(tenantOfToken: string): Provider {
  return {
    metadata: {
      issuer: `${MICROSOFT}/{tenantid}/v2.0`,
      authorization_endpoint: `${MICROSOFT}/common/oauth2/v2.0/authorize`,
      token_endpoint: `${MICROSOFT}/common/oauth2/v2.0/token`,
    },
    claims: { iss: `${MICROSOFT}/${tenantOfToken}/v2.0`, tid: tenantOfToken, sub: 'subject' },
    requests: [],
  };
}

/** Signs in by a pasted callback; `iss` is added to it where it is given. */
async function signInAt(
  name: OAuthFactoryConfig['provider'],
  provider: Provider,
  iss?: string,
): Promise<{ account: string; query: URLSearchParams }> {
  let query = new URLSearchParams();
  const { loopback } = await createSignIn(
    { issuer: '' },
    {
      provider: name,
      issuer: undefined,
      clientId: 'client',
      scope: 'openid email',
      headless: true,
      callbackPath: undefined,
      fetch: fetchFrom(provider, () => query.get('nonce') ?? ''),
    },
  );
  const error: unknown = await loopback.getAccessToken().catch((reason: unknown) => reason);
  if (!(error instanceof AuthRequiredError)) throw error;
  query = new URL(error.authUrl).searchParams;
  const callback = new URL(query.get('redirect_uri') ?? '');
  callback.search = String(
    new URLSearchParams({ code: 'code', state: query.get('state') ?? '', ...(iss !== undefined && { iss }) }),
  );
  return { ...(await loopback.handleCallback(callback)), query };
}

describe('Google', () => {
  verifies(
    'KIT-OAUTH-1',
    'Google signs in at its own addresses, and names the account by its email',
    async () => {
      const provider = google({ email: 'me@gmail.example', email_verified: true });
      const { account, query } = await signInAt('google', provider);
      expect(account).toBe('me@gmail.example');
      expect(query.get('access_type')).toBe('offline');
      expect(provider.requests).toEqual([
        'https://accounts.google.com/.well-known/openid-configuration',
        'https://oauth2.googleapis.com/token',
      ]);
    },
  );

  test.each([{ email_verified: false }, {}, { email_verified: 'true' }])(
    'an email with %o does not name an account',
    async (claims) => {
      const { account } = await signInAt('google', google({ email: 'victim@gmail.example', ...claims }));
      expect(account).toBe('1234');
    },
  );
});

describe('Microsoft', () => {
  verifies('KIT-OAUTH-1', 'Microsoft signs in users of any tenant', async () => {
    const provider = microsoft(TENANT);
    const { account, query } = await signInAt('microsoft', provider);
    expect(account).toBe('subject');
    expect(query.get('scope')).toBe('openid email offline_access');
    expect(query.get('code_challenge_method')).toBe('S256');
    expect(provider.requests[0]).toBe(`${MICROSOFT}/common/v2.0/.well-known/openid-configuration`);
  });

  test('iss of a tenant is accepted, any other is refused', async () => {
    const iss = `${MICROSOFT}/${TENANT}/v2.0`;
    expect((await signInAt('microsoft', microsoft(TENANT), iss)).account).toBe('subject');
    for (const wrong of [`${MICROSOFT}/common/v2.0`, `https://evil.example/${TENANT}/v2.0`, `${iss}/`, ''])
      await expect(signInAt('microsoft', microsoft(TENANT), wrong)).rejects.toThrow(
        'does not come from the issuer',
      );
  });

  test('an ID token whose issuer and tenant disagree is refused', async () => {
    const provider = microsoft(TENANT);
    const mixed = { ...provider, claims: { ...provider.claims, tid: OTHER_TENANT } };
    await expect(signInAt('microsoft', mixed)).rejects.toThrow(
      'issued for another sign-in, client or issuer',
    );
  });
});
