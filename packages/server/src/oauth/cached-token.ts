import { OAuthRequestError } from './oauth-errors.ts';

/** Record of an account in the token store. */
export interface CachedToken {
  readonly accessToken: string;
  readonly refreshToken?: string;
  /** Milliseconds since 1970; absent where the issuer did not say. */
  readonly expiresAt?: number;
  readonly scope?: string;
}

/** Part of a token response that is kept. */
export interface TokenResponse {
  readonly access_token: string;
  readonly token_type: string;
  readonly refresh_token?: string | undefined;
  readonly expires_in?: number | undefined;
  readonly scope?: string | undefined;
}

/** Milliseconds that a token must have left: a call with it, and the clock of the other side, take a while. */
const LEAST_LEFT_MS = 60_000;

/** Ten years in seconds. A longer life is a mistake of the issuer, such as milliseconds. */
const LONGEST_LIFE_S = 315_360_000;

/** Checks a token response. `earlier` is the record that was refreshed: a response may leave out what has not changed. */
export function tokenFrom(response: TokenResponse, now: number, earlier?: CachedToken): CachedToken {
  const { access_token: accessToken, expires_in: expiresIn } = response;
  if (accessToken === '') throw invalid('the access token is empty');
  // RFC 6749, A.12: a line break in it would end the header that it is sent in.
  if (!/^[\x20-\x7e]+$/.test(accessToken))
    throw invalid('the access token has characters that none may have');
  if (response.token_type.toLowerCase() !== 'bearer') throw invalid('the token type is not Bearer');
  if (expiresIn !== undefined && !isLifetime(expiresIn)) throw invalid('expires_in is not a plausible time');
  const refreshToken = response.refresh_token ?? earlier?.refreshToken;
  const scope = response.scope ?? earlier?.scope;
  return {
    accessToken,
    ...(refreshToken !== undefined && { refreshToken }),
    ...(expiresIn !== undefined && { expiresAt: now + expiresIn * 1000 }),
    ...(scope !== undefined && { scope }),
  };
}

/** Tells a token that can be given to a caller. */
export function isFresh(token: CachedToken, now: number): boolean {
  return token.expiresAt === undefined || token.expiresAt - now > LEAST_LEFT_MS;
}

/** Reads a record of a store, which another program may have written; undefined for one of another shape. */
export function asCachedToken(value: unknown): CachedToken | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const { accessToken, refreshToken, expiresAt, scope } = value as Record<string, unknown>;
  if (typeof accessToken !== 'string' || accessToken === '') return undefined;
  return {
    accessToken,
    ...(typeof refreshToken === 'string' && refreshToken !== '' && { refreshToken }),
    // A record with a broken date counts as expired.
    ...(expiresAt !== undefined && { expiresAt: Number.isFinite(expiresAt) ? Number(expiresAt) : 0 }),
    ...(typeof scope === 'string' && { scope }),
  };
}

function isLifetime(seconds: number): boolean {
  return Number.isFinite(seconds) && seconds > 0 && seconds <= LONGEST_LIFE_S;
}

function invalid(reason: string): OAuthRequestError {
  return new OAuthRequestError(`The token response of the issuer is not valid: ${reason}`);
}
