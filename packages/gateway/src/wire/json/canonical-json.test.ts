import { expect, test } from 'vitest';
import { canonicalJson } from './canonical-json.ts';

const canonical = (text: string): string => canonicalJson(Buffer.from(text));

test('keys are sorted, space goes, and equal texts become equal', () => {
  expect(canonical('{ "b" : [ 1 , {"y":2,"x":1} ], "a": "\\u0041" }')).toBe(
    '{"a":"A","b":[1,{"x":1,"y":2}]}',
  );
  expect(canonical('{"a":1,"a":2}')).toBe('{"a":2}');
  expect(canonical('[]')).toBe('[]');
  expect(canonical('{}')).toBe('{}');
});

test('numbers keep their digits', () => {
  for (const number of ['12345678901234567890', '1e400', '0.10', '-0'])
    expect(canonical(`[${number}]`)).toBe(`[${number}]`);
});

test('what is deeper than anything stays as it is', () => {
  const deep = `${'['.repeat(500)}${']'.repeat(500)}`;
  expect(canonical(deep)).toBe(deep);
});
