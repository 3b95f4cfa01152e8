import type { Logger } from '../logger.ts';
import type { AuthPrompt } from './auth-adapter.ts';
import type { TokenStore } from './token-store.ts';
import { isLoopback } from './web-address.ts';

/** Options of `createOAuthAdapters`. */
export interface OAuthFactoryConfig {
  readonly provider: 'google' | 'microsoft' | 'oidc';
  /** Name of the service the tokens are for, such as `gmail`: the first half of the keys in the store. */
  readonly service: string;
  readonly clientId: string;
  /** Absent for a public client. Google gives one to desktop apps, too. */
  readonly clientSecret?: string | undefined;
  /** Scopes separated by spaces. With `openid email`, accounts are named after the user's email. */
  readonly scope: string;
  /** Shows the address to visit instead of opening a browser; uses the device flow where the issuer has it. */
  readonly headless: boolean;
  /** Keyv, the encrypted store, or anything with `get`, `set` and `delete`. */
  readonly tokenStore: TokenStore;
  readonly logger?: Logger | undefined;
  /** Microsoft only: a tenant's id or domain, `organizations`, `consumers` or `common`, the default. */
  readonly tenant?: string | undefined;
  /** Address of the issuer, exactly as its metadata spells it. Required for `oidc`; replaces the provider's own otherwise. */
  readonly issuer?: string | undefined;
  /** Fixed callback address of a server over HTTP; pass its requests to `handleCallback`. Default: a loopback listener. */
  readonly redirectUri?: string | undefined;
  /** Path of the loopback callback, for issuers that compare it. Default: a random one; `/` for Microsoft. */
  readonly callbackPath?: string | undefined;
  /** Gets each address to visit. Default: the logger's `info`, or its `debug` where a browser opens. */
  readonly onAuthUrl?: ((prompt: AuthPrompt) => void) | undefined;
  /** Opens an address; throws where it cannot. Default: the system's browser, started without a shell. */
  readonly openBrowser?: ((url: string) => void | Promise<void>) | undefined;
  /** Sends the requests to the issuer. */
  readonly fetch?: typeof globalThis.fetch | undefined;
  /** Clock in milliseconds since 1970. */
  readonly now?: (() => number) | undefined;
}

/** Throws one error that names every missing or misplaced field. Values stay out of it: one may be a secret. */
export function checkOAuthConfig(config: OAuthFactoryConfig): void {
  const fields = asFields(config);
  const problems = RULES.flatMap((rule) => rule(fields) ?? []);
  if (problems.length > 0)
    throw new Error(`createOAuthAdapters cannot use its config: ${problems.join('; ')}`);
}

type Fields = Readonly<Record<string, unknown>>;
type Rule = (fields: Fields) => string | undefined;

const PROVIDERS: readonly unknown[] = ['google', 'microsoft', 'oidc'];

const RULES: readonly Rule[] = [
  ({ provider }) =>
    PROVIDERS.includes(provider) ? undefined : "provider must be 'google', 'microsoft' or 'oidc'",
  ({ service }) =>
    isText(service, /^[\w.@+~-]{1,100}$/)
      ? undefined
      : 'service must be a name of letters, digits and . _ - + ~ @, such as gmail',
  ({ clientId }) =>
    isText(clientId, /^[\x21-\x7e]+$/) ? undefined : 'clientId must be the id of the OAuth client',
  optional(
    'clientSecret',
    (value) => isText(value, /./),
    'a non-empty string, or left out for a public client',
  ),
  ({ scope }) =>
    isText(scope, /^[\x21\x23-\x5b\x5d-\x7e]+(?: [\x21\x23-\x5b\x5d-\x7e]+)*$/)
      ? undefined
      : 'scope must be a list of scopes separated by single spaces',
  ({ headless }) => (typeof headless === 'boolean' ? undefined : 'headless must be true or false'),
  ({ tokenStore }) =>
    hasMethods(tokenStore, ['get', 'set', 'delete'])
      ? undefined
      : 'tokenStore must have get, set and delete, such as a Keyv or a store of @weir/server/store',
  optional(
    'logger',
    (value) => hasMethods(value, ['debug', 'info', 'warn', 'error']),
    'a logger such as console',
  ),
  optional('tenant', (value) => isText(value, /^[\w.-]+$/), "a tenant's id or domain, or common"),
  ({ tenant, provider }) =>
    tenant !== undefined && provider !== 'microsoft' ? "tenant is only for provider 'microsoft'" : undefined,
  ({ tenant, issuer }) =>
    tenant !== undefined && issuer !== undefined ? 'tenant and issuer exclude each other' : undefined,
  ({ issuer, provider }) =>
    issuer === undefined && provider === 'oidc' ? "issuer is required for provider 'oidc'" : undefined,
  optional('issuer', isPlainAddress, addressOf('issuer')),
  optional('redirectUri', isPlainAddress, addressOf('callback')),
  optional('callbackPath', (value) => isText(value, /^\/[\w./~-]*$/), 'a path such as /callback'),
  ({ callbackPath, redirectUri }) =>
    callbackPath !== undefined && redirectUri !== undefined
      ? 'callbackPath is only for the loopback callback: redirectUri has its own path'
      : undefined,
  ...['onAuthUrl', 'openBrowser', 'fetch', 'now'].map((name) =>
    optional(name, (value) => typeof value === 'function', 'a function'),
  ),
];

function addressOf(of: string): string {
  return `the address of the ${of}: https (http only on loopback), without user, query and fragment`;
}

function optional(name: string, isValid: (value: unknown) => boolean, expected: string): Rule {
  return (fields) =>
    fields[name] === undefined || isValid(fields[name]) ? undefined : `${name} must be ${expected}`;
}

function isText(value: unknown, pattern: RegExp): boolean {
  return typeof value === 'string' && pattern.test(value);
}

function hasMethods(value: unknown, names: readonly string[]): boolean {
  return (
    typeof value === 'object' &&
    value !== null &&
    names.every((name) => typeof Reflect.get(value, name) === 'function')
  );
}

function isPlainAddress(value: unknown): boolean {
  if (typeof value !== 'string' || !URL.canParse(value) || /[?#\s\\]/.test(value)) return false;
  const { protocol, hostname, username, password } = new URL(value);
  const isSafe = protocol === 'https:' || (protocol === 'http:' && isLoopback(hostname));
  return isSafe && username === '' && password === '';
}

function asFields(config: unknown): Fields {
  return typeof config === 'object' && config !== null ? { ...config } : {};
}
