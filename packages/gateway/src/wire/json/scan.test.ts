import { describe, expect, test } from 'vitest';
import {
  findMember,
  hasAmbiguousKeys,
  objectValue,
  readElements,
  readMembers,
  readString,
  stringValue,
  valueText,
  type Members,
} from './members.ts';
import { closingQuote, isTooDeep, validateValue, onOneLine, skipValue } from './scan.ts';

const members = (text: string): Members => readMembers(Buffer.from(text), 0) as Members;

/** Texts, and the end of the value at their beginning; -1 where they do not begin with one. */
const VALUES: readonly [text: string, end: number][] = [
  ['0', 1],
  ['-0', 2],
  ['-', -1],
  ['01', -1],
  ['-01', -1],
  ['1.5', 3],
  ['1.', -1],
  ['.5', -1],
  ['1e3', 3],
  ['1E+3', 4],
  ['1e-3', 4],
  ['1e', -1],
  ['1e+', -1],
  ['+1', -1],
  ['0x10', 1],
  ['NaN', -1],
  ['Infinity', -1],
  ['12345678901234567890 ', 20],
  ['true', 4],
  ['false', 5],
  ['null', 4],
  ['nul', -1],
  ['True', -1],
  ['undefined', -1],
  ['""', 2],
  ['"', -1],
  ['"a', -1],
  ['"a"b', 3],
  ['"\\n\\t\\b\\f\\r\\/\\\\\\""', 18],
  ['"\\u00e9"', 8],
  ['"\\u00E9"', 8],
  ['"\\u00g9"', -1],
  ['"\\u00e"', -1],
  ['"\\x41"', -1],
  ['"\\', -1],
  ["'a'", -1],
  ['"\t"', -1],
  ['"\u007f\u2028é"', 8],
  ['[]', 2],
  ['[ ]', 3],
  ['[1,2]', 5],
  ['[1 , 2 ]', 8],
  ['[1,]', -1],
  ['[,1]', -1],
  ['[1 2]', -1],
  ['[1', -1],
  ['[1}', -1],
  [']', -1],
  ['{}', 2],
  ['{ }', 3],
  ['{"a":1}', 7],
  ['{ "a" : 1 , "b" : [ ] }', 23],
  ['{"a":1,}', -1],
  ['{"a"}', -1],
  ['{"a":}', -1],
  ['{a:1}', -1],
  ['{1:1}', -1],
  ['{"a":1]', -1],
  ['{"a":{"b":[{"c":null}]}} rest', 24],
  ['', -1],
  [' 1', -1],
];

describe('a value', () => {
  test.each(VALUES)('the scan of the value %j ends at %i', (text, end) => {
    expect(skipValue(Buffer.from(text), 0)).toBe(end);
    expect(validateValue(Buffer.from(text), 0)).toBe(end);
  });

  test('the scan of a value begins at any position', () => {
    expect(skipValue(Buffer.from('xx[1]yy'), 2)).toBe(5);
  });

  test.each([10_000, 10_001])('validateValue accepts at most 10,000 levels of nesting: %i', (levels) => {
    for (const [open, close] of [
      ['[', ']'],
      ['{"a":', '}'],
    ] as const) {
      const text = Buffer.from(`${open.repeat(levels)}0${close.repeat(levels)}`);
      expect(validateValue(text, 0)).toBe(levels <= 10_000 ? text.length : -1);
    }
  });

  test('onOneLine replaces line breaks between tokens, which the scan does not accept', () => {
    const text = Buffer.from('{\r\n "a":\t[1,\n2]\r}');
    expect(skipValue(text, 0)).toBe(-1);
    expect(onOneLine(text).toString()).toBe('{   "a":\t[1, 2] }');
    expect(skipValue(onOneLine(text), 0)).toBe(text.length);
  });
});

