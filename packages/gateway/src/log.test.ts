import { expect, test } from 'vitest';
import { verifies } from '../../../tests/verifies.ts';
import { prefixed, printable, type Log } from './log.ts';

function recorder(lines: string[], withDebug = true): Log {
  const write = (level: string) => (text: string) => void lines.push(`${level} ${text}`);
  return {
    debug: withDebug ? write('debug') : undefined,
    info: write('info'),
    warn: write('warn'),
    error: write('error'),
  };
}

test('a prefix says whom lines of any level are about', () => {
  const lines: string[] = [];
  const log = prefixed(recorder(lines), 'db');
  log.debug?.('a');
  log.info('b');
  log.warn('c');
  log.error('d');
  expect(lines).toEqual(['debug [db] a', 'info [db] b', 'warn [db] c', 'error [db] d']);
});

test('a log without debug stays without', () => {
  expect(prefixed(printable(recorder([], false)), 'db').debug).toBeUndefined();
});

verifies(
  'AGG-CLI-2',
  'nothing that a server says can pass for a line of ours or play with a terminal',
  () => {
    const lines: string[] = [];
    printable(recorder(lines)).warn('refused: \u001b[2J\u202etxet\ttab\r\n2026-01-01 info forged');
    expect(lines).toEqual(['warn refused: \\x1b[2J\\u202etxet\ttab\\x0d\n  2026-01-01 info forged']);
  },
);
