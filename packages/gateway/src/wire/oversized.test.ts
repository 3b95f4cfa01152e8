import { describe, expect, test } from 'vitest';
import { inChunks } from '../../../../tests/support/json-texts.ts';
import { OversizedLine, readPartialHead, type PartialHead } from './oversized.ts';

const LINES: readonly [string, PartialHead['id'], PartialHead['likelyKind']][] = [
  ['{"jsonrpc":"2.0","id":7,"result":{}}', '7', 'response'],
  ['{"jsonrpc":"2.0","id":7,"error":{"id":8}}', '7', 'response'],
  ['{"jsonrpc":"2.0","id":7,"method":"m","params":{"id":8}}', '7', 'request'],
  ['{"method":"m","result":1,"id":7}', '7', 'request'],
  ['{"result":1,"method":"m","id":7}', '7', 'request'],
  ['{"result":{"id":1,"a":[{"id":2}],"b":"\\"id\\":3,{[","c":"\\\\"},"id":"x y"}', '"x y"', 'response'],
  [' {\t"id" : "é\\"\\\\" , "result" : 1 } ', Buffer.from('"é\\"\\\\"').toString('latin1'), 'response'],
  ['{"id":1,"id":2,"result":0}', '2', 'response'],
  ['{"id":1,"result":0,"\\u0069d":2}', '2', 'response'],
  ['{"id":1,"result":0,"id":null}', undefined, 'response'],
  ['{"id":1,"result":0,"id":{"id":3}}', undefined, 'response'],
  ['{"id":1,"result":0,"id":[3]}', undefined, 'response'],
  ['{"id":-1.5e2,"m\\u0065thod":0}', '-1.5e2', 'request'],
  ['{"ids":1,"Id":2,"i":3,"":4}', undefined, undefined],
  ['{"a":"id","b":1}', undefined, undefined],
  ['[{"id":1,"result":0}]', undefined, undefined],
  ['["id",1]', undefined, undefined],
  ['{}', undefined, undefined],
  ['"id"', undefined, undefined],
  // Not JSON, but what is known is returned, and an id is always one that keeps our own line valid JSON.
  ['{"id":5,"result":{"x":NaN', '5', 'response'],
  ['{"id":foo,"result":0}', undefined, 'response'],
  ['{"id":1 2,"result":0}', undefined, 'response'],
  ['{"id":"a\tb","result":0}', undefined, 'response'],
  ['{"id":"a\\x","result":0}', undefined, 'response'],
  ['{"id":"a', undefined, undefined],
  ['{"id":5}}}{"id":6}', '5', undefined],
  ['}{"id":5}', undefined, undefined],
  ['{"id\\x":5}', undefined, undefined],
  ['{:5}', undefined, undefined],
];

describe('an oversized line', () => {
  test.each(LINES)('readPartialHead finds the id and the kind of %s', (line, id, likelyKind) => {
    expect(readPartialHead(Buffer.from(line))).toEqual({ id, likelyKind });
  });

  test.each([1, 2, 3, 5])('OversizedLine finds the same id and kind in chunks of %i bytes', (size) => {
    for (const [line, id, likelyKind] of LINES) {
      const follower = new OversizedLine();
      for (const chunk of inChunks(Buffer.from(line), [size])) follower.push(chunk);
      expect(follower.end()).toEqual({ id, likelyKind, size: Buffer.byteLength(line) });
    }
  });

  test.each([
    [4000, true],
    [5000, false],
  ])('OversizedLine returns an id of %i characters: %s', (length, isTold) => {
    const id = JSON.stringify('x'.repeat(length));
    for (const size of [1, 100, 10_000]) {
      const follower = new OversizedLine();
      for (const chunk of inChunks(Buffer.from(`{"id":${id},"result":0}`), [size])) follower.push(chunk);
      expect(follower.end().id).toBe(isTold ? id : undefined);
    }
  });
});

describe('the time to follow an oversized line', () => {
  test.each<[string, string]>([
    ['letters', 'x'],
    ['escapes', '\\n'],
    ['escaped quotes', '\\"'],
    ['members', '"a":1,'],
    ['brackets', '[]'],
  ])('the time to follow an oversized line grows in proportion to its %s', (_, unit) => {
    const isString = !unit.startsWith('"') && !unit.startsWith('[');
    const start = isString ? '{"id":1,"result":"' : '{"id":1,';
    const time = (count: number): number => {
      const chunk = Buffer.from(unit.repeat(count));
      const follower = new OversizedLine();
      follower.push(Buffer.from(start));
      const began = process.cpuUsage();
      follower.push(chunk);
      // Other processes on the machine do not count.
      return process.cpuUsage(began).user / 1000;
    };
    const fastest = (count: number): number => Math.min(...Array.from({ length: 4 }, () => time(count)));
    // Eight times the work; were it quadratic, sixty-four times.
    expect(fastest(400_000)).toBeLessThan(Math.max(30 * fastest(50_000), 150));
  });
});
