import { randomBytes } from 'node:crypto';
import type { AuthPrompt } from './auth-adapter.ts';
import { listenForCallback } from './callback-listener.ts';
import { SIGN_IN_FAILED, SIGNED_IN } from './callback-page.ts';
import { OAuthRequestError } from './oauth-errors.ts';
import type { SignInGrant, OidcClient } from './oidc-client.ts';
import { type Deferred, deferred } from './waiting.ts';

/** Sign-in that waits for its user. */
export interface PendingLogin<Result> {
  readonly prompt: AuthPrompt;
  readonly finished: Promise<Result>;
  readonly cancel: (reason: Error) => void;
}

/** Milliseconds for a user to sign in by an address. */
const LOGIN_LASTS_MS = 5 * 60_000;

/** Addresses that wait at once; beyond, the oldest stops working. */
const MOST_CALLBACKS = 1000;

export interface LoginContext<Result> {
  readonly client: OidcClient;
  readonly service: string;
  readonly now: () => number;
  /** Stores the tokens; the browser learns only after that that the sign-in has succeeded. */
  save(grant: SignInGrant, account: string | undefined): Promise<Result>;
}

/** Sign-ins that wait for a callback. */
export interface Callbacks<Result> {
  /** Begins one. Listens on loopback, unless `redirectUri` names the address where the caller listens. */
  begin(options: {
    account: string | undefined;
    hint: string | undefined;
    redirectUri: string | undefined;
    path: string | undefined;
  }): Promise<PendingLogin<Result>>;
  /** Completes the one that these parameters belong to; undefined where none does. */
  complete(search: URLSearchParams, options?: Completion): Promise<Result> | undefined;
}

interface Completion {
  readonly isAllowed?: (account: string | undefined) => boolean;
  /** Delays those who wait for the sign-in, one of which may end the process, until the browser has its page. */
  readonly isSent?: Promise<unknown>;
}

interface Waiting<Result> {
  readonly account: string | undefined;
  finish(search: URLSearchParams, isSent: Promise<unknown> | undefined): Promise<Result>;
  readonly cancel: (reason: Error) => void;
}

export function createCallbacks<Result>(context: LoginContext<Result>): Callbacks<Result> {
  const waiting = new Map<string, Waiting<Result>>();
  const complete: Callbacks<Result>['complete'] = (search, { isAllowed, isSent } = {}) => {
    const [state = '', ...more] = search.getAll('state');
    const login = more.length === 0 ? waiting.get(state) : undefined;
    if (login === undefined) return undefined;
    // Single use: removed before anything is awaited.
    waiting.delete(state);
    if (isAllowed?.(login.account) !== false) return login.finish(search, isSent);
    const refusal = new OAuthRequestError('Another account began this sign-in', {
      code: 'FORBIDDEN',
    });
    login.cancel(refusal);
    return Promise.reject(refusal);
  };
  return {
    complete,
    async begin({ account, hint, redirectUri, path }) {
      const state = randomBytes(32).toString('base64url');
      const listener = redirectUri === undefined ? await listen(path, complete) : undefined;
      const end = (): void => {
        waiting.delete(state);
        listener?.close();
      };
      const result = deferred<Result>();
      try {
        const request = await context.client.authorize({
          redirectUri: redirectUri ?? listener?.redirectUri ?? '',
          state,
          hint,
        });
        const finish = async (search: URLSearchParams): Promise<Result> =>
          await context.save(await request.complete(search), account);
        waiting.set(state, {
          account,
          finish: (search, isSent) => settle(result, finish(search), isSent),
          cancel: result.reject,
        });
        evictOldest(waiting);
        endWith(result, end);
        return { prompt: promptOf(context, request.url), finished: result.promise, cancel: result.reject };
      } catch (error) {
        end();
        throw error;
      }
    },
  };
}

function listen<Result>(
  path: string | undefined,
  complete: Callbacks<Result>['complete'],
): ReturnType<typeof listenForCallback> {
  return listenForCallback(path, (search, isSent) =>
    complete(search, { isSent })?.then(
      () => SIGNED_IN,
      () => SIGN_IN_FAILED,
    ),
  );
}

/** Settles the result as the work ends, but not before the browser has its page. Returns the work. */
function settle<Result>(
  result: Deferred<Result>,
  work: Promise<Result>,
  isSent: Promise<unknown> | undefined,
): Promise<Result> {
  void Promise.allSettled([work])
    .then(() => isSent)
    // A browser that has gone gets no page.
    .catch(() => {})
    .then(() => work.then(result.resolve, result.reject));
  return work;
}

/** Frees what a sign-in holds once it has ended, at the latest after the time that it lasts. */
function endWith<Result>(result: Deferred<Result>, end: () => void): void {
  const timer = setTimeout(() => {
    result.reject(
      new OAuthRequestError(`No sign-in within ${LOGIN_LASTS_MS / 60_000} minutes`, {
        error: 'expired_token',
      }),
    );
  }, LOGIN_LASTS_MS).unref();
  const release = (): void => {
    clearTimeout(timer);
    end();
  };
  result.promise.then(release, release);
}

function evictOldest<Result>(waiting: Map<string, Waiting<Result>>): void {
  const [oldest] = waiting.values();
  if (waiting.size > MOST_CALLBACKS)
    oldest?.cancel(new OAuthRequestError('Too many sign-ins wait', { retryable: true }));
}

function promptOf(context: Pick<LoginContext<unknown>, 'service' | 'now'>, authUrl: string): AuthPrompt {
  return {
    message: `Sign in to ${context.service} and try again.`,
    authUrl,
    expiresAt: context.now() + LOGIN_LASTS_MS,
  };
}
