import { describe, expect, test } from 'vitest';
import { verifies } from '../../../../tests/verifies.ts';
import { checkOAuthConfig, type OAuthFactoryConfig } from './oauth-config.ts';

const GOOD: OAuthFactoryConfig = {
  provider: 'oidc',
  issuer: 'https://issuer.example',
  service: 'mail',
  clientId: 'client',
  scope: 'openid email',
  headless: false,
  tokenStore: new Map(),
};

function problemsOf(members: object): string[] {
  try {
    checkOAuthConfig({ ...GOOD, ...members });
    return [];
  } catch (error) {
    return (error as Error).message.replace('createOAuthAdapters cannot use its config: ', '').split('; ');
  }
}

/** Returns the first word of each problem. */
function fieldsOf(members: object): string[] {
  return problemsOf(members).map((problem) => problem.split(' ')[0] ?? '');
}

describe('the config of createOAuthAdapters', () => {
  const issuer = undefined;
  test.each([
    ['the least for an issuer', {}],
    ['the least for Google', { provider: 'google', issuer }],
    ['the least for Microsoft', { provider: 'microsoft', issuer }],
    ['a tenant', { provider: 'microsoft', issuer, tenant: 'contoso.onmicrosoft.com' }],
    ['a tenant id', { provider: 'microsoft', issuer, tenant: '9188040d-6c67-4c5b-b112-36a304b66dad' }],
    ['Google at another issuer', { provider: 'google' }],
    ['an issuer with a path', { issuer: 'https://issuer.example/realms/a' }],
    ['an issuer on loopback', { issuer: 'http://127.0.0.1:8080' }],
    ['an issuer on IPv6 loopback', { issuer: 'http://[::1]:8080' }],
    ['a secret', { clientSecret: 'secret' }],
    ['a fixed callback', { redirectUri: 'https://app.example/oauth/callback' }],
    ['a fixed callback on loopback', { redirectUri: 'http://localhost:3000/oauth/callback' }],
    ['a callback path', { callbackPath: '/callback' }],
    ['console as logger', { logger: console }],
    ['functions', { now: Date.now, fetch, openBrowser: () => {}, onAuthUrl: () => {} }],
    [
      'fields that are undefined',
      { clientSecret: undefined, tenant: undefined, logger: undefined, now: undefined },
    ],
  ])('%s is enough', (_title, members) => {
    expect(problemsOf(members)).toEqual([]);
  });

  test.each([
    ['provider', { provider: 'github' }],
    ['service', { service: undefined }],
    ['service', { service: '' }],
    ['service', { service: 'a:b' }],
    ['service', { service: '../x' }],
    ['service', { service: 'a'.repeat(101) }],
    ['clientId', { clientId: '' }],
    ['clientId', { clientId: 'a b' }],
    ['clientSecret', { clientSecret: '' }],
    ['clientSecret', { clientSecret: 7 }],
    ['scope', { scope: '' }],
    ['scope', { scope: 'a  b' }],
    ['scope', { scope: 'a"b' }],
    ['scope', { scope: ['a'] }],
    ['headless', { headless: undefined }],
    ['headless', { headless: 'true' }],
    ['tokenStore', { tokenStore: undefined }],
    ['tokenStore', { tokenStore: { get() {}, set() {} } }],
    ['logger', { logger: { info() {} } }],
    ['tenant', { tenant: 'common', issuer: undefined, provider: 'google' }],
    ['tenant', { tenant: 'common', provider: 'microsoft' }],
    ['tenant', { tenant: 'a/b', issuer: undefined, provider: 'microsoft' }],
    ['issuer', { issuer: undefined }],
    ['issuer', { issuer: 'issuer.example' }],
    ['issuer', { issuer: 'http://issuer.example' }],
    ['issuer', { issuer: 'https://user:password@issuer.example' }],
    ['issuer', { issuer: 'https://issuer.example?x' }],
    ['issuer', { issuer: 'https://issuer.example#x' }],
    ['issuer', { issuer: 'file:///etc/passwd' }],
    ['redirectUri', { redirectUri: 'http://app.example/callback' }],
    ['redirectUri', { redirectUri: 'javascript:alert(1)' }],
    ['redirectUri', { redirectUri: 'https://app.example/callback?x=1' }],
    ['callbackPath', { callbackPath: 'callback' }],
    ['callbackPath', { callbackPath: '/a?b' }],
    ['callbackPath', { callbackPath: '/callback', redirectUri: 'https://app.example/callback' }],
    ['now', { now: 0 }],
    ['fetch', { fetch: {} }],
    ['openBrowser', { openBrowser: 'firefox' }],
    ['onAuthUrl', { onAuthUrl: true }],
  ])('%s is named in the error for %o', (field, members) => {
    expect(fieldsOf(members)).toEqual([field]);
  });

  verifies('KIT-OAUTH-1', 'one error names every missing or misplaced field', () => {
    const config = {
      provider: 'oidc',
      tenant: 'common',
      clientSecret: '',
      callbackPath: '/x',
      redirectUri: 'x',
    };
    let message = '';
    try {
      checkOAuthConfig(config as unknown as OAuthFactoryConfig);
    } catch (error) {
      ({ message } = error as Error);
    }
    for (const field of [
      'service',
      'clientId',
      'clientSecret',
      'scope',
      'headless',
      'tokenStore',
      'tenant',
      'issuer',
      'redirectUri',
      'callbackPath',
    ])
      expect(message).toMatch(new RegExp(`[:;] ${field} (?:must|is) `));
  });

  test('no value stands in the error', () => {
    expect(
      problemsOf({ clientSecret: 7, issuer: 'canary', tenant: 'canary', clientId: 'ca nary' }).join(),
    ).not.toContain('canary');
  });

  test.each([undefined, null, 'x', 7])('%s instead of a config is an error with all fields', (config) => {
    expect(() => checkOAuthConfig(config as unknown as OAuthFactoryConfig)).toThrow('provider must be');
  });
});
