import { isSameSubject } from './account-subject.ts';
import type { AuthPrompt, CallbackOptions, LoginOptions } from './auth-adapter.ts';
import type { CachedToken } from './cached-token.ts';
import { beginDeviceLogin } from './device-login.ts';
import type { OAuthFactoryConfig } from './oauth-config.ts';
import { AuthRequiredError, OAuthRequestError } from './oauth-errors.ts';
import type { SignInGrant, OidcClient } from './oidc-client.ts';
import { type Callbacks, createCallbacks, type LoginContext, type PendingLogin } from './pending-login.ts';
import type { ProviderProfile } from './providers.ts';
import { openSystemBrowser } from './system-browser.ts';
import type { ServiceTokens } from './token-store.ts';
import { sleep, untilAborted } from './waiting.ts';

interface Session {
  readonly account: string;
  readonly token: CachedToken;
}

/** Sign-ins of one adapter; callers that want the same account share one. */
export interface Logins {
  /** Begins a sign-in, or finds the one that waits, and leaves it to its user. */
  begin(options: LoginOptions): Promise<AuthPrompt>;
  /**
   * Shows the sign-in to the user and waits for its end. For a call of a client, the wait is short, and the sign-in stays
   * open after it; otherwise the last caller that leaves ends it.
   */
  wait(options: LoginOptions, isCall: boolean): Promise<Session>;
  handleCallback(search: URLSearchParams, options: CallbackOptions): Promise<Session>;
}

export function createLogins(
  config: OAuthFactoryConfig,
  profile: ProviderProfile,
  client: OidcClient,
  tokens: ServiceTokens,
): Logins {
  const { now = Date.now, service } = config;
  const context = {
    client,
    service,
    now,
    save: (grant: SignInGrant, name?: string) => save(tokens, grant, name),
  };
  const callbacks = createCallbacks<Session>(context);
  const shared = new Map<string | undefined, SharedLogin>();
  const join = (account: string | undefined): SharedLogin => {
    const present = shared.get(account);
    if (present !== undefined) return present;
    const pending = beginLogin(config, profile, { context, callbacks, tokens }, account);
    const forget = (): void => void (shared.get(account) === login && shared.delete(account));
    const login: SharedLogin = {
      pending,
      forget,
      waiters: 0,
      isDetached: false,
      isTold: false,
    };
    shared.set(account, login);
    void outcomeOf(pending).then((failure) => {
      forget();
      if (failure !== undefined) config.logger?.warn(`The sign-in to ${service} has ended: ${failure}`);
    });
    return login;
  };
  return {
    async begin({ account, signal, onAuthUrl }) {
      const login = join(account);
      login.isDetached = true;
      const { prompt } = await untilAborted(login.pending, signal);
      // Over HTTP the error tells the user, and the log is that of the operator.
      if (onAuthUrl !== undefined || config.redirectUri === undefined) tell(login, prompt, config, onAuthUrl);
      return prompt;
    },
    async wait(options, isCall) {
      const login = join(options.account);
      login.isDetached ||= isCall;
      return await waitFor(login, config, options, isCall);
    },
    async handleCallback(search, { account }) {
      const session = callbacks.complete(search, {
        isAllowed: (own) => account === undefined || own === account,
      });
      if (session !== undefined) return await session;
      throw new OAuthRequestError('The callback belongs to no sign-in that waits: begin it again', {
        code: 'NOT_FOUND',
      });
    },
  };
}

interface SharedLogin {
  readonly pending: Promise<PendingLogin<Session>>;
  /** Makes the next caller begin another sign-in. */
  readonly forget: () => void;
  waiters: number;
  /** Stays open for its user where no caller waits. */
  isDetached: boolean;
  isTold: boolean;
  /** Resolves to false where no browser could be opened. */
  isOpened?: Promise<boolean>;
}

/** Waits for the end of a sign-in and returns why it failed; undefined where it succeeded. */
async function outcomeOf(pending: Promise<PendingLogin<Session>>): Promise<string | undefined> {
  try {
    const { finished } = await pending;
    await finished;
    return undefined;
  } catch (error) {
    // Texts of others may hold an address with a code in it.
    return error instanceof OAuthRequestError
      ? error.message
      : 'it was cancelled, or the tokens could not be stored';
  }
}

/** Stores the tokens of a sign-in under the name that the caller chose, or the issuer, and binds that to its user. */
async function save(tokens: ServiceTokens, grant: SignInGrant, name: string | undefined): Promise<Session> {
  const account = name ?? grant.account ?? 'default';
  const { token, subject } = grant;
  await tokens.exclusively(account, async () => {
    await checkSubject(tokens, grant, account);
    if (subject !== undefined) await tokens.bind(account, subject);
    await tokens.save(account, token);
  });
  return { account, token };
}

/** Refuses another user than the one whom the account belongs to, for example one who was signed in at the issuer already. */
async function checkSubject(tokens: ServiceTokens, { subject }: SignInGrant, account: string): Promise<void> {
  const known = await tokens.subject(account);
  if (known === undefined || isSameSubject(known, subject)) return;
  const reason =
    subject === undefined
      ? 'the issuer does not say who has signed in (is openid in the scope?)'
      : 'another user has signed in';
  throw new OAuthRequestError(
    `Account '${account}' belongs to a user who is known, but ${reason}; nothing was stored. Sign in as that user, or log the account out first`,
    { code: 'FORBIDDEN' },
  );
}

