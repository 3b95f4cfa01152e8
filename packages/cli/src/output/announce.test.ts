import type { ServerReport } from '@weir/gateway';
import { expect, test } from 'vitest';
import { verifies } from '../../../../tests/verifies.ts';
import { PROGRAM, programNamed } from '../program.ts';
import { announcement, farewell, listeningNote, outcome, reachableUrl, type Interfaces } from './announce.ts';

type State = ServerReport['health']['connectionState'] | 'off';

function servers(...states: State[]): ServerReport[] {
  return states.map((state, i) => {
    const health = { connectionState: state === 'off' ? 'disconnected' : state };
    return { serverKey: `s${i + 1}`, enabled: state !== 'off', health } as ServerReport;
  });
}

test('the announcement holds the URL and the token', () => {
  const url = 'http://127.0.0.1:8808/mcp';
  expect(announcement({ url, token: 'abc', program: PROGRAM }, 1)).toBe(
    `weir starts 1 server, served at ${url}  token=abc\n`,
  );
  expect(announcement({ url, token: undefined, program: programNamed('mcp-weir') }, 20)).toBe(
    `mcp-weir starts 20 servers, served at ${url}  no token needed (--no-auth)\n`,
  );
});

test('the outcome counts running servers and names the others', () => {
  expect(outcome([])).toBe('');
  expect(outcome(servers('connected'))).toBe('The server is running.\n');
  expect(outcome(servers('connected', 'connected'))).toBe('All 2 servers are running.\n');
  expect(outcome(servers('error'))).toBe(
    '0 of 1 servers are running; failed and tried again: s1 (see the log)\n',
  );
});

verifies(['HEALTH-2', 'AGG-CHILD-3'], 'the outcome counts a server that is tried again as failed', () => {
  expect(outcome(servers('connected', 'error', 'connected', 'connecting'))).toBe(
    '2 of 4 servers are running; failed and tried again: s2, s4 (see the log)\n',
  );
});

test('the outcome does not count a lazy or disabled server as failed', () => {
  expect(outcome(servers('disconnected'))).toBe('The server starts at its first call.\n');
  expect(outcome(servers('disconnected', 'disconnected'))).toBe('All 2 servers start at their first call.\n');
  expect(outcome(servers('connected', 'disconnected', 'off', 'error'))).toBe(
    '1 of 4 servers is running; start at their first call: s2; disabled: s3; failed and tried again: s4 (see the log)\n',
  );
});

test('the farewell says what the shutdown waits for', () => {
  expect(farewell({ awaited: 0, drainTime: 5000 })).toBe('');
  expect(farewell({ awaited: 1, drainTime: 5000 })).toBe(
    'Waiting up to 5 s for 1 running call. Press Ctrl-C again to stop at once.\n',
  );
  expect(farewell({ awaited: 3, drainTime: 5000 })).toContain('for 3 running calls');
});

test('a gateway on all addresses prints one that works from other machines', () => {
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
  expect(listeningNote('http://0.0.0.0:1/mcp')).toContain('all addresses of this machine');
  expect(listeningNote('http://127.0.0.1:1/mcp')).toBe('');
});
