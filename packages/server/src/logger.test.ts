import { expect, test } from 'vitest';
import { createLogger } from './logger.ts';

function logged(level: string | undefined, write: (logger: ReturnType<typeof createLogger>) => void): string {
  let text = '';
  write(createLogger({ write: (line) => (text += String(line)) }, level, () => 0));
  return text;
}

test.each([
  ['trace', ['debug', 'info', 'warn', 'error']],
  ['debug', ['debug', 'info', 'warn', 'error']],
  [undefined, ['info', 'warn', 'error']],
  ['info', ['info', 'warn', 'error']],
  ['warn', ['warn', 'error']],
  ['error', ['error']],
  ['silent', []],
] as const)('the level %s writes its own records and those of higher levels', (level, names) => {
  const text = logged(level, (logger) => {
    for (const name of ['debug', 'info', 'warn', 'error'] as const) logger[name]('message');
  });
  expect(text).toBe(names.map((name) => `1970-01-01T00:00:00.000Z ${name.padEnd(5)} message\n`).join(''));
});

test('a record shows its details and cannot fake another one', () => {
  const text = logged('info', ({ info }) => info('a\r\n2026 error b\u001b[31m', { id: 1 }, '%s'));
  expect(text).toBe('1970-01-01T00:00:00.000Z info  a\n  2026 error b[31m { id: 1 } %s\n');
});

test('a percent sign of a message stays, whatever follows', () => {
  expect(logged('info', ({ warn }) => warn('100%s', 'x'))).toContain('100%s x');
});

test('an unknown level is refused by name', () => {
  expect(() => createLogger({ write: () => {} }, 'loud')).toThrow(
    "The log level 'loud' is not one of trace, debug, info, warn, error, silent",
  );
});
