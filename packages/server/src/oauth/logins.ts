import type { AuthPrompt, CallbackOptions, LoginOptions } from './auth-adapter.ts';
import type { CachedToken } from './cached-token.ts';
import { beginDeviceLogin } from './device-login.ts';
import type { OAuthFactoryConfig } from './oauth-config.ts';
import { OAuthRequestError } from './oauth-errors.ts';
import type { SignInGrant, OidcClient } from './oidc-client.ts';
import { type Callbacks, createCallbacks, type LoginContext, type PendingLogin } from './pending-login.ts';
import type { ProviderProfile } from './providers.ts';
import { openSystemBrowser } from './system-browser.ts';
import type { ServiceTokens } from './token-store.ts';
import { untilAborted } from './waiting.ts';

interface Session {
  readonly account: string;
  readonly token: CachedToken;
}

/** Sign-ins of one adapter; callers that want the same account share one. */
export interface Logins {
  /** Begins a sign-in, or finds the one that waits, and leaves it to its user. */
  begin(options: LoginOptions): Promise<AuthPrompt>;
  /** Shows the sign-in to the user and waits for its end. The last caller that leaves ends one that does not stay open. */
  wait(options: LoginOptions, staysOpen: boolean): Promise<Session>;
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
    const pending = beginLogin(config, profile, { context, callbacks }, account);
    const forget = (): void => void (shared.get(account) === login && shared.delete(account));
    const login: SharedLogin = {
      pending,
      forget,
      waiters: 0,
      isDetached: false,
      isTold: false,
      isOpened: false,
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
    async wait(options, staysOpen) {
      const login = join(options.account);
      login.isDetached ||= staysOpen;
      return await waitFor(login, config, options);
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
  isOpened: boolean;
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

/** Stores the tokens of a sign-in under the name that the caller chose, or the issuer. */
async function save(tokens: ServiceTokens, grant: SignInGrant, name: string | undefined): Promise<Session> {
  const account = name ?? grant.account ?? 'default';
  await tokens.exclusively(account, () => tokens.save(account, grant.token));
  return { account, token: grant.token };
}

interface Beginnings {
  readonly context: LoginContext<Session>;
  readonly callbacks: Callbacks<Session>;
}

async function beginLogin(
  config: OAuthFactoryConfig,
  { callbackPath: path }: ProviderProfile,
  { context, callbacks }: Beginnings,
  account: string | undefined,
): Promise<PendingLogin<Session>> {
  const { headless, redirectUri } = config;
  const device =
    headless && redirectUri === undefined ? await tryDevice(config, context, account) : undefined;
  return device ?? (await callbacks.begin({ account, redirectUri, path }));
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

async function waitFor(
  login: SharedLogin,
  config: OAuthFactoryConfig,
  options: LoginOptions,
): Promise<Session> {
  login.waiters += 1;
  try {
    const pending = await untilAborted(login.pending, options.signal);
    show(login, pending.prompt, config, options.onAuthUrl);
    return await untilAborted(pending.finished, options.signal);
  } finally {
    login.waiters -= 1;
    if (login.waiters === 0 && !login.isDetached) abandon(login);
  }
}

/** Ends a sign-in that no caller waits for. One that has succeeded or failed stays as it is. */
function abandon({ pending, forget }: SharedLogin): void {
  forget();
  pending.then(
    ({ cancel }) => cancel(new Error('The callers have cancelled')),
    () => {},
  );
}

/** Shows the address to the user, who may see a browser, the text, or both. */
function show(
  login: SharedLogin,
  prompt: AuthPrompt,
  config: OAuthFactoryConfig,
  onAuthUrl: LoginOptions['onAuthUrl'],
): void {
  const isSilent = (onAuthUrl ?? config.onAuthUrl ?? config.logger) === undefined;
  if (isSilent && config.headless)
    throw new Error('A headless sign-in has no place to show its address: pass onAuthUrl or logger');
  tell(login, prompt, config, onAuthUrl);
  // Once, however many callers wait: 50 calls do not open 50 windows.
  if (config.headless || login.isOpened) return;
  login.isOpened = true;
  void openBrowser(prompt, config);
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

async function openBrowser({ authUrl }: AuthPrompt, config: OAuthFactoryConfig): Promise<void> {
  try {
    await (config.openBrowser ?? openSystemBrowser)(authUrl);
  } catch {
    config.logger?.warn(`No browser could be opened: open ${authUrl} yourself`);
  }
}
