import { expect, test } from 'vitest';
import { canonicalJson } from './canonical-json.ts';

const canonical = (text: string): string => canonicalJson(Buffer.from(text));

test('canonicalJson sorts keys, removes white space and makes equal texts equal', () => {
  expect(canonical('{ "b" : [ 1 , {"y":2,"x":1} ], "a": "\\u0041" }')).toBe(
    '{"a":"A","b":[1,{"x":1,"y":2}]}',
  );
  expect(canonical('{"a":1,"a":2}')).toBe('{"a":2}');
  expect(canonical('[]')).toBe('[]');
  expect(canonical('{}')).toBe('{}');
});

test('canonicalJson keeps the digits of numbers', () => {
  for (const number of ['12345678901234567890', '1e400', '0.10', '-0'])
    expect(canonical(`[${number}]`)).toBe(`[${number}]`);
});

test('canonicalJson returns a value nested 500 levels deep unchanged', () => {
  const deep = `${'['.repeat(500)}${']'.repeat(500)}`;
  expect(canonical(deep)).toBe(deep);
});
