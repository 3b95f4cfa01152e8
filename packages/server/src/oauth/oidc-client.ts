import type * as OpenIdClient from 'openid-client';
import type { AccountSubject } from './account-subject.ts';
import { type CachedToken, tokenFrom, type TokenResponse } from './cached-token.ts';
import { createGuardedFetch } from './guarded-fetch.ts';
import type { OAuthFactoryConfig } from './oauth-config.ts';
import { OAuthRequestError, requestErrorFrom } from './oauth-errors.ts';
import type { ProviderProfile } from './providers.ts';
import { browserAddress, isLoopback } from './web-address.ts';

/** Result of a sign-in. */
export interface SignInGrant {
  readonly token: CachedToken;
  /** Name that the ID token gives the user: the verified email, else the subject. */
  readonly account: string | undefined;
  /** User whom the ID token names; undefined without one, because `openid` is not in the scope. */
  readonly subject?: AccountSubject | undefined;
}

interface AuthorizationRequest {
  /** Address for the browser, checked. */
  readonly url: string;
  /** Exchanges the code of the callback. Throws where the callback belongs to another issuer or sign-in. */
  complete(callback: URLSearchParams): Promise<SignInGrant>;
}

export interface DeviceAuthorization {
  readonly deviceCode: string;
  readonly userCode: string;
  readonly url: string;
  readonly intervalMs: number;
  readonly lastsMs: number;
}

/** Requests to one issuer as one OAuth client. */
export interface OidcClient {
  authorize(request: {
    redirectUri: string;
    state: string;
    /** Email of the user who is asked for. */
    hint: string | undefined;
  }): Promise<AuthorizationRequest>;
  /** Begins a device flow; undefined where the issuer has none. */
  authorizeDevice(): Promise<DeviceAuthorization | undefined>;
  /** Asks once for the tokens of a device flow. */
  redeemDevice(deviceCode: string): Promise<SignInGrant>;
  refresh(token: CachedToken, refreshToken: string): Promise<CachedToken>;
  /** Revokes a token; false where the issuer has no endpoint for that. */
  revoke(token: string, kind: 'access_token' | 'refresh_token'): Promise<boolean>;
}

type Library = typeof OpenIdClient;
type Issuer = OpenIdClient.Configuration;
type LibraryResponse = TokenResponse & OpenIdClient.TokenEndpointResponseHelpers;

/** Creates the client. Metadata of the issuer is read at the first use, then kept. */
export function createOidcClient(
  library: Library,
  config: OAuthFactoryConfig,
  profile: ProviderProfile,
): OidcClient {
  const now = config.now ?? Date.now;
  const issuer = once(() => discover(library, config, profile));
  const grantOf = (response: LibraryResponse): SignInGrant => {
    const claims = response.claims();
    const email = verifiedEmailOf(claims);
    return {
      token: tokenFrom(response, now()),
      account: email ?? claims?.sub,
      subject: claims && { issuer: claims.iss, subject: claims.sub, ...(email !== undefined && { email }) },
    };
  };
  return {
    authorize: async (request) => authorize({ library, issuer: await issuer(), profile, grantOf }, request),
    authorizeDevice: async () => authorizeDevice(library, await issuer(), profile),
    async redeemDevice(deviceCode) {
      const parameters = { device_code: deviceCode };
      const at = await issuer();
      return grantOf(
        await safely('the device sign-in', () => library.genericGrantRequest(at, DEVICE_GRANT, parameters)),
      );
    },
    async refresh(token, refreshToken) {
      const at = await issuer();
      return tokenFrom(
        await safely('the refresh', () => library.refreshTokenGrant(at, refreshToken)),
        now(),
        token,
      );
    },
    async revoke(token, kind) {
      const at = await issuer();
      if (at.serverMetadata().revocation_endpoint === undefined) return false;
      await safely('the revocation', () => library.tokenRevocation(at, token, { token_type_hint: kind }));
      return true;
    },
  };
}

const DEVICE_GRANT = 'urn:ietf:params:oauth:grant-type:device_code';

/** Seconds that the library allows a request; the guarded fetch ends it earlier. */
const LIBRARY_TIMEOUT_S = 30;

async function discover(
  library: Library,
  config: OAuthFactoryConfig,
  profile: ProviderProfile,
): Promise<Issuer> {
  const address = new URL(profile.issuer);
  const mayUseHttp = address.protocol === 'http:' && isLoopback(address.hostname);
  const send = createGuardedFetch(config.fetch ?? globalThis.fetch, mayUseHttp);
  const authentication =
    config.clientSecret === undefined ? library.None() : library.ClientSecretPost(config.clientSecret);
  const issuer = await safely('the request for its metadata', () =>
    library.discovery(address, config.clientId, undefined, authentication, {
      [library.customFetch]: (url, init) => send(url, init as RequestInit),
      timeout: LIBRARY_TIMEOUT_S,
      execute: mayUseHttp ? [library.allowInsecureRequests] : [],
    }),
  );
  checkMetadata(issuer, profile);
  return issuer;
}

