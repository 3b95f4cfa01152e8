import { describe, expect, test } from 'vitest';
import { verifies } from '../../../../tests/verifies.ts';
import type { OAuthFactoryConfig } from './oauth-config.ts';
import { profileOf } from './providers.ts';

const BASE = { service: 'mail', clientId: 'client', scope: 'openid', headless: false, tokenStore: new Map() };

function profile(members: Partial<OAuthFactoryConfig> & Pick<OAuthFactoryConfig, 'provider'>) {
  return profileOf({ ...BASE, ...members });
}

describe('the providers', () => {
  verifies('KIT-OAUTH-1', 'Microsoft has the tenant common unless another is named', () => {
    expect(profile({ provider: 'microsoft' }).issuer).toBe('https://login.microsoftonline.com/common/v2.0');
    const own = profile({ provider: 'microsoft', tenant: 'contoso.example' });
    expect(own.issuer).toBe('https://login.microsoftonline.com/contoso.example/v2.0');
  });

  test('Google is asked for a refresh token and for the choice of an account', () => {
    const { issuer, authorizationParameters } = profile({ provider: 'google' });
    expect(issuer).toBe('https://accounts.google.com');
    expect(authorizationParameters(undefined)).toEqual({
      access_type: 'offline',
      prompt: 'select_account consent',
    });
    expect(authorizationParameters('me@example.test')).toEqual({
      access_type: 'offline',
      prompt: 'consent',
      login_hint: 'me@example.test',
    });
  });

  test('Microsoft is asked for offline_access once, and for the choice of an account', () => {
    expect(profile({ provider: 'microsoft' }).scope).toBe('openid offline_access');
    expect(profile({ provider: 'microsoft', scope: 'offline_access x' }).scope).toBe('offline_access x');
    expect(profile({ provider: 'microsoft' }).authorizationParameters(undefined)).toEqual({
      prompt: 'select_account',
    });
  });

  test('an issuer is asked for consent where a refresh token is wanted', () => {
    const plain = profile({ provider: 'oidc', issuer: 'https://issuer.example' });
    expect(plain.authorizationParameters(undefined)).toEqual({});
    expect(plain.authorizationParameters('me@example.test')).toEqual({ login_hint: 'me@example.test' });
    const offline = profile({ provider: 'oidc', issuer: 'https://issuer.example', scope: 'offline_access' });
    expect(offline.authorizationParameters(undefined)).toEqual({ prompt: 'consent' });
    expect(offline.deviceParameters).toEqual({ prompt: 'consent' });
  });

  test.each([
    ['https://login.microsoftonline.com/{tenantid}/v2.0', true],
    ['https://login.microsoftonline.com/9188040d-6c67-4c5b-b112-36a304b66dad/v2.0', true],
    ['https://login.microsoftonline.com/common/v2.0', false],
    ['https://login.microsoftonline.com.evil.example/{tenantid}/v2.0', false],
    ['https://evil.example/{tenantid}/v2.0', false],
  ])('%s in the metadata of Microsoft is accepted: %s', (issuer, isAccepted) => {
    expect(profile({ provider: 'microsoft' }).acceptsIssuer(issuer)).toBe(isAccepted);
  });

  test.each(['google', 'oidc', 'microsoft'] as const)(
    '%s at another issuer accepts that one alone',
    (provider) => {
      const { acceptsIssuer } = profile({ provider, issuer: 'https://issuer.example' });
      expect(acceptsIssuer('https://issuer.example')).toBe(true);
      expect(acceptsIssuer('https://issuer.example/')).toBe(false);
      expect(acceptsIssuer('https://accounts.google.com')).toBe(false);
    },
  );
});
