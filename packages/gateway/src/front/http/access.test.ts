import { timingSafeEqual } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { verifies } from '../../../../../tests/verifies.ts';
import { Admission } from './access.ts';
import type { IncomingRequest } from './server/incoming-request.ts';

const TOKEN = 'the-token-of-this-test';

function admission(host = '127.0.0.1', allowedHosts: string[] = [], port = 8808): Admission {
  return new Admission({ host, port, allowedHosts, token: TOKEN, isSame: timingSafeEqual });
}

function request(headers: Record<string, string>, localAddress = '127.0.0.1'): IncomingRequest {
  return { headers: new Map(Object.entries(headers)), localAddress } as unknown as IncomingRequest;
}

/** Returns true if a request with this Host, and this Origin if any, is admitted. */
function isAdmitted(to: Admission, host: string, origin?: string, localAddress?: string): boolean {
  const headers = { host, ...(origin !== undefined && { origin }) };
  return to.checkHostAndOrigin(request(headers, localAddress)) === undefined;
}

describe('the Host and Origin check', () => {
  verifies(
    'SAFE-1',
    'Admission accepts the loopback names and the listening address as Host, with the port',
    () => {
      const to = admission('192.168.1.5');
      for (const host of ['127.0.0.1:8808', 'localhost:8808', '[::1]:8808', '192.168.1.5:8808'])
        expect([host, isAdmitted(to, host)]).toEqual([host, true]);
      for (const host of [
        'localhost',
        'localhost:80',
        '192.168.1.6:8808',
        'localhost.evil.example:8808',
        '',
        '[::1]',
      ])
        expect([host, isAdmitted(to, host)]).toEqual([host, false]);
      expect(to.checkHostAndOrigin(request({}))?.error.message).toContain('The Host header is missing');
    },
  );

  test('Admission accepts a Host without the port on port 80', () => {
    expect(isAdmitted(admission('localhost', [], 80), 'localhost')).toBe(true);
    expect(isAdmitted(admission('localhost', [], 80), 'localhost:80')).toBe(true);
  });

  verifies('SAFE-1', 'Admission accepts an Origin only of the gateway itself', () => {
    const from = (origin: string): boolean => isAdmitted(admission(), '127.0.0.1:8808', origin);
    expect(['http://127.0.0.1:8808', 'http://localhost:8808'].map(from)).toEqual([true, true]);
    const foreign = [
      'https://127.0.0.1:8808',
      'http://127.0.0.1',
      'http://localhost:6274',
      'null',
      '',
      'file://',
    ];
    expect(foreign.filter(from)).toEqual([]);
  });

  verifies('SAFE-1', 'Admission accepts allowed hosts, and Origins of them', () => {
    const to = admission('127.0.0.1', ['Tools.Example.org']);
    expect(isAdmitted(to, 'tools.example.org', 'https://tools.example.org')).toBe(true);
    expect(isAdmitted(to, 'tools.example.org:8808')).toBe(false);
  });

  verifies('SAFE-1', 'Admission on all addresses accepts the address that the client connected to', () => {
    const to = admission('0.0.0.0');
    expect(isAdmitted(to, '10.1.2.3:8808', 'http://10.1.2.3:8808', '10.1.2.3')).toBe(true);
    expect(isAdmitted(to, '10.1.2.3:8808', undefined, '::ffff:10.1.2.3')).toBe(true);
    expect(isAdmitted(to, '10.1.2.4:8808', undefined, '10.1.2.3')).toBe(false);
    expect(isAdmitted(to, 'evil.example:8808', undefined, '10.1.2.3')).toBe(false);
    expect(isAdmitted(admission('::'), '[fe80::1]:8808', undefined, 'fe80::1')).toBe(true);
  });
});

describe('the token check', () => {
  const identified = (authorization: string): unknown => admission().identify(request({ authorization }));

  verifies('SAFE-1', 'Admission accepts the token with its scheme in any letter case', () => {
    for (const scheme of ['Bearer ', 'bearer ', 'BEARER   '])
      expect(identified(`${scheme}${TOKEN}`)).toBe('owner');
  });

  verifies('SAFE-1', 'Admission refuses every other token', () => {
    const wrong = ['', 'Bearer', `Bearer${TOKEN}`, `Basic ${TOKEN}`, `Bearer ${TOKEN}, Bearer ${TOKEN}`];
    const nearly = [
      TOKEN.slice(1),
      `${TOKEN}x`,
      TOKEN.toUpperCase(),
      'ü'.repeat(TOKEN.length),
      'x'.repeat(65_536),
    ];
    for (const authorization of [...wrong, ...nearly.map((token) => `Bearer ${token}`)])
      expect(identified(authorization)).toMatchObject({ status: 401 });
  });

  test('Admission without a token accepts requests without one', () => {
    const open = new Admission({ host: '127.0.0.1', port: 1, isSame: timingSafeEqual });
    expect(open.identify(request({}))).toBe('owner');
  });
});
