import type { AccessTokenOptions, AuthAdapter, SignedIn, SignedOut } from './auth-adapter.ts';
import type { CachedToken } from './cached-token.ts';
import { createLogins, type Logins } from './logins.ts';
import type { OAuthFactoryConfig } from './oauth-config.ts';
import { AuthRequiredError, OAuthRequestError } from './oauth-errors.ts';
import type { OidcClient } from './oidc-client.ts';
import type { ProviderProfile } from './providers.ts';
import { freshToken } from './token-refresh.ts';
import { createServiceTokens, encodedAccount, type ServiceTokens } from './token-store.ts';

export function createLoopbackAdapter(
  config: OAuthFactoryConfig,
  profile: ProviderProfile,
  client: OidcClient,
): AuthAdapter {
  const { tokenStore: store, service, logger, now = Date.now } = config;
  const tokens = createServiceTokens(store, service);
  const logins = createLogins(config, profile, client, tokens);
  const chosen = (account: string | undefined): Promise<string | undefined> =>
    chooseAccount(config, tokens, account);
  const refreshing = { store, tokens, client, now, logger };
  return {
    async getAccessToken(options = {}) {
      options.signal?.throwIfAborted();
      const account = await chosen(options.account);
      const token = account === undefined ? undefined : await freshToken(refreshing, account, options.signal);
      if (token !== undefined) return token.accessToken;
      const interactive = options.interactive ?? !config.headless;
      return await tokenBySignIn(logins, { ...options, account, interactive });
    },
    async login(options = {}) {
      requireAccount(config, options.account);
      const { account } = await keepAlive(logins.wait(options, false));
      return { account };
    },
    async logout(account) {
      const name = await chosen(account);
      if (name === undefined) throw new Error(`No account is signed in to ${service}`);
      return await tokens.exclusively(name, () => signOut({ tokens, client, logger }, name));
    },
    accounts: () => tokens.accounts(),
    async handleCallback(url, options = {}) {
      const { account } = await logins.handleCallback(parametersOf(url), options);
      return { account };
    },
  };
}

/** Reads the parameters of an address, or of its path alone. The error of `new URL` would quote the code in it. */
function parametersOf(url: string | URL): URLSearchParams {
  const [, query = ''] = String(url).split('?');
  return new URLSearchParams(query.split('#')[0]);
}

/** Milliseconds that a timer can have; the timer only keeps the process alive. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** Keeps the process alive while this is waited for: listeners and timers of sign-ins do not. */
async function keepAlive(signIn: Promise<SignedIn>): Promise<SignedIn> {
  const timer = setTimeout(() => {}, LONGEST_TIMER_MS);
  try {
    return await signIn;
  } finally {
    clearTimeout(timer);
  }
}

async function tokenBySignIn(logins: Logins, options: AccessTokenOptions): Promise<string> {
  if (options.interactive !== true) throw new AuthRequiredError(await logins.begin(options));
  // A call may end before a user has signed in: the next one finds the token.
  const { token } = await logins.wait(options, true);
  return token.accessToken;
}

/** Returns the account that a call means: without a name, the only one there is. */
async function chooseAccount(
  config: OAuthFactoryConfig,
  tokens: ServiceTokens,
  account: string | undefined,
): Promise<string | undefined> {
  requireAccount(config, account);
  if (account !== undefined) return account;
  const accounts = await tokens.accounts();
  if (accounts.length > 1)
    throw new Error(
      `${accounts.length} accounts are signed in to ${config.service}: pass \`account\`, one of those that accounts() lists`,
    );
  return accounts[0];
}

/** A server with a fixed callback may have several users: the only account there is could be that of another one. */
function requireAccount({ redirectUri, service }: OAuthFactoryConfig, account: string | undefined): void {
  if (account !== undefined) encodedAccount(account);
  else if (redirectUri !== undefined)
    throw new Error(
      `account is missing: with redirectUri, several users may sign in to ${service}; pass the one that calls`,
    );
}

interface SignOutContext extends Pick<OAuthFactoryConfig, 'logger'> {
  readonly tokens: ServiceTokens;
  readonly client: OidcClient;
}

async function signOut(context: SignOutContext, account: string): Promise<SignedOut> {
  const { tokens } = context;
  const token = await tokens.read(account);
  // A token that the issuer no longer takes is gone, but the account is still kept for its user.
  if (token === undefined && (await tokens.subject(account)) === undefined)
    throw new Error(`Account '${account}' is not signed in: ${tokens.key(account)} is not in the store`);
  try {
    return { account, revoked: token === undefined || (await revokeBoth(context, account, token)) };
  } finally {
    await tokens.remove(account);
    await tokens.forget(account);
  }
}

/** Revokes the refresh token first: an issuer that fails then has at least revoked what lasts. */
async function revokeBoth(context: SignOutContext, account: string, token: CachedToken): Promise<boolean> {
  const refreshRevoked =
    token.refreshToken === undefined || (await revoke(context, account, token.refreshToken, 'refresh_token'));
  const accessRevoked = await revoke(context, account, token.accessToken, 'access_token');
  return refreshRevoked && accessRevoked;
}

async function revoke(
  { client, tokens, logger }: SignOutContext,
  account: string,
  token: string,
  kind: 'access_token' | 'refresh_token',
): Promise<boolean> {
  const place = `the ${kind} of ${tokens.key(account)}`;
  try {
    const isRevoked = await client.revoke(token, kind);
    if (!isRevoked)
      logger?.warn(`The issuer has no revocation endpoint: ${place} is deleted here and expires there`);
    return isRevoked;
  } catch (error) {
    if (!(error instanceof OAuthRequestError)) throw error;
    logger?.warn(`Revoking ${place} failed, it is deleted here only: ${error.message}`);
    return false;
  }
}
