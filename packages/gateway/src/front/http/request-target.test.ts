import type { IncomingMessage } from 'node:http';
import { describe, expect, test } from 'vitest';
import { checkTarget, pathOf } from './request-target.ts';

test.each([
  ['/mcp', '/mcp'],
  ['/mcp?a=/b', '/mcp'],
  ['/mcp/', '/mcp'],
  ['/mcp/?a', '/mcp'],
  ['/', '/'],
  ['http://127.0.0.1:8808/mcp', '/mcp'],
  ['HTTP://LOCALHOST:8808/mcp?a', '/mcp'],
  ['http://127.0.0.1:8808', '/'],
  ['http://127.0.0.1:8808?a', '/'],
  ['//127.0.0.1/mcp', '//127.0.0.1/mcp'],
  ['https://127.0.0.1/mcp', 'https://127.0.0.1/mcp'],
  ['http:///mcp', 'http:///mcp'],
  ['*', '*'],
  ['', ''],
])('the path of the request target "%s" is "%s"', (url, path) => {
  expect(pathOf(url)).toBe(path);
});

describe('the host of a request', () => {
  const verdict = (url: string, ...hosts: string[]): number | undefined => {
    const rawHeaders = hosts.flatMap((host, i) => [i % 2 === 0 ? 'Host' : 'hOST', host, 'Accept', '*/*']);
    return checkTarget({ url, headers: { host: hosts[0] }, rawHeaders } as unknown as IncomingMessage)
      ?.status;
  };

  test('checkTarget refuses a second Host header', () => {
    expect(verdict('/mcp', 'localhost:1')).toBeUndefined();
    expect(verdict('/mcp', 'localhost:1', 'localhost:1')).toBe(400);
    expect(verdict('/mcp', 'localhost:1', 'evil.example')).toBe(400);
  });

  test('checkTarget refuses an absolute target with another host than the Host header', () => {
    expect(verdict('http://localhost:1/mcp', 'LOCALHOST:1')).toBeUndefined();
    expect(verdict('http://evil.example/mcp', 'localhost:1')).toBe(400);
    expect(verdict('http://me@localhost:1/mcp', 'localhost:1')).toBe(400);
  });
});
