import type * as OpenIdClient from 'openid-client';
import type { AuthAdapter } from './auth-adapter.ts';
import { createLoopbackAdapter } from './loopback-adapter.ts';
import { checkOAuthConfig, type OAuthFactoryConfig } from './oauth-config.ts';
import { createOidcClient } from './oidc-client.ts';
import { profileOf } from './providers.ts';

export interface OAuthAdapters {
  readonly loopback: AuthAdapter;
}

/**
 * Creates the adapter that signs users in at Google, Microsoft or any OpenID Connect issuer. Checks the whole config
 * before it imports `openid-client`, an optional peer. Sends nothing: the issuer is first asked at the first use.
 */
export async function createOAuthAdapters(config: OAuthFactoryConfig): Promise<OAuthAdapters> {
  checkOAuthConfig(config);
  const profile = profileOf(config);
  const client = createOidcClient(await importOpenIdClient(), config, profile);
  return { loopback: createLoopbackAdapter(config, profile, client) };
}

async function importOpenIdClient(): Promise<typeof OpenIdClient> {
  try {
    return await import('openid-client');
  } catch (error) {
    throw new Error(
      "createOAuthAdapters needs the package 'openid-client', which cannot be imported: npm install openid-client@6",
      { cause: error },
    );
  }
}
