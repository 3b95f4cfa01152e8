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

test('a prefixed log names its server in lines of every level', () => {
  const lines: string[] = [];
  const log = prefixed(recorder(lines), 'db');
  log.debug?.('a');
  log.info('b');
  log.warn('c');
  log.error('d');
  expect(lines).toEqual(['debug [db] a', 'info [db] b', 'warn [db] c', 'error [db] d']);
});

test('a log without debug has no debug after prefixed and printable', () => {
  expect(prefixed(printable(recorder([], false)), 'db').debug).toBeUndefined();
});

verifies(
  'AGG-CLI-2',
  "a printable log escapes control characters and indents further lines of a server's text",
  () => {
    const lines: string[] = [];
    printable(recorder(lines)).warn('refused: \u001b[2J\u202etxet\ttab\r\n2026-01-01 info forged');
    expect(lines).toEqual(['warn refused: \\x1b[2J\\u202etxet\ttab\\x0d\n  2026-01-01 info forged']);
  },
);
