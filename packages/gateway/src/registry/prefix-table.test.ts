import { expect, test } from 'vitest';
import { PrefixTable } from './prefix-table.ts';

test('PrefixTable returns every prefix of a text, the longest first', () => {
  const table = new PrefixTable<number>();
  for (const [value, prefix] of ['', 'a', 'ab', 'abc', 'b'].entries()) table.set(prefix, value);
  expect(table.matches('abd').map(({ prefix }) => prefix)).toEqual(['ab', 'a', '']);
  table.delete('a');
  table.delete('never');
  expect(table.matches('abd').map(({ value }) => value)).toEqual([2, 0]);
  expect(table.matches('').map(({ value }) => value)).toEqual([0]);
});
