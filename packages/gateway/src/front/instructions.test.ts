import { expect } from 'vitest';
import { verifies } from '../../../../tests/verifies.ts';
import type { Upstream } from '../upstream/upstream.ts';
import { mergeInstructions } from './instructions.ts';

const server = (serverKey: string, instructions?: string): Upstream =>
  ({ serverKey, instructions }) as Upstream;

verifies('AGG-CALL-3', 'instructions of several servers stand under their keys', () => {
  expect(
    mergeInstructions([server('a', '\n Be kind. '), server('b'), server('c', 'Be *short*.')], false),
  ).toBe('## a\n\nBe kind.\n\n## c\n\nBe *short*.');
  expect(mergeInstructions([server('a', ' Be kind. ')], false)).toBe('## a\n\nBe kind.');
  expect(mergeInstructions([server('a', ' '), server('b')], false)).toBeUndefined();
  expect(mergeInstructions([], true)).toBeUndefined();
});

verifies('AGG-CALL-3', 'those of an only server are its own, however long', () => {
  const long = ` ${'x'.repeat(100_000)}\n`;
  expect(mergeInstructions([server('a', long)], true)).toBe(long);
});

verifies('AGG-CALL-3', 'too many words are cut to equal shares, never within a character', () => {
  const texts =
    mergeInstructions([server('a', `x${'😀'.repeat(50_000)}`), server('b', 'Be kind.')], false) ?? '';
  expect(texts).not.toMatch(/[\uD800-\uDBFF](?![\uDC00-\uDFFF])/);
  expect(texts).toContain('[… 67234 more characters were left out]');
  expect(texts.endsWith('## b\n\nBe kind.')).toBe(true);
});
