import type { AuthAdapter, CallbackOptions } from './auth-adapter.ts';
import {
  CALLBACK_HEADERS,
  type CallbackAnswer,
  NOT_FOUND,
  SIGN_IN_FAILED,
  SIGNED_IN,
} from './callback-page.ts';
import { OAuthRequestError } from './oauth-errors.ts';

/** Returns the account of the user whose browser sent the request, for example from a session cookie. */
export type AccountOfRequest = (request: Request) => string | undefined | Promise<string | undefined>;

/**
 * Creates a handler for requests to `redirectUri`. Pass `accountOf` where several users sign in: without it, a user who is
 * talked into opening another user's address signs in for that user.
 */
export function createCallbackHandler(
  adapter: AuthAdapter,
  accountOf?: AccountOfRequest,
): (request: Request) => Promise<Response> {
  return async (request) => {
    const { status, page } = await answerTo(adapter, request, accountOf);
    return new Response(page, { status, headers: CALLBACK_HEADERS });
  };
}

async function answerTo(
  adapter: AuthAdapter,
  request: Request,
  accountOf: AccountOfRequest | undefined,
): Promise<CallbackAnswer> {
  if (request.method !== 'GET') return NOT_FOUND;
  const account = await accountOf?.(request);
  // A browser without a session is not the one that began the sign-in.
  if (accountOf !== undefined && account === undefined) return SIGN_IN_FAILED;
  const options: CallbackOptions = { account };
  try {
    await adapter.handleCallback(request.url, options);
    return SIGNED_IN;
  } catch (error) {
    return error instanceof OAuthRequestError && error.code === 'NOT_FOUND' ? NOT_FOUND : SIGN_IN_FAILED;
  }
}
