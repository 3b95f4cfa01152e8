import { describe, expect, test, vi } from 'vitest';
import { browserCommand, start } from './system-browser.ts';

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

describe('the program that opens a browser', () => {
  const node = (script: string): [string, ...string[]] => [process.execPath, '-e', script];

  test('one that is missing, or ends with a failure, is an error', async () => {
    await expect(start(['no-such-program-of-weir'])).rejects.toThrow('ENOENT');
    await expect(start(node('process.exit(3)'))).rejects.toThrow('ended with 3');
    await expect(start(node('process.kill(process.pid)'))).rejects.toThrow('ended with a signal');
  });

  test('one that ends well, or runs for 2 s, has opened it', async () => {
    await start(node(''));
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const opened = vi.fn();
    const started = start(node('setTimeout(() => {}, 300)')).then(opened);
    await vi.advanceTimersByTimeAsync(1999);
    expect(opened).not.toHaveBeenCalled();
    await vi.advanceTimersByTimeAsync(1);
    expect(opened).toHaveBeenCalled();
    await started;
    vi.useRealTimers();
  });
});