describe('a long string', () => {
  const LONG = 'x'.repeat(200);

  test.each([
    ['nothing more', ''],
    ['an escaped quote', '\\"'],
    ['a backslash', '\\\\'],
    ['a backslash and an escaped quote', '\\\\\\"'],
    ['an escaped letter', '\\u0041'],
    ['many line breaks', '\\n'.repeat(50)],
    ['many quotes', '\\"'.repeat(500)],
    ['many backslashes', '\\\\'.repeat(500)],
    ['other letters', 'é😀'],
  ])('a long string ends at its own quote after %s', (_, tail) => {
    const text = Buffer.from(`"${LONG}${tail}" "more"`);
    expect(skipValue(text, 0)).toBe(text.length - 7);
    expect(validateValue(text, 0)).toBe(text.length - 7);
  });

  test.each(['\t', '\\x', '\\u12', '\\u12"', '\0'])(
    'a long string with %j inside is skipped by skipValue and rejected by validateValue',
    (tail) => {
      const text = Buffer.from(`"${LONG}${tail}"`);
      expect(skipValue(text, 0)).toBeGreaterThan(LONG.length);
      expect(validateValue(text, 0)).toBe(-1);
    },
  );

  test.each(['', '\\', '\\"', '\\\\\\"'])('a long string without an end after %j is rejected', (tail) => {
    const text = Buffer.from(`"${LONG}${tail}`);
    expect(skipValue(text, 0)).toBe(-1);
    expect(validateValue(text, 0)).toBe(-1);
  });
});

describe('the time to scan a value', () => {
  test.each<[string, (count: number) => string]>([
    ['letters', (count) => `"${'x'.repeat(count)}"`],
    ['escapes', (count) => `"${'\\n'.repeat(count)}"`],
    ['escaped quotes', (count) => `"${'\\"'.repeat(count)}"`],
    ['backslashes', (count) => `"${'\\\\'.repeat(count)}"`],
    ['members', (count) => `{${'"":"",'.repeat(count)}"":0}`],
    ['elements', (count) => `[${'[],'.repeat(count)}0]`],
    ['spaces', (count) => `[${' '.repeat(count)}0]`],
  ])('the time to scan a value grows in proportion to its %s', (_, build) => {
    const time = (text: Buffer): number => {
      const began = performance.now();
      expect(skipValue(text, 0)).toBe(text.length);
      expect(validateValue(text, 0)).toBe(text.length);
      return performance.now() - began;
    };
    const [small, large] = [Buffer.from(build(50_000)), Buffer.from(build(400_000))];
    const fastest = (text: Buffer): number => Math.min(...Array.from({ length: 5 }, () => time(text)));
    // Eight times the work; were it quadratic, sixty-four times.
    expect(fastest(large)).toBeLessThan(Math.max(30 * fastest(small), 150));
  });
});

describe('members', () => {
  test('readMembers returns the positions of keys and values', () => {
    const { bytes, at, end, flat } = readMembers(Buffer.from('  {"a" : 1 ,"": {"b":2}}x'), 2) as Members;
    expect([at, end]).toEqual([2, 24]);
    const texts = flat.map((_, i) => (i % 2 === 0 ? bytes.toString('utf8', flat[i], flat[i + 1]) : ''));
    expect(texts.filter((_, i) => i % 2 === 0)).toEqual(['a', '1', '', '{"b":2}']);
  });

  test.each(['', '[]', '"a"', '{', '{"a":1', '{"a":1,', '{"a":1,}', '{"a" 1}', '{"a":tru}', '{"a":1 "b":2}'])(
    'readMembers returns undefined for %j',
    (text) => expect(readMembers(Buffer.from(text), 0)).toBeUndefined(),
  );

  test('valueText returns the last of several members with one key', () => {
    expect(valueText(members('{"a":1,"b":2,"a":3}'), 'a')).toBe('3');
  });

  test.each(['c', 'A', 'ab', '', 'a\0'])('the key %j is not found among members', (key) => {
    expect(findMember(members('{"a":1,"b":2}'), key)).toBe(-1);
    expect(valueText(members('{"a":1,"b":2}'), key)).toBeUndefined();
    expect(stringValue(members('{"a":"x"}'), key)).toBeUndefined();
    expect(objectValue(members('{"a":{}}'), key)).toBeUndefined();
  });

  test('members are read as text, as a string or as an object', () => {
    const read = members('{"text":1e400,"string":"é\\n","object":{"x":{}},"bytes":"é"}');
    expect(valueText(read, 'text')).toBe('1e400');
    expect(valueText(read, 'bytes')).toBe(Buffer.from('"é"').toString('latin1'));
    expect(stringValue(read, 'string')).toBe('é\n');
    expect(stringValue(read, 'object')).toBeUndefined();
    expect(objectValue(read, 'string')).toBeUndefined();
    expect(findMember(objectValue(read, 'object') as Members, 'x')).toBe(0);
  });

  test.each([
    ['{}', false],
    ['{"a":1,"b":1}', false],
    ['{"a":"\\n","b":{"a":1,"a":2}}', false],
    ['{"a":1,"a":2}', true],
    ['{"\\u0061":1}', true],
    ['{"a\\n":1}', true],
    [
      `{${'abcdefghij'
        .split('')
        .map((key) => `"${key}":1`)
        .join(',')}}`,
      false,
    ],
    [
      `{${'abcdefghia'
        .split('')
        .map((key) => `"${key}":1`)
        .join(',')}}`,
      true,
    ],
  ])('hasAmbiguousKeys of %s returns %s', (text, odd) => {
    expect(hasAmbiguousKeys(members(text))).toBe(odd);
  });
});

