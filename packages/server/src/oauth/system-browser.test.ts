import { describe, expect, test } from 'vitest';
import { browserCommand } from './system-browser.ts';

describe('the command that opens a browser', () => {
  test.each([
    ['linux', ['xdg-open']],
    ['freebsd', ['xdg-open']],
    ['darwin', ['open']],
    ['win32', ['rundll32', 'url.dll,FileProtocolHandler']],
  ] as const)('%s gets the address as its own argument', (system, command) => {
    expect(browserCommand('https://issuer.example/a?b=c&d=e', system)).toEqual([
      ...command,
      'https://issuer.example/a?b=c&d=e',
    ]);
  });

  test.each([
    ['https://issuer.example/"&calc', 'https://issuer.example/%22&calc'],
    ['https://issuer.example/a b', 'https://issuer.example/a%20b'],
    ['https://issuer.example/\n--flag', 'https://issuer.example/--flag'],
    ['HTTPS://ISSUER.example', 'https://issuer.example/'],
    ['http://127.0.0.1:8080/a', 'http://127.0.0.1:8080/a'],
  ])('%j is serialised anew', (address, href) => {
    expect(browserCommand(address, 'linux')[1]).toBe(href);
  });

  test.each([
    'javascript:alert(1)',
    'file:///etc/passwd',
    'data:text/html,x',
    'http://issuer.example/',
    'http://127.0.0.1.evil.example/',
    'https://user@issuer.example/',
    '--version',
    '',
  ])('%j is refused', (address) => {
    expect(() => browserCommand(address, 'linux')).toThrow('not safe to open');
  });
});
