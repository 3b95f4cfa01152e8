/** Signs users in at one identity provider and keeps their tokens. The active account is the caller's affair: name it in each call. */
export interface AuthAdapter {
  /**
   * Returns an access token with more than 60 s left, refreshed where necessary. Without a usable token, opens a browser and
   * waits for 45 s (`interactive`). Throws an `AuthRequiredError` with the address to visit where that is not enough, where no
   * browser can be opened, or at once; the sign-in stays open for 5 minutes, and the next call finds its token.
   */
  getAccessToken(options?: AccessTokenOptions): Promise<string>;
  /**
   * Signs an account in, also where it is signed in already. Keeps the process alive while it waits. An account belongs to the
   * user who signs in first, as the ID token names them; another one is refused until `logout`. Without `openid` in the scope
   * there is no ID token, and users are not compared.
   */
  login(options?: LoginOptions): Promise<SignedIn>;
  /** Revokes the tokens of an account at the issuer, then deletes them, even where revoking fails, and forgets its user. */
  logout(account?: string): Promise<SignedOut>;
  /** Lists the accounts that have tokens, sorted. */
  accounts(): Promise<string[]>;
  /**
   * Completes a sign-in with the address that the browser was sent to: that of `redirectUri`, or one that a user pastes
   * whose browser runs on another machine. Each address works once, for 5 minutes.
   */
  handleCallback(url: string | URL, options?: CallbackOptions): Promise<SignedIn>;
}

export interface LoginOptions {
  /** Name to keep the tokens under. Default: the verified email or the subject of the ID token, else `default`. */
  readonly account?: string | undefined;
  /** Ends the wait of this caller. A sign-in that `login` began ends with its last caller; any other stays open for its user. */
  readonly signal?: AbortSignal | undefined;
  /** Gets the address to visit; replaces the `onAuthUrl` of the config for this call. */
  readonly onAuthUrl?: ((prompt: AuthPrompt) => void) | undefined;
}

export interface AccessTokenOptions extends LoginOptions {
  /** Opens a browser and waits before it throws `AuthRequiredError`. Default: true, but false where `headless` is set. */
  readonly interactive?: boolean | undefined;
}

export interface CallbackOptions {
  /** Account of the user whose browser sent the request; a sign-in that another account began is refused. */
  readonly account?: string | undefined;
}

/** Request to a user to sign in. */
export interface AuthPrompt {
  /** Sentence for the user, without the address. */
  readonly message: string;
  /** Address to open in a browser. */
  readonly authUrl: string;
  /** Code of the device flow, to be entered at the address. */
  readonly userCode?: string;
  /** Milliseconds since 1970 at which the address stops working. */
  readonly expiresAt: number;
}

export interface SignedIn {
  readonly account: string;
}

export interface SignedOut {
  readonly account: string;
  /** False where the issuer did not revoke all tokens; the log says why. They are deleted here either way. */
  readonly revoked: boolean;
}