describe('elements', () => {
  test.each([
    ['[]', []],
    ['[ ]', []],
    ['[1, "a" ,{}]', ['1', '"a"', '{}']],
    ['[[1],[2]]', ['[1]', '[2]']],
    ['{}', undefined],
    ['[1', undefined],
    ['[1 2]', undefined],
    ['[tru]', undefined],
  ])('readElements returns the elements of %s', (text, elements) => {
    const spans = readElements(Buffer.from(text), 0);
    const texts = spans?.flatMap((start, i) => (i % 2 === 0 ? [text.slice(start, spans[i + 1])] : []));
    expect(texts).toEqual(elements);
  });
});

describe('a string', () => {
  test.each([
    ['"abc"', 'abc'],
    ['""', ''],
    ['"é\\u00e9\\ud83d\\ude00"', 'éé😀'],
    ['"\\ud800"', '\ud800'],
    ['"\u2028"', '\u2028'],
    ['12', undefined],
    ['"\\x"', undefined],
  ])('readString decodes %s', (text, value) => {
    const bytes = Buffer.from(text);
    expect(readString(bytes, 0, bytes.length)).toBe(value);
  });

  test.each(['', 'é', '"', '\u2028'])(
    'readString decodes a string of any length with %j at its end',
    (end) => {
      for (const length of [254, 255, 256, 257, 5000]) {
        const value = 'x'.repeat(length) + end;
        const bytes = Buffer.from(JSON.stringify(value));
        expect(readString(bytes, 0, bytes.length)).toBe(value);
      }
    },
  );

  test('readString decodes invalid UTF-8 as a parser does', () => {
    expect(readString(Buffer.of(0x22, 0xff, 0x22), 0, 3)).toBe('\ufffd');
  });

  test.each([
    ['abc"', 3],
    ['a\\"b"', 4],
    ['a\\\\"', 3],
    ['abc', 3],
    ['ab\\', 4],
    ['', 0],
  ])('closingQuote of %j is at %i', (text, end) => {
    expect(closingQuote(Buffer.from(text), 0)).toBe(end);
  });
});

test('onOneLine returns a text on one line as it is, and keeps breaks inside strings', () => {
  const line = Buffer.from('{"a":1}');
  expect(onOneLine(line)).toBe(line);
  expect(onOneLine(Buffer.from('{"a\r":"\\"\r"}\r')).toString()).toBe('{"a\r":"\\"\r"} ');
});

test('isTooDeep tells too deep nesting from other errors', () => {
  const isDeep = (text: string): boolean => isTooDeep(Buffer.from(text));
  expect(isDeep(`{"a":${'['.repeat(10_001)}`)).toBe(true);
  expect(isDeep('{"a":'.repeat(10_001))).toBe(true);
  expect(isDeep(`{"a":"${'['.repeat(20_000)}\\"${'['.repeat(20_000)}"`)).toBe(false);
  expect(isDeep(`[${'[],'.repeat(20_000)}`)).toBe(false);
  expect(isDeep('')).toBe(false);
});
