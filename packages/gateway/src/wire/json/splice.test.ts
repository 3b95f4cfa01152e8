import { describe, expect, test } from 'vitest';
import { findMember, readMembers, type Members } from './members.ts';
import { changeMembers, encode, lineBytes, replaceValue, splice, type Edit } from './splice.ts';

const at = (start: number, end: number, text: string): Edit => ({ start, end, text });

describe('splice', () => {
  test.each([
    [[], 'abcdef'],
    [[at(1, 3, 'X')], 'aXdef'],
    [[at(0, 1, ''), at(5, 6, '')], 'bcde'],
    [[at(4, 4, 'Y'), at(1, 1, 'X')], 'aXbcdYef'],
    [[at(2, 4, 'X'), at(2, 2, 'before ')], 'abbefore Xef'],
    [[at(6, 6, '!')], 'abcdef!'],
    [[at(0, 6, '')], ''],
  ])('splice applies the edits %j', (edits, result) => {
    expect(splice(Buffer.from('abcdef'), [...edits])).toBe(result);
  });

  test('splice applies many edits in any order', () => {
    const bytes = Buffer.from('0123456789abcdefghij');
    const edits = [...bytes.keys()].map((i) => at((i * 7) % 20, ((i * 7) % 20) + 1, '.'));
    expect(splice(bytes, edits)).toBe('.'.repeat(20));
  });

  test('splice applies 100,000 edits in reverse order within 2 s', () => {
    const bytes = Buffer.alloc(200_000, 'a');
    const edits = Array.from({ length: 100_000 }, (_, i) => at(199_998 - 2 * i, 199_999 - 2 * i, 'b'));
    const began = performance.now();
    expect(lineBytes(splice(bytes, edits)).toString()).toBe('ba'.repeat(100_000));
    expect(performance.now() - began).toBeLessThan(2000);
  });

  test('splice keeps the buffer of a large message instead of copying it', () => {
    const bytes = Buffer.alloc(100_000, 'x');
    const line = splice(bytes, [at(10, 20, 'é'.normalize()), at(99_999, 100_000, '')]) as (string | Buffer)[];
    const buffers = line.filter((part) => typeof part !== 'string');
    expect(buffers.every((part) => part.buffer === bytes.buffer)).toBe(true);
    expect(lineBytes(line).length).toBe(99_990);
  });

  test.each([100, 100_000])('splice keeps bytes that are not UTF-8 in a message of %i bytes', (size) => {
    const bytes = Buffer.alloc(size, Buffer.from([0xff, 0x00, 0xc3, 0x28, 0x80]));
    expect(lineBytes(splice(bytes, [])).equals(bytes)).toBe(true);
  });
});

describe('encode', () => {
  test.each([['plain'], ['é😀\u2028'], [{ a: [1, null, 'ü'] }], ['\ud800']])(
    'encode writes %j as JSON with one character per byte',
    (value) => {
      const text = encode(value);
      expect(JSON.parse(Buffer.from(text, 'latin1').toString('utf8'))).toEqual(value);
    },
  );
});

test('replaceValue changes the value of one member and nothing else', () => {
  const bytes = Buffer.from('{"a" : 1.50 ,"b":"x"}');
  const members = readMembers(bytes, 0) as Members;
  expect(splice(bytes, [replaceValue(members, findMember(members, 'a'), '"new"')])).toBe(
    '{"a" : "new" ,"b":"x"}',
  );
});

describe('changeMembers', () => {
  const OBJECT = '{ "a" : 1 , "b":[2] ,"c":{} }';

  test.each([
    [OBJECT, [], '', OBJECT],
    [OBJECT, ['x', ''], '', OBJECT],
    [OBJECT, ['a'], '', '{ "b":[2] ,"c":{} }'],
    [OBJECT, ['b'], '', '{ "a" : 1,"c":{} }'],
    [OBJECT, ['c'], '', '{ "a" : 1 , "b":[2] }'],
    [OBJECT, ['a', 'b'], '', '{ "c":{} }'],
    [OBJECT, ['c', 'a'], '', '{ "b":[2] }'],
    [OBJECT, ['b', 'c'], '', '{ "a" : 1 }'],
    [OBJECT, ['a', 'b', 'c'], '', '{  }'],
    [OBJECT, [], '"z":0', '{"z":0, "a" : 1 , "b":[2] ,"c":{} }'],
    [OBJECT, ['a', 'a'], '"a":0', '{"a":0, "b":[2] ,"c":{} }'],
    [OBJECT, ['a', 'b', 'c'], '"a":0,"b":0', '{"a":0,"b":0  }'],
    ['{}', [], '', '{}'],
    ['{}', ['a'], '', '{}'],
    ['{}', ['a'], '"a":1', '{"a":1}'],
    ['{ }', [], '"a":1', '{"a":1 }'],
    ['{"a":1}', ['a'], '', '{}'],
    ['{"a":1}', ['a'], '"b":2', '{"b":2}'],
  ] as const)('changeMembers writes %s without %j and with %j', (object, remove, add, result) => {
    const bytes = Buffer.from(object);
    const changed = splice(bytes, changeMembers(readMembers(bytes, 0) as Members, remove, add));
    expect(changed).toBe(result);
    JSON.parse(result);
  });
});
