import { expect, test } from 'vitest';
import { checkTarget, pathOf } from './request-target.ts';
import type { IncomingRequest } from './server/incoming-request.ts';

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

test('checkTarget refuses an absolute target with another host than the Host header', () => {
  const verdict = (url: string, host: string): number | undefined =>
    checkTarget({ url, headers: new Map([['host', host]]) } as unknown as IncomingRequest)?.status;
  expect(verdict('http://localhost:1/mcp', 'LOCALHOST:1')).toBeUndefined();
  expect(verdict('http://evil.example/mcp', 'localhost:1')).toBe(400);
  expect(verdict('http://me@localhost:1/mcp', 'localhost:1')).toBe(400);
});