function checkMetadata(issuer: Issuer, profile: ProviderProfile): void {
  const { issuer: named, code_challenge_methods_supported: methods } = issuer.serverMetadata();
  if (!profile.acceptsIssuer(named))
    throw new OAuthRequestError(
      `The metadata at ${profile.issuer} belongs to another issuer: set \`issuer\` exactly as the metadata spells it`,
    );
  // RFC 8414: absent means unknown, not unsupported. Microsoft supports S256 and does not say so.
  if (methods !== undefined && !methods.includes('S256'))
    throw new OAuthRequestError(
      `The issuer ${profile.issuer} does not support PKCE with S256, which protects the sign-in`,
    );
}

interface AuthorizationContext {
  readonly library: Library;
  readonly issuer: Issuer;
  readonly profile: ProviderProfile;
  readonly grantOf: (response: LibraryResponse) => SignInGrant;
}

async function authorize(
  { library, issuer, profile, grantOf }: AuthorizationContext,
  { redirectUri, state, hint }: Parameters<OidcClient['authorize']>[0],
): Promise<AuthorizationRequest> {
  const pkceCodeVerifier = library.randomPKCECodeVerifier();
  // A nonce comes back in an ID token, which only this scope asks for.
  const nonce = profile.scope.split(' ').includes('openid') ? library.randomNonce() : undefined;
  const parameters = {
    // Serialised as the library does it for the token request: issuers compare the two.
    redirect_uri: new URL(redirectUri).href,
    scope: profile.scope,
    state,
    code_challenge: await library.calculatePKCECodeChallenge(pkceCodeVerifier),
    code_challenge_method: 'S256',
    ...(nonce !== undefined && { nonce }),
    ...profile.authorizationParameters(hint),
  };
  const url = await safely('the sign-in', async () => library.buildAuthorizationUrl(issuer, parameters));
  const checks = {
    pkceCodeVerifier,
    expectedState: state,
    ...(nonce !== undefined && { expectedNonce: nonce }),
  };
  return {
    url: browserAddress(url),
    async complete(callback) {
      const address = new URL(redirectUri);
      address.search = String(comparableCallback(callback, issuer));
      return grantOf(
        await safely('the sign-in', () => library.authorizationCodeGrant(issuer, address, checks)),
      );
    },
  };
}

/** Checks `iss` (RFC 9207) before anything else: the other parameters of a wrong issuer are not read. */
function comparableCallback(callback: URLSearchParams, issuer: Issuer): URLSearchParams {
  const { issuer: expected, authorization_response_iss_parameter_supported: isPromised } =
    issuer.serverMetadata();
  const named = callback.getAll('iss');
  if (named.length === 0 && isPromised !== true) return callback;
  const [iss = ''] = named;
  if (named.length !== 1 || !isIssuer(iss, expected))
    throw new OAuthRequestError(
      'The callback of the sign-in does not come from the issuer that was asked (iss)',
    );
  const comparable = new URLSearchParams(callback);
  comparable.set('iss', expected);
  return comparable;
}

/** Compares strings; Microsoft's metadata for all tenants has a placeholder for the id of one. */
function isIssuer(named: string, expected: string): boolean {
  const [before = '', after] = expected.split('{tenantid}');
  if (after === undefined) return named === expected;
  const tenant = named.slice(before.length, named.length - after.length);
  return named === `${before}${tenant}${after}` && /^[0-9a-f-]{36}$/.test(tenant);
}

async function authorizeDevice(
  library: Library,
  issuer: Issuer,
  profile: ProviderProfile,
): Promise<DeviceAuthorization | undefined> {
  if (issuer.serverMetadata().device_authorization_endpoint === undefined) return undefined;
  const answer = await safely('the device sign-in', () =>
    library.initiateDeviceAuthorization(issuer, { scope: profile.scope, ...profile.deviceParameters }),
  );
  return {
    deviceCode: answer.device_code,
    userCode: answer.user_code,
    url: browserAddress(answer.verification_uri_complete ?? answer.verification_uri),
    intervalMs: (answer.interval ?? 5) * 1000,
    lastsMs: answer.expires_in * 1000,
  };
}

/** Returns the email of a user. One that the issuer has not verified could be that of another. */
function verifiedEmailOf(claims: OpenIdClient.IDToken | undefined): string | undefined {
  const email = claims?.['email'];
  return typeof email === 'string' && claims?.['email_verified'] === true ? email : undefined;
}

/** Runs a request of the library, whose errors must not leave this file. */
async function safely<Result>(action: string, request: () => Promise<Result>): Promise<Result> {
  try {
    return await request();
  } catch (error) {
    throw requestErrorFrom(error, action);
  }
}

/** Keeps the result of the first success; a failure is tried again by the next caller. */
function once<Result>(load: () => Promise<Result>): () => Promise<Result> {
  let loaded: Promise<Result> | undefined;
  const reset = (error: unknown): never => {
    loaded = undefined;
    throw error;
  };
  return async () => await (loaded ??= load().catch(reset));
}
