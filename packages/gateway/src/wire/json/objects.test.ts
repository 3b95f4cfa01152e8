import { describe, expect, test } from 'vitest';
import { readMembers, type Members } from './members.ts';
import { unambiguousMessage, unambiguousObject } from './objects.ts';

const members = (text: string | Buffer): Members => readMembers(Buffer.from(text), 0) as Members;

describe('unambiguousMessage', () => {
  test.each([
    ['{}', '{}'],
    ['{ "a" : [ 1.0 ] }', '{"a":[ 1.0 ]}'],
    ['{"id":1,"id":2}', '{"id":2}'],
    ['{"id":1,"x":0,"\\u0069d":2}', '{"id":2,"x":0}'],
    ['{"params":{"name":"a","n\\u0061me":"b"}}', '{"params":{"name":"b"}}'],
    [
      '{"params":{"_meta":{"a":1,"\\u0061":2},"ref":{"x":1,"x":2}}}',
      '{"params":{"_meta":{"a":2},"ref":{"x":2}}}',
    ],
    // Only what the relay reads: everything deeper keeps its bytes, its order and its duplicate keys.
    ['{"params":{"arguments":{"a":1,"a":2}}}', '{"params":{"arguments":{"a":1,"a":2}}}'],
    ['{"result":{"_meta":{"a":1,"a":2}}}', '{"result":{"_meta":{"a":1,"a":2}}}'],
    ['{"params":[1 ]}', '{"params":[1 ]}'],
    ['{"__proto__":1,"__proto__":{"id":5}}', '{"__proto__":{"id":5}}'],
    ['{"\\ud800":1,"\\"":2,"é":3}', '{"\\ud800":1,"\\"":2,"é":3}'],
  ])('unambiguousMessage rewrites the keys that the relay reads in %s', (text, canonical) => {
    expect(unambiguousMessage(members(text)).toString()).toBe(canonical);
    expect(JSON.parse(canonical)).toEqual(JSON.parse(text));
  });

  test('unambiguousMessage writes keys that are not UTF-8 as a parser reads them', () => {
    const text = Buffer.concat([Buffer.from('{"'), Buffer.of(0xff), Buffer.from('":1}')]);
    expect(unambiguousMessage(members(text)).toString()).toBe('{"\ufffd":1}');
  });
});

test('unambiguousObject rewrites the keys of the object, not those of its members', () => {
  expect(unambiguousObject(members('{"a":1,"a":{"b":1,"b":2},"params":{"c":1,"c":2}}')).toString()).toBe(
    '{"a":{"b":1,"b":2},"params":{"c":1,"c":2}}',
  );
});
