import { expect, test } from 'vitest';
import { readDamaged } from './repair.ts';

const answer = (text: string): Buffer => Buffer.from(`{"jsonrpc":"2.0","id":1,"result":${text}}`, 'latin1');

test.each([
  ['"caf\xe9"', 'caf\uFFFD'],
  ['"a\x00\t\rb"', 'a\0\t\rb'],
  ['"\\x \\u12 \\\\ \\n"', '\\x \\u12 \\ \n'],
  ['"whole"', 'whole'],
])('readDamaged reads the result %j as %j', (text, expected) => {
  const { bytes, bodyAt, bodyEnd } = readDamaged(answer(text)) ?? {};
  expect(JSON.parse(bytes?.toString('utf8', bodyAt, bodyEnd) ?? 'null')).toBe(expected);
});

test.each([
  ['a string without an end', '"x\x01'],
  ['a message damaged outside its strings', '{"a":\x01"b"}'],
  ['a string of invalid bytes only', `"${'\x01'.repeat(20_000)}"`],
])('readDamaged does not repair %s', (_, text) => {
  expect(readDamaged(answer(text))).toBeUndefined();
});
