import { describe, expect, test } from 'vitest';
import { verifies } from '../../../../tests/verifies.ts';
import { bracketed, isLoopback, urlOf } from './addresses.ts';
import { type AccessOptions, createAccessCheck } from './host-and-origin.ts';

/** Returns the header that refuses a request, or undefined. */
function refused(
  options: Partial<AccessOptions>,
  host: string | undefined,
  origin?: string,
  localAddress?: string,
): string | undefined {
  const check = createAccessCheck({ host: '127.0.0.1', port: 8808, ...options });
  return check({ host, origin, localAddress })?.header;
}

describe('the check of Host and Origin', () => {
  verifies('KIT-SCOPE-1', 'a Host is accepted with the port that is listened on and no other', () => {
    for (const host of ['127.0.0.1:8808', 'localhost:8808', '[::1]:8808', 'LOCALHOST:8808'])
      expect([host, refused({}, host)]).toEqual([host, undefined]);
    for (const host of [
      undefined,
      '',
      'localhost',
      'localhost:8809',
      'evil.example:8808',
      'localhost.evil.example:8808',
    ])
      expect([host, refused({}, host)]).toEqual([host, 'Host']);
  });

  verifies('KIT-SCOPE-1', 'an Origin is accepted with the port that is listened on and no other', () => {
    const own = 'localhost:8808';
    expect(refused({}, own, 'http://localhost:8808')).toBeUndefined();
    for (const origin of [
      'null',
      '',
      'http://localhost:8809',
      'https://localhost:8808',
      'http://evil.example',
    ])
      expect([origin, refused({}, own, origin)]).toEqual([origin, 'Origin']);
  });

  test('a named host and a named origin are accepted', () => {
    const options = { allowedHosts: ['Tools.example.org'], allowedOrigins: ['https://app.example.org'] };
    expect(refused(options, 'tools.example.org', 'https://tools.example.org')).toBeUndefined();
    expect(refused(options, 'tools.example.org', 'https://APP.example.org')).toBeUndefined();
    expect(refused(options, 'tools.example.org', 'http://app.example.org')).toBe('Origin');
    expect(refused(options, 'app.example.org')).toBe('Host');
  });

  test('a server on all addresses accepts the address that was connected to', () => {
    const options = { host: '0.0.0.0' };
    expect(refused(options, '10.1.2.3:8808', 'http://10.1.2.3:8808', '::ffff:10.1.2.3')).toBeUndefined();
    expect(refused(options, '10.1.2.4:8808', undefined, '10.1.2.3')).toBe('Host');
    expect(refused({ host: '::' }, '[fe80::1]:8808', undefined, 'fe80::1')).toBeUndefined();
  });

  test('the port that a scheme implies may be left out', () => {
    expect(refused({ port: 80 }, 'localhost', 'http://localhost')).toBeUndefined();
    expect(refused({ port: 443, scheme: 'https' }, 'localhost', 'https://localhost')).toBeUndefined();
    expect(refused({ port: 443 }, 'localhost')).toBe('Host');
  });
});

describe('addresses', () => {
  test('a URL has brackets around an IPv6 address, and a loopback address for all addresses', () => {
    expect(bracketed('::1')).toBe('[::1]');
    expect(bracketed('Example.ORG')).toBe('example.org');
    expect(urlOf('::1', 80)).toBe('http://[::1]:80');
    expect(urlOf('0.0.0.0', 8808)).toBe('http://127.0.0.1:8808');
    expect(urlOf('::', 8808)).toBe('http://127.0.0.1:8808');
  });
});

test.each([
  ['127.0.0.1', true],
  ['127.1.2.3', true],
  ['::1', true],
  ['localhost', true],
  ['0.0.0.0', false],
  ['::', false],
  ['127.0.0.1.example', false],
  ['localhost.example', false],
  ['10.0.0.1', false],
])('isLoopback of %s returns %s', (host, expected) => {
  expect(isLoopback(host)).toBe(expected);
});
