import type { ChildServerClient } from '@weir/gateway';
import { expect, test } from 'vitest';
import { announcement, farewell, outcome, placeNote, reachableUrl, type Interfaces } from './announce.ts';

function servers(...statuses: ChildServerClient['status'][]): ChildServerClient[] {
  return statuses.map((status, i) => ({ serverKey: `s${i + 1}`, status }) as ChildServerClient);
}

test('one line names the address and the token', () => {
  const url = 'http://127.0.0.1:8808/mcp';
  expect(announcement(url, 1, 'abc')).toBe(`weir starts 1 server, served at ${url}  token=abc\n`);
  expect(announcement(url, 20, undefined)).toBe(
    `weir starts 20 servers, served at ${url}  no token needed (--no-auth)\n`,
  );
});

test('it is told how many servers run, and which do not', () => {
  expect(outcome([])).toBe('');
  expect(outcome(servers('running'))).toBe('The server runs.\n');
  expect(outcome(servers('running', 'running'))).toBe('All 2 servers run.\n');
  expect(outcome(servers('failed'))).toBe('0 of 1 servers run; failed: s1 (the log says why)\n');
  expect(outcome(servers('running', 'failed', 'running', 'failed'))).toBe(
    '2 of 4 servers run; failed: s2, s4 (the log says why)\n',
  );
});

test('one that is lazy or disabled has not failed', () => {
  expect(outcome(servers('initializing'))).toBe('The server starts when it is called.\n');
  expect(outcome(servers('initializing', 'initializing'))).toBe(
    'All 2 servers start when they are called.\n',
  );
  expect(outcome(servers('running', 'initializing', 'stopped', 'failed'))).toBe(
    '1 of 4 servers runs; started when called: s2; disabled: s3; failed: s4 (the log says why)\n',
  );
});

test('the end says what it waits for', () => {
  expect(farewell({ awaited: 0, drainTime: 5000 })).toBe('');
  expect(farewell({ awaited: 1, drainTime: 5000 })).toBe(
    'Waiting up to 5 s for 1 call under way. Ctrl-C again ends at once.\n',
  );
  expect(farewell({ awaited: 3, drainTime: 5000 })).toContain('for 3 calls under way');
});

test('who listens on all addresses is told one that others can use', () => {
  const interfaces = {
    lo: [{ address: '127.0.0.1', family: 'IPv4', internal: true }],
    eth0: [
      { address: 'fe80::1', family: 'IPv6', internal: false },
      { address: '192.168.1.5', family: 'IPv4', internal: false },
    ],
  } as unknown as Interfaces;
  const reached = (host: string): string => reachableUrl(`http://${host}:8808/mcp`, interfaces);
  expect(reached('0.0.0.0')).toBe('http://192.168.1.5:8808/mcp');
  expect(reached('[::]')).toBe('http://192.168.1.5:8808/mcp');
  expect(reached('10.0.0.1')).toBe('http://10.0.0.1:8808/mcp');
  expect(reachableUrl('http://0.0.0.0:80/mcp', {})).toBe('http://127.0.0.1:80/mcp');
  expect(placeNote('http://0.0.0.0:1/mcp')).toContain('all addresses of this machine');
  expect(placeNote('http://127.0.0.1:1/mcp')).toBe('');
});
