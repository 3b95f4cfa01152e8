import type { OAuthFactoryConfig } from './oauth-config.ts';

/** Differences between identity providers. */
export interface ProviderProfile {
  readonly issuer: string;
  /** Tells the `issuer` of a metadata document that belongs to this provider. */
  readonly acceptsIssuer: (issuer: string) => boolean;
  readonly scope: string;
  /** Path of the loopback callback; undefined for a random one. */
  readonly callbackPath: string | undefined;
  /**
   * Parameters of the authorization request that make the provider issue a refresh token. `hint` is the email of the user
   * who is asked for; without one, the user chooses.
   */
  authorizationParameters(hint: string | undefined): Record<string, string>;
  readonly deviceParameters: Record<string, string>;
}

export function profileOf(config: OAuthFactoryConfig): ProviderProfile {
  switch (config.provider) {
    case 'google':
      return google(config);
    case 'microsoft':
      return microsoft(config);
    case 'oidc':
      return anyIssuer(config, config.issuer ?? '');
  }
}

function anyIssuer(config: OAuthFactoryConfig, issuer: string): ProviderProfile {
  // OpenID Connect ignores `offline_access` without this prompt.
  const prompt: Record<string, string> = config.scope.split(' ').includes('offline_access')
    ? { prompt: 'consent' }
    : {};
  return {
    issuer,
    acceptsIssuer: (named) => named === issuer,
    scope: config.scope,
    callbackPath: config.callbackPath,
    authorizationParameters: (hint) => ({ ...prompt, ...hintOf(hint) }),
    deviceParameters: prompt,
  };
}

function google(config: OAuthFactoryConfig): ProviderProfile {
  return {
    ...anyIssuer(config, config.issuer ?? 'https://accounts.google.com'),
    authorizationParameters: (hint) => ({
      access_type: 'offline',
      prompt: hint === undefined ? 'select_account consent' : 'consent',
      ...hintOf(hint),
    }),
    deviceParameters: {},
  };
}

function microsoft(config: OAuthFactoryConfig): ProviderProfile {
  const ownIssuer = `https://login.microsoftonline.com/${config.tenant ?? 'common'}/v2.0`;
  const profile = anyIssuer(config, config.issuer ?? ownIssuer);
  return {
    ...profile,
    acceptsIssuer: config.issuer === undefined ? isMicrosoftIssuer : profile.acceptsIssuer,
    scope: withScope(config.scope, 'offline_access'),
    // Entra ignores the port of a registered loopback address, but compares its path.
    callbackPath: config.callbackPath ?? '/',
    authorizationParameters: (hint) => (hint === undefined ? { prompt: 'select_account' } : hintOf(hint)),
    deviceParameters: {},
  };
}

/** `common` and `organizations` name a template, a domain or `consumers` the id of the tenant. */
function isMicrosoftIssuer(issuer: string): boolean {
  return /^https:\/\/login\.microsoftonline\.com\/(?:\{tenantid\}|[0-9a-f-]{36})\/v2\.0$/.test(issuer);
}

function withScope(scope: string, extra: string): string {
  return scope.split(' ').includes(extra) ? scope : `${scope} ${extra}`;
}

function hintOf(hint: string | undefined): Record<string, string> {
  return hint === undefined ? {} : { login_hint: hint };
}
