import { describe, expect, test } from 'vitest';
import { describeContentType, describeFailure, describeRedirect, describeStatus } from './http-errors.ts';

const ORIGIN = 'https://example.com';
const failure = (code: string): string => describeFailure(Object.assign(new Error('x'), { code }), ORIGIN);

describe('errors of a connection', () => {
  test.each([
    ['CERT_HAS_EXPIRED', 'has an untrusted certificate'],
    ['DEPTH_ZERO_SELF_SIGNED_CERT', 'has an untrusted certificate'],
    ['SELF_SIGNED_CERT_IN_CHAIN', 'has an untrusted certificate'],
    ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'has an untrusted certificate'],
    ['UNABLE_TO_GET_ISSUER_CERT_LOCALLY', 'has an untrusted certificate'],
    ['ERR_TLS_CERT_ALTNAME_INVALID', 'has an untrusted certificate'],
    ['EPROTO', 'does not speak TLS'],
    ['ERR_SSL_WRONG_VERSION_NUMBER', 'does not speak TLS'],
    ['EAI_AGAIN', 'cannot be found'],
    ['ETIMEDOUT', 'did not accept a connection'],
    ['EHOSTUNREACH', 'cannot be reached'],
    ['EPIPE', 'closed the connection'],
    ['CONNECT_TIMEOUT', 'did not accept a connection'],
    ['EWHATEVER', 'cannot be reached'],
  ])('describeFailure explains %s', (code, beginning) => {
    expect(failure(code).startsWith(beginning)).toBe(true);
    expect(failure(code)).toContain(ORIGIN);
    expect(failure(code)).toContain(`(${code})`);
  });
});

describe('error responses', () => {
  test('describeStatus names the status and a remedy', () => {
    expect(describeStatus(429, 'tools/call')).toBe(
      'answered tools/call with HTTP 429 Too Many Requests; it limits the rate of calls: try again later',
    );
    expect(describeStatus(418, 'tools/call')).toContain('HTTP 418');
    expect(describeStatus(599, 'tools/call')).toContain('HTTP 599; try again');
  });

  test('describeRedirect reports a redirect without a location', () => {
    expect(describeRedirect(302, undefined, ORIGIN)).toBe('redirects without an address (HTTP 302)');
  });

  test('describeRedirect refuses a redirect to a file: URL', () => {
    expect(describeRedirect(307, new URL('file:///etc/passwd'), ORIGIN)).toMatch(
      /^redirects to a file: address \(HTTP 307\)/u,
    );
  });

  test('describeContentType shows only a valid content type', () => {
    expect(describeContentType('text/html', 'x')).toContain('text/html');
    expect(describeContentType('\u001b[31m', 'x')).toContain('no usable content type');
  });
});
