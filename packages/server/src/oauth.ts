export type {
  AccessTokenOptions,
  AuthAdapter,
  AuthPrompt,
  CallbackOptions,
  LoginOptions,
  SignedIn,
  SignedOut,
} from './oauth/auth-adapter.ts';
export type { CachedToken } from './oauth/cached-token.ts';
export { type AccountOfRequest, createCallbackHandler } from './oauth/callback-handler.ts';
export { createOAuthAdapters, type OAuthAdapters } from './oauth/create-oauth-adapters.ts';
export type { OAuthFactoryConfig } from './oauth/oauth-config.ts';
export { AuthRequiredError, OAuthRequestError } from './oauth/oauth-errors.ts';
export type { TokenStore } from './oauth/token-store.ts';
