import fc from 'fast-check';
import { describe, expect } from 'vitest';
import { parseJson as parseStrictly } from '../../../../../tests/support/parse-json.ts';
import { verifies } from '../../../../../tests/verifies.ts';
import { JsonSyntaxError, parseJson } from './parse-json.ts';

describe('parseJson', () => {
  verifies('AGG-CFG-3', 'parseJson reads the output of JSON.stringify as JSON.parse does', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.nat(4), (value, indent) => {
        const text = JSON.stringify(value, null, indent);
        expect(parseJson(text).value).toStrictEqual(parseStrictly(text));
      }),
      { numRuns: 300 },
    );
  });

  verifies(
    'AGG-CFG-3',
    'parseJson accepts a damaged text exactly when JSON.parse does, with the same value',
    () => {
      const damage = fc.record({
        at: fc.nat(),
        drop: fc.nat(2),
        add: fc.constantFrom('', ...'"\\{}[],:1.-eu\n /'.split('')),
      });
      fc.assert(
        fc.property(fc.jsonValue(), damage, (value, { at, drop, add }) => {
          const text = JSON.stringify(value);
          const cut = at % (text.length + 1);
          const damaged = text.slice(0, cut) + add + text.slice(cut + drop);
          expect(attempt(() => parseJson(damaged).value)).toStrictEqual(
            attempt(() => parseStrictly(damaged)),
          );
        }),
        { numRuns: 1000 },
      );
    },
  );

  verifies('AGG-CFG-4', 'parseJson skips comments and trailing commas in .jsonc', () => {
    const text = `// first\r\n{ /* a */ "a" /* b */ : /* c */ [1, 2, /* d */ ], // e
      "url": "http://x/*y*/", "b": {"c": null,},\n}\n/* end */ // last`;
    expect(parseJson(text, { jsonc: true }).value).toEqual({
      a: [1, 2],
      url: 'http://x/*y*/',
      b: { c: null },
    });
  });

  verifies('AGG-CFG-4', 'parseJson rejects an extra comma and an unclosed comment in .jsonc too', () => {
    expect(() => parseJson('[1,,2]', { jsonc: true })).toThrow('A value is missing here');
    expect(() => parseJson('{,}', { jsonc: true })).toThrow('One comma too many: remove it');
    expect(() => parseJson('[1] /* x', { jsonc: true })).toThrow('This comment is never closed: add */');
  });

  const mistakes: [name: string, text: string, line: number, column: number, message: string][] = [
    ['an empty file', ' \n', 1, 1, 'The file is empty: write at least { "mcpServers": {} }'],
    ['UTF-16', '{\0"\0', 1, 1, 'The file is not UTF-8 text: save it as UTF-8'],
    [
      'a trailing comma',
      '{\n  "a": 1,\n}',
      2,
      9,
      'Trailing comma before }: remove it (only a .jsonc file may have one)',
    ],
    [
      'a trailing comma in a list',
      '[1 , ]',
      1,
      4,
      'Trailing comma before ]: remove it (only a .jsonc file may have one)',
    ],
    [
      'a comment',
      '{\r\n  // hi\r\n}',
      2,
      3,
      'Comments are not allowed in a .json file: remove it, or rename the file to .jsonc',
    ],
    ['single quotes', "{'a': 1}", 1, 2, 'Strings and keys stand in straight double quotes: "…"'],
    ['curly quotes', '{"a": “x”}', 1, 7, 'Strings and keys stand in straight double quotes: "…"'],
    ['a key without quotes', '{a: 1}', 1, 2, 'Expected a key in double quotes'],
    ['a missing comma', '{"a": 1\n "b": 2}', 1, 8, 'A comma is missing here, or a closing }'],
    ['a missing comma in a list', '["a" "b"]', 1, 5, 'A comma is missing here, or a closing ]'],
    ['a missing colon', '{"a" 1}', 1, 6, 'A colon is missing between the key and its value'],
    ['a missing value', '{"a": }', 1, 7, 'A value is missing here'],
    ['a value cut off', '{"a":', 1, 6, 'The file ends where a value should stand'],
    ['an unclosed string', '["abc', 1, 2, 'This string is never closed: add the missing "'],
    [
      'a string over two lines',
      '["abc\n"]',
      1,
      2,
      'This string is not closed on its line: add the missing "',
    ],
    ['a tab in a string', '["a\tb"]', 1, 4, 'A control character in a string is written as \\t'],
    ['a bell in a string', '["a\u0007b"]', 1, 4, 'A control character in a string is written as \\u0007'],
    [
      'a single backslash',
      '["C:\\Users"]',
      1,
      5,
      'A backslash in a string is written twice: \\\\, as in "C:\\\\Users"',
    ],
    ['an unclosed object', '\n{"a": {"b": 1', 2, 14, 'A } is missing: it closes the { of line 2'],
    ['an unclosed list', '[', 1, 2, 'A ] is missing: it closes the [ of line 1'],
    ['the wrong bracket', '{"a": [1}', 1, 9, 'A ] is missing: it closes the [ of line 1'],
    ['a word of Python', '{"a": True}', 1, 7, 'JSON has no such word: write true'],
    [
      'a word without quotes',
      '{"a": npx}',
      1,
      7,
      'Expected a value: text in double quotes, a number, true, false, null, [ … ] or { … }',
    ],
    ['a number with a leading zero', '[007]', 1, 2, 'Not a number as JSON writes it: 8080, -1, 0.5, 1e3'],
    ['text after the end', '{}\n{}', 2, 1, 'The JSON value ends before this: remove what follows it'],
    [
      'old line ends',
      '{\r"a": x}',
      2,
      6,
      'Expected a value: text in double quotes, a number, true, false, null, [ … ] or { … }',
    ],
  ];
  for (const [name, text, line, column, message] of mistakes) {
    verifies('AGG-CFG-3', `parseJson explains ${name} with line and column`, () => {
      expect(caught(() => parseJson(text))).toEqual({ line, column, message });
    });
  }

  verifies('AGG-CFG-3', 'parseJson skips a byte order mark and does not count it as a column', () => {
    expect(parseJson('\uFEFF{"a": 1}').value).toEqual({ a: 1 });
    expect(caught(() => parseJson('\uFEFF{a'))).toMatchObject({ line: 1, column: 2 });
  });

  verifies(
    'AGG-CFG-2',
    'parseJson reports duplicate keys with path and lines, and keeps the last value',
    () => {
      const { value, duplicates } = parseJson('{"s": {\n"a": 1,\n"b": [{"x": 1, "x": 2}],\n"a": 2, "a": 3}}');
      expect(value).toEqual({ s: { a: 3, b: [{ x: 2 }] } });
      expect(duplicates).toEqual([
        { path: ['s', 'b', 0, 'x'], lines: [3, 3] },
        { path: ['s', 'a'], lines: [2, 4] },
        { path: ['s', 'a'], lines: [2, 4] },
      ]);
    },
  );

  verifies('AGG-CFG-2', 'parseJson reports at most 100 duplicate keys', () => {
    const text = `{${'"a":1,'.repeat(200_000)}"a":2}`;
    expect(parseJson(text).duplicates).toHaveLength(100);
  });

  verifies('AGG-CFG-3', 'parseJson rejects more than 200 levels of nesting', () => {
    expect(() => parseJson('['.repeat(100_000))).toThrow('Nested more than 200 levels deep');
    expect(() => parseJson('{"a":'.repeat(100_000))).toThrow('Nested more than 200 levels deep');
    expect(parseJson('['.repeat(200) + ']'.repeat(200)).value).toHaveLength(1);
  });

  verifies('AGG-CFG-3', 'parseJson keeps a key called __proto__ as a plain key', () => {
    const { value } = parseJson('{"__proto__": {"polluted": true}, "constructor": 1}');
    expect(Object.keys(value as object)).toEqual(['__proto__', 'constructor']);
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
    expect('polluted' in {}).toBe(false);
  });

  verifies(
    'AGG-CFG-2',
    'lineOf returns the line of every key and element, and the nearest for a missing one',
    () => {
      const { lineOf } = parseJson('{\n"a": {\n"b": [\n1,\n2]}\n}');
      expect(lineOf([])).toBeUndefined();
      expect(lineOf(['zzz'])).toBeUndefined();
      expect(lineOf(['a'])).toBe(2);
      expect(lineOf(['a', 'b'])).toBe(3);
      expect(lineOf(['a', 'b', 1])).toBe(5);
      expect(lineOf(['a', 'missing'])).toBe(2);
      expect(lineOf(['a', 'b', 1, 'deeper'])).toBe(5);
    },
  );
});

function attempt(parse: () => unknown): unknown {
  try {
    return { value: parse() };
  } catch {
    return 'refused';
  }
}

function caught(parse: () => unknown): { line: number; column: number; message: string } {
  try {
    parse();
  } catch (error) {
    if (error instanceof JsonSyntaxError)
      return { line: error.line, column: error.column, message: error.message };
    throw error;
  }
  throw new Error('The text was accepted');
}