interface Beginnings {
  readonly context: LoginContext<Session>;
  readonly callbacks: Callbacks<Session>;
  readonly tokens: ServiceTokens;
}

async function beginLogin(
  config: OAuthFactoryConfig,
  { callbackPath: path }: ProviderProfile,
  { context, callbacks, tokens }: Beginnings,
  account: string | undefined,
): Promise<PendingLogin<Session>> {
  const { headless, redirectUri } = config;
  const device =
    headless && redirectUri === undefined ? await tryDevice(config, context, account) : undefined;
  if (device !== undefined) return device;
  const hint = await emailOf(tokens, account);
  return await callbacks.begin({ account, hint, redirectUri, path });
}

/** Returns the email that the issuer knows the user of an account by. Other names are the caller's own. */
async function emailOf(tokens: ServiceTokens, account: string | undefined): Promise<string | undefined> {
  if (account === undefined) return undefined;
  const { email } = (await tokens.subject(account)) ?? {};
  return email ?? (account.includes('@') ? account : undefined);
}

async function tryDevice(
  { logger, service }: OAuthFactoryConfig,
  context: LoginContext<Session>,
  account: string | undefined,
): Promise<PendingLogin<Session> | undefined> {
  try {
    return await beginDeviceLogin(context, account);
  } catch (error) {
    // The issuer has a device flow, but not for this client or these scopes.
    if (!(error instanceof OAuthRequestError) || error.error === undefined) throw error;
    logger?.warn(`The sign-in to ${service} uses a loopback address, not the device flow: ${error.message}`);
    return undefined;
  }
}

/** Milliseconds that a call waits for a user: many clients give a call up after a minute. */
const CALL_WAITS_MS = 45_000;

async function waitFor(
  login: SharedLogin,
  config: OAuthFactoryConfig,
  options: LoginOptions,
  isCall: boolean,
): Promise<Session> {
  const ended = new AbortController();
  login.waiters += 1;
  try {
    const { prompt, finished } = await untilAborted(login.pending, options.signal);
    show(login, prompt, config, options.onAuthUrl);
    const ends = [finished];
    if (!isShown(config, options, isCall)) ends.push(noBrowser(login, prompt));
    if (isCall) ends.push(timeUp(prompt, ended.signal));
    const end = Promise.race(ends);
    // A caller that has cancelled by now does not look at it.
    end.catch(() => {});
    return await untilAborted(end, options.signal);
  } finally {
    ended.abort();
    login.waiters -= 1;
    if (login.waiters === 0 && !login.isDetached) abandon(login);
  }
}

/** Tells that the user sees the address without a browser, too. Users of a call do not read the log of the server. */
function isShown({ onAuthUrl, logger }: OAuthFactoryConfig, options: LoginOptions, isCall: boolean): boolean {
  return (options.onAuthUrl ?? onAuthUrl ?? (isCall ? undefined : logger)) !== undefined;
}

/** Rejects where no browser could be opened: the caller has to show the address, at which the sign-in waits. */
async function noBrowser(login: SharedLogin, prompt: AuthPrompt): Promise<never> {
  if ((await login.isOpened) !== false) return await new Promise<never>(() => {});
  login.isDetached = true;
  throw new AuthRequiredError(prompt);
}

async function timeUp(prompt: AuthPrompt, ended: AbortSignal): Promise<never> {
  await sleep(CALL_WAITS_MS, ended);
  throw new AuthRequiredError(prompt);
}

/** Ends a sign-in that no caller waits for. One that has succeeded or failed stays as it is. */
function abandon({ pending, forget }: SharedLogin): void {
  forget();
  pending.then(
    ({ cancel }) => cancel(new Error('The callers have cancelled')),
    () => {},
  );
}

/** Shows the address to the user: in a browser, to `onAuthUrl`, or both; without either, in the log. */
function show(
  login: SharedLogin,
  prompt: AuthPrompt,
  config: OAuthFactoryConfig,
  onAuthUrl: LoginOptions['onAuthUrl'],
): void {
  const isSilent = (onAuthUrl ?? config.onAuthUrl ?? config.logger) === undefined;
  if (isSilent && config.headless)
    throw new Error('A headless sign-in has no place to show its address: pass onAuthUrl or logger');
  // The address holds `state` and `nonce`: the log gets it only where the user has to read it there.
  if (config.headless || (onAuthUrl ?? config.onAuthUrl) !== undefined)
    tell(login, prompt, config, onAuthUrl);
  // Once, however many callers wait: 50 calls do not open 50 windows.
  if (!config.headless) login.isOpened ??= openBrowser(prompt, config);
}

/** Tells a caller that asks for it each time, the config's `onAuthUrl` or the logger once. */
function tell(
  login: SharedLogin,
  prompt: AuthPrompt,
  config: OAuthFactoryConfig,
  onAuthUrl: LoginOptions['onAuthUrl'],
): void {
  if (onAuthUrl !== undefined) return onAuthUrl(prompt);
  if (login.isTold) return;
  login.isTold = true;
  if (config.onAuthUrl !== undefined) config.onAuthUrl(prompt);
  else config.logger?.info(`${prompt.message} ${prompt.authUrl}`);
}

async function openBrowser(
  { authUrl }: AuthPrompt,
  { openBrowser: open = openSystemBrowser, logger }: OAuthFactoryConfig,
): Promise<boolean> {
  try {
    logger?.debug(`Opening a browser at ${authUrl}`);
    await open(authUrl);
    return true;
  } catch {
    logger?.warn(`No browser could be opened: open ${authUrl} yourself`);
    return false;
  }
}
