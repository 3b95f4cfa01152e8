import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from '../logger.ts';
import { type CachedToken, isFresh } from './cached-token.ts';
import { OAuthRequestError } from './oauth-errors.ts';
import type { OidcClient } from './oidc-client.ts';
import type { ServiceTokens, TokenStore } from './token-store.ts';
import { untilAborted } from './waiting.ts';

interface RefreshContext {
  readonly store: TokenStore;
  readonly tokens: ServiceTokens;
  readonly client: OidcClient;
  readonly now: () => number;
  readonly logger: Logger | undefined;
}

// Keyed by the caller's store: a server may make adapters per request, and those share one refresh.
const refreshes = new WeakMap<TokenStore, Map<string, Promise<CachedToken | undefined>>>();

/**
 * Returns a token with enough time left; undefined where the account has to sign in. The signal ends the wait, never the
 * refresh: an answer that is not stored would lose a rotated refresh token.
 */
export async function freshToken(
  context: RefreshContext,
  account: string,
  signal: AbortSignal | undefined,
): Promise<CachedToken | undefined> {
  const token = await context.tokens.read(account);
  if (token === undefined || isFresh(token, context.now())) return token;
  if (token.refreshToken === undefined) return undefined;
  return await untilAborted(sharedRefresh(context, account), signal);
}

function sharedRefresh(context: RefreshContext, account: string): Promise<CachedToken | undefined> {
  const running = refreshes.get(context.store) ?? new Map<string, Promise<CachedToken | undefined>>();
  refreshes.set(context.store, running);
  const key = context.tokens.key(account);
  const present = running.get(key);
  if (present !== undefined) return present;
  const refresh = refreshUnderLock(context, account).finally(() => running.delete(key));
  // Each caller may have cancelled.
  refresh.catch(() => {});
  running.set(key, refresh);
  return refresh;
}

async function refreshUnderLock(context: RefreshContext, account: string): Promise<CachedToken | undefined> {
  const { tokens, now } = context;
  return await tokens.exclusively(account, async () => {
    // Another process may have refreshed it while this one waited for the lock.
    const token = await tokens.read(account);
    return token === undefined || isFresh(token, now()) ? token : await renew(context, account, token);
  });
}

async function renew(
  context: RefreshContext,
  account: string,
  token: CachedToken,
): Promise<CachedToken | undefined> {
  if (token.refreshToken === undefined) return undefined;
  try {
    const renewed = await context.client.refresh(token, token.refreshToken);
    return await keep(context, account, token, renewed);
  } catch (error) {
    if (!(error instanceof OAuthRequestError)) throw error;
    if (error.error === 'invalid_grant') return await afterInvalidGrant(context, account, token);
    if (error.retryable && (token.expiresAt ?? 0) > context.now()) return token;
    throw error;
  }
}

/** Stores a renewed token, but not where the account signed out or in again meanwhile, in a process that shares no lock. */
async function keep(
  { tokens, logger }: RefreshContext,
  account: string,
  used: CachedToken,
  renewed: CachedToken,
): Promise<CachedToken | undefined> {
  const current = await tokens.read(account);
  if (current?.refreshToken !== used.refreshToken) return current;
  await tokens.save(account, renewed);
  logger?.debug(`The token ${tokens.key(account)} has been refreshed`);
  return renewed;
}

/** Deletes a token whose refresh token the issuer no longer takes, unless another process has stored a newer one. */
async function afterInvalidGrant(
  context: RefreshContext,
  account: string,
  used: CachedToken,
): Promise<CachedToken | undefined> {
  const { tokens, now, logger } = context;
  const current = await laterRecord(context, account, used);
  if (current === undefined || isFresh(current, now())) return current;
  if (current.refreshToken !== used.refreshToken) return await renew(context, account, current);
  await tokens.remove(account);
  logger?.warn(`The issuer no longer accepts the token ${tokens.key(account)}: sign in again`);
  return undefined;
}

/** Milliseconds and times to look for the record of a process that used the refresh token first. */
const LOOK_AGAIN = { everyMs: 100, times: 5 };

async function laterRecord(
  { tokens, store }: RefreshContext,
  account: string,
  used: CachedToken,
): Promise<CachedToken | undefined> {
  // Under the lock of a store no other process can be about to write.
  const times = store.lock === undefined ? LOOK_AGAIN.times : 0;
  for (let look = 0; look < times; look += 1) {
    const current = await tokens.read(account);
    if (current?.accessToken !== used.accessToken) return current;
    await delay(LOOK_AGAIN.everyMs);
  }
  return await tokens.read(account);
}
