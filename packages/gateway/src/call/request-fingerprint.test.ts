import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readMessage, type Message } from '../wire/message.ts';
import { fingerprint } from './request-fingerprint.ts';

const call = (params: string, method = 'tools/call'): Message => {
  const message = readMessage(
    Buffer.from(`{"jsonrpc":"2.0","id":1,"method":"${method}","params":${params}}`, 'latin1'),
  );
  if (message.kind === 'invalid') throw new Error(params);
  return message;
};
const of = (params: string, method?: string): string => fingerprint(call(params, method));

describe('the fingerprint of a request', () => {
  test.each([
    [
      'the order of keys',
      '{"name":"a","arguments":{"x":1,"y":{"b":[1],"a":2}}}',
      '{"arguments":{"y":{"a":2,"b":[1]},"x":1},"name":"a"}',
    ],
    ['space', '{"name":"a"}', '{ "name" : "a" }'],
    [
      'members that change at each attempt',
      '{"name":"a"}',
      '{"name":"a","_meta":{"x":1},"inputResponses":{},"requestState":"s"}',
    ],
    ['a key that is written twice, the last of which counts', '{"a":{"x":2}}', '{"a":{"x":1,"x":2}}'],
  ])("a request's fingerprint does not depend on %s", (_what, a, b) => {
    expect(of(a)).toBe(of(b));
  });

  test.each([
    ['names', '{"name":"a"}', '{"name":"b"}'],
    ['the order of elements', '{"a":[1,2]}', '{"a":[2,1]}'],
    ['numbers and texts', '{"a":1}', '{"a":"1"}'],
    ['numbers and texts that look like them', '{"a":1}', '{"a":"#1"}'],
    ['numbers that a parser takes for one', '{"a":12345678901234567890}', '{"a":12345678901234567891}'],
    ['escapes', '{"a":"\\u0141"}', '{"a":"A"}'],
    ['nothing and null', '{}', '{"a":null}'],
    ['objects and arrays', '{"a":{"x":1}}', '{"a":[["x",1]]}'],
    ['nested members named _meta', '{"a":{"_meta":1}}', '{"a":{"_meta":2}}'],
    ['prototypes', '{"a":{"__proto__":{"x":1}}}', '{"a":{"__proto__":{"x":2}}}'],
  ])("a request's fingerprint distinguishes %s", (_what, a, b) => {
    expect(of(a)).not.toBe(of(b));
  });

  test("a request's fingerprint distinguishes methods", () => {
    expect(of('{"name":"a"}', 'prompts/get')).not.toBe(of('{"name":"a"}'));
  });

  test("a request's fingerprint covers 9,000 levels of nesting", () => {
    const deep = (inner: string): string => `{"a":${'['.repeat(9000)}${inner}${']'.repeat(9000)}}`;
    expect(of(deep('1').replace('}', ',"requestState":"s"}'))).toBe(of(deep('1')));
    expect(of(deep('2'))).not.toBe(of(deep('1')));
  });

  test("a request's fingerprint covers long texts and 200,000 numbers", () => {
    const long = `{"a":"${'\\"x'.repeat(500_000)}","b":[${'1.5e3,'.repeat(200_000)}0]}`;
    expect(of(long)).toBe(of(long.replace('{', '{ ')));
  });

  test("a request's fingerprint is equal exactly for values that a parser reads as equal", () => {
    fc.assert(
      fc.property(
        fc.dictionary(fc.string(), fc.jsonValue()),
        fc.dictionary(fc.string(), fc.jsonValue()),
        (a, b) => {
          const texts = [a, b].map((value) =>
            Buffer.from(JSON.stringify({ arguments: value })).toString('latin1'),
          );
          const isSame = JSON.stringify(sortedCopy(a)) === JSON.stringify(sortedCopy(b));
          expect(of(texts[0] ?? '') === of(texts[1] ?? '')).toBe(isSame);
          expect(of(texts[0] ?? '')).toBe(
            of(Buffer.from(JSON.stringify({ arguments: reversed(a) })).toString('latin1')),
          );
        },
      ),
    );
  });
});

function sortedCopy(value: unknown): unknown {
  return rebuilt(value, (keys) => keys.toSorted());
}

function reversed(value: unknown): unknown {
  return rebuilt(value, (keys) => keys.toReversed());
}

function rebuilt(value: unknown, order: (keys: string[]) => string[]): unknown {
  if (Array.isArray(value)) return value.map((inner) => rebuilt(inner, order));
  if (typeof value !== 'object' || value === null) return value;
  const members = value as Record<string, unknown>;
  return Object.fromEntries(order(Object.keys(members)).map((key) => [key, rebuilt(members[key], order)]));
}
