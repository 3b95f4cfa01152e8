import type { ServerReport } from '@weir/gateway';
import { expect, test } from 'vitest';
import { verifies } from '../../../tests/verifies.ts';
import { announcement, farewell, outcome, placeNote, reachableUrl, type Interfaces } from './announce.ts';
import { PROGRAM, programNamed } from './program.ts';

type State = ServerReport['health']['connectionState'] | 'off';

function servers(...states: State[]): ServerReport[] {
  return states.map((state, i) => {
    const health = { connectionState: state === 'off' ? 'disconnected' : state };
    return { serverKey: `s${i + 1}`, enabled: state !== 'off', health } as ServerReport;
  });
}

test('one line names the address and the token', () => {
  const url = 'http://127.0.0.1:8808/mcp';
  expect(announcement({ url, token: 'abc', program: PROGRAM }, 1)).toBe(
    `weir starts 1 server, served at ${url}  token=abc\n`,
  );
  expect(announcement({ url, token: undefined, program: programNamed('mcp-weir') }, 20)).toBe(
    `mcp-weir starts 20 servers, served at ${url}  no token needed (--no-auth)\n`,
  );
});

test('it is told how many servers run, and which do not', () => {
  expect(outcome([])).toBe('');
  expect(outcome(servers('connected'))).toBe('The server runs.\n');
  expect(outcome(servers('connected', 'connected'))).toBe('All 2 servers run.\n');
  expect(outcome(servers('error'))).toBe(
    '0 of 1 servers run; failed and tried again: s1 (the log says why)\n',
  );
});

verifies(['HEALTH-2', 'AGG-CHILD-3'], 'a server that is tried again is not called lazy', () => {
  expect(outcome(servers('connected', 'error', 'connected', 'connecting'))).toBe(
    '2 of 4 servers run; failed and tried again: s2, s4 (the log says why)\n',
  );
});

test('one that is lazy or disabled has not failed', () => {
  expect(outcome(servers('disconnected'))).toBe('The server starts when it is called.\n');
  expect(outcome(servers('disconnected', 'disconnected'))).toBe(
    'All 2 servers start when they are called.\n',
  );
  expect(outcome(servers('connected', 'disconnected', 'off', 'error'))).toBe(
    '1 of 4 servers runs; started when called: s2; disabled: s3; failed and tried again: s4 (the log says why)\n',
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
