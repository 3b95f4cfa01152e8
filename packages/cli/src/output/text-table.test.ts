import { describe, expect, test } from 'vitest';
import { table } from './text-table.ts';

const ROWS = [
  ['A', 'B', ''],
  ['one', 'fits', 'here'],
  ['two', 'b', 'is longer than the terminal is wide'],
];

describe('a row that is too wide for the terminal', () => {
  test('a table row wider than the terminal wraps its last column at words', () => {
    expect(table(ROWS, { isColoured: false, width: 26 })).toBe(
      'A    B\none  fits  here\ntwo  b\n      is longer than the\n      terminal is wide\n',
    );
  });

  test('a table row stays on one line without a terminal', () => {
    expect(table(ROWS, { isColoured: false }).split('\n')[2]).toBe(
      'two  b     is longer than the terminal is wide',
    );
  });
});
