import { generateKeyPairSync, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Provider } from 'oidc-provider';

export interface AuthorizationServer {
  readonly issuer: string;
  /** Grant types of the token requests that succeeded, in order; failed ones begin with `!`. */
  readonly grants: string[];
  /** Tokens that were revoked, counted. */
  readonly revocations: () => number;
  /** User who signs in and consents at once; undefined refuses. */
  user: string | undefined;
  /** Closes the port; requests are refused from then on. */
  stop(): Promise<void>;
  /** Listens on the same port again, with all grants. */
  start(): Promise<void>;
}

export interface AuthorizationServerOptions {
  readonly hasDeviceFlow?: boolean;
  readonly hasRevocation?: boolean;
  /** Seconds that an access token lives. */
  readonly accessTokenLivesS?: number;
}

/** Client with a secret and a fixed callback. */
export const HOSTED = {
  clientId: 'hosted',
  clientSecret: 'hosted-secret-of-at-least-32-characters',
  redirectUri: 'https://app.example.test/oauth/callback',
} as const;

/** Public client with a loopback callback, on any port, under this path. */
const NATIVE = { clientId: 'native', callbackPath: '/callback' } as const;

/** Starts a certified OpenID provider on loopback. */
export async function startAuthorizationServer(
  options: AuthorizationServerOptions = {},
): Promise<AuthorizationServer> {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const issuer = `http://127.0.0.1:${port}`;
  const provider = await createProvider(issuer, options);
  const serve = provider.callback();
  const grants: string[] = [];
  let revocations = 0;
  provider.on('grant.success', ({ oidc }) => void grants.push(oidc.params?.grant_type ?? ''));
  provider.on('grant.error', ({ oidc }) => void grants.push(`!${oidc.params?.grant_type ?? ''}`));
  const self: AuthorizationServer = {
    issuer,
    grants,
    revocations: () => revocations,
    user: 'alice',
    async stop() {
      if (!server.listening) return;
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
    async start() {
      server.listen(port, '127.0.0.1');
      await once(server, 'listening');
    },
  };
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    if (request.url === '/token/revocation') revocations += 1;
    if (request.url?.startsWith('/interaction/') === true)
      void interact(provider, self.user, request, response);
    else serve(request, response);
  });
  return self;
}

async function createProvider(issuer: string, options: AuthorizationServerOptions): Promise<Provider> {
  const { hasDeviceFlow = true, hasRevocation = true, accessTokenLivesS = 300 } = options;
  quieten();
  const { Provider: OidcProvider } = await import('oidc-provider');
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  return new OidcProvider(issuer, {
    clients: clients(hasDeviceFlow),
    jwks: { keys: [{ ...privateKey.export({ format: 'jwk' }), kid: 'key', alg: 'ES256', use: 'sig' }] },
    cookies: { keys: [randomUUID()] },
    findAccount: (_context: unknown, accountId: string) => ({
      accountId,
      claims: () => ({ sub: accountId, email: `${accountId}@example.test`, email_verified: true }),
    }),
    scopes: ['openid', 'offline_access', 'email', 'mail.read'],
    claims: { openid: ['sub'], email: ['email', 'email_verified'] },
    conformIdTokenClaims: false,
    pkce: { required: () => true },
    rotateRefreshToken: true,
    ttl: {
      AccessToken: accessTokenLivesS,
      AuthorizationCode: 60,
      RefreshToken: 3600,
      Grant: 3600,
      Session: 3600,
      Interaction: 600,
      IdToken: 300,
      DeviceCode: 600,
    },
    interactions: { url: (_context: unknown, { uid }: { uid: string }) => `/interaction/${uid}` },
    features: {
      devInteractions: { enabled: false },
      revocation: { enabled: hasRevocation },
      deviceFlow: { enabled: hasDeviceFlow },
    },
  });
}

function clients(hasDeviceFlow: boolean): object[] {
  const grantTypes = ['authorization_code', 'refresh_token'];
  const device = hasDeviceFlow ? ['urn:ietf:params:oauth:grant-type:device_code'] : [];
  return [
    {
      client_id: NATIVE.clientId,
      application_type: 'native',
      token_endpoint_auth_method: 'none',
      id_token_signed_response_alg: 'ES256',
      redirect_uris: [`http://127.0.0.1${NATIVE.callbackPath}`],
      grant_types: [...grantTypes, ...device],
    },
    {
      client_id: HOSTED.clientId,
      client_secret: HOSTED.clientSecret,
      token_endpoint_auth_method: 'client_secret_post',
      id_token_signed_response_alg: 'ES256',
      redirect_uris: [HOSTED.redirectUri],
      grant_types: grantTypes,
    },
  ];
}

/** Plays the user: signs in and consents to everything that is asked, or refuses. */
async function interact(
  provider: Provider,
  user: string | undefined,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  if (user === undefined) {
    const refusal = { error: 'access_denied', error_description: '<script>refused</script>' };
    return await provider.interactionFinished(request, response, refusal);
  }
  const { prompt, params, session, grantId } = await provider.interactionDetails(request, response);
  if (prompt.name === 'login')
    return await provider.interactionFinished(request, response, { login: { accountId: user } });
  const known = grantId === undefined ? undefined : await provider.Grant.find(grantId);
  const grant =
    known ?? new provider.Grant({ accountId: session?.accountId ?? user, clientId: params.client_id });
  grant.addOIDCScope((prompt.details.missingOIDCScope ?? []).join(' '));
  grant.addOIDCClaims(prompt.details.missingOIDCClaims ?? []);
  const consent = { consent: { grantId: await grant.save() } };
  return await provider.interactionFinished(request, response, consent, { mergeWithLastSubmission: true });
}

/** Keeps the notes of the provider about its runtime and its defaults, which only matter in production, out of the output. */
function quieten(): void {
  for (const level of ['info', 'warn'] as const) {
    const write = console[level].bind(console);
    console[level] = (...texts: unknown[]) => {
      if (!String(texts[0]).includes('oidc-provider')) write(...texts);
    };
  }
}
