import { describe, expect, test } from 'vitest';
import { verifies } from '../../../../tests/verifies.ts';
import { stringValue, valueText } from './json/members.ts';
import { readMessage, type Message, type InvalidInput } from './message.ts';

const read = (line: string): Message | InvalidInput => readMessage(Buffer.from(line));
const message = (line: string): Message => {
  const found = read(line);
  if (found.kind === 'invalid') throw new Error(`${line} is ${found.reason}`);
  return found;
};
const V = '"jsonrpc":"2.0"';

describe('a valid message', () => {
  test.each([
    [`{${V},"id":1,"method":"m"}`, { kind: 'request', id: '1', method: 'm' }],
    [`{"method":"m","id":"a b",${V}}`, { kind: 'request', id: '"a b"', method: 'm' }],
    [`{${V},"id":-1.50e2,"method":"m\\u00fc"}`, { kind: 'request', id: '-1.50e2', method: 'mü' }],
    [`{${V},"id":12345678901234567890,"method":"m"}`, { kind: 'request', id: '12345678901234567890' }],
    [`{${V},"id":"","method":""}`, { kind: 'request', id: '""', method: '' }],
    [`{${V},"method":"m","params":{}}`, { kind: 'notification', id: '', method: 'm' }],
    [`{${V},"id":1,"result":null}`, { kind: 'response', id: '1', method: '', isError: false }],
    [`{${V},"id":1,"error":{"code":-1,"message":""}}`, { kind: 'response', id: '1', isError: true }],
    [`{"jsonrpc":"2\\u002e0","id":1,"result":{}}`, { kind: 'response', id: '1' }],
    [` \t{ ${V} ,\t"id" : 1 , "method" : "m" } `, { kind: 'request', id: '1', method: 'm' }],
  ])('readMessage reads the message %s', (line, expected) => {
    expect(read(line)).toMatchObject(expected);
    expect(message(line).bytes.toString()).toBe(line);
  });

  test('readMessage returns the positions of the id and the body', () => {
    const line = `{${V},"result": {"a":1} ,"id": "é" }`;
    const { bytes, id, idAt, bodyAt, bodyEnd } = message(line);
    expect(bytes.toString('latin1', idAt, idAt + id.length)).toBe(id);
    expect(Buffer.from(id, 'latin1').toString('utf8')).toBe('"é"');
    expect(bytes.toString('utf8', bodyAt, bodyEnd)).toBe('{"a":1}');
  });

  test('readMessage returns the members of params and of their _meta', () => {
    const { params, meta } = message(
      `{${V},"id":1,"method":"m","params":{"name":"t","_meta":{"progressToken":7}}}`,
    );
    expect(params && stringValue(params, 'name')).toBe('t');
    expect(meta && valueText(meta, 'progressToken')).toBe('7');
  });

  test('readMessage ignores a _meta that is not an object', () => {
    expect(message(`{${V},"id":1,"method":"m","params":{"_meta":5}}`).meta).toBeUndefined();
  });
});

describe('an invalid line', () => {
  test.each<[string, Partial<InvalidInput>]>([
    ['', { reason: 'not-json' }],
    ['Server listening …', { reason: 'not-json' }],
    ['\ufeff{}', { reason: 'not-json' }],
    ['42', { reason: 'not-a-message' }],
    ['null', { reason: 'not-a-message' }],
    ['"text"', { reason: 'not-a-message' }],
    ['{}', { reason: 'not-a-message', id: undefined, likelyKind: undefined }],
    ['[]', { reason: 'batch' }],
    [` [{${V},"id":1,"method":"m"}] `, { reason: 'batch' }],
    ['[1', { reason: 'batch' }],
    [`{${V}}`, { reason: 'not-a-message' }],
    // A log line, not an answer: it must not fail a call.
    ['{"level":30,"id":5,"msg":"x"}', { reason: 'not-a-message', id: '5', likelyKind: undefined }],
    ['{"id":5,"result":{}}', { reason: 'not-a-message', id: '5', likelyKind: 'response' }],
    [`{"jsonrpc":"1.0","id":5,"method":"m"}`, { reason: 'not-a-message', id: '5', likelyKind: 'request' }],
    [`{"jsonrpc":2.0,"id":5,"method":"m"}`, { reason: 'not-a-message', id: '5', likelyKind: 'request' }],
    [`{${V},"id":null,"method":"m"}`, { reason: 'not-a-message', id: undefined, likelyKind: 'request' }],
    [`{${V},"id":[1],"result":{}}`, { reason: 'not-a-message', id: undefined, likelyKind: 'response' }],
    [`{${V},"id":true,"method":"m"}`, { reason: 'not-a-message', id: undefined }],
    [`{${V},"id":5,"method":7}`, { reason: 'not-a-message', id: '5', likelyKind: 'request' }],
    [`{${V},"id":5,"method":"m","params":[]}`, { reason: 'not-a-message', id: '5', likelyKind: 'request' }],
    [`{${V},"id":5,"method":"m","params":null}`, { reason: 'not-a-message', id: '5', likelyKind: 'request' }],
    [
      `{${V},"id":5,"result":{},"error":{"code":1,"message":""}}`,
      { reason: 'not-a-message', id: '5', likelyKind: 'response' },
    ],
    [`{${V},"id":5,"error":"text"}`, { reason: 'not-a-message', id: '5', likelyKind: 'response' }],
    [
      `{${V},"id":5,"error":{"code":"1","message":""}}`,
      { reason: 'not-a-message', id: '5', likelyKind: 'response' },
    ],
    [`{${V},"id":5,"error":{"code":1}}`, { reason: 'not-a-message', id: '5', likelyKind: 'response' }],
    [`{${V},"result":{}}`, { reason: 'not-a-message', id: undefined, likelyKind: 'response' }],
    // Not JSON, but the call that it should have answered is known.
    [`{${V},"id":5,"result":{"x":NaN}}`, { reason: 'not-json', id: '5', likelyKind: 'response' }],
    [`{${V},"id":5,"method":"m","params":{"x":'a'}}`, { reason: 'not-json', id: '5', likelyKind: 'request' }],
    [`{${V},"id":5,"result":{}}}`, { reason: 'not-json', id: '5' }],
    [`{${V},"id":5,"result":{}} {}`, { reason: 'not-json', id: '5' }],
    [`{${V},"id":5x,"result":{}}`, { reason: 'not-json', id: undefined }],
    [`{${V},"id":"5,"result":{}}`, { reason: 'not-json', id: undefined }],
  ])('readMessage rejects the line %s', (line, expected) => {
    expect(read(line)).toMatchObject({ kind: 'invalid', ...expected });
  });

  test('a line that is nested too deep keeps the id of the request that it answers', () => {
    const deep = `{${V},"id":5,"result":${'['.repeat(20_000)}${']'.repeat(20_000)}}`;
    expect(read(deep)).toMatchObject({ reason: 'not-json', id: '5', likelyKind: 'response' });
  });
});

describe('a line with too many keys', () => {
  const keys = (count: number): string => Array.from({ length: count }, (_, i) => `"k${i}":0`).join(',');

  test.each([
    [10_000, 'request'],
    [10_001, 'invalid'],
  ])('readMessage of a line with %i keys in its params returns the kind %s', (count, kind) => {
    const line = `{${V},"id":5,"method":"m","params":{${keys(count)}}}`;
    expect(read(line)).toMatchObject({ kind, id: '5' });
  });

  test('a response may have too many keys unless they have to be compared, and keeps its id', () => {
    expect(read(`{${V},"id":5,${keys(20_000)},"result":{${keys(20_000)}}}`)).toMatchObject({
      kind: 'response',
      id: '5',
    });
    expect(read(`{${V},"id":4,${keys(20_000)},"result":{},"id":5}`)).toMatchObject({
      kind: 'invalid',
      reason: 'not-a-message',
      id: '5',
      likelyKind: 'response',
    });
  });
});

describe('a line with ambiguous keys', () => {
  test.each([
    [`{${V},"id":1,"id":2,"result":{}}`, `{${V},"id":2,"result":{}}`],
    [`{${V},"id":1,"\\u0069d":2,"result":{}}`, `{${V},"id":2,"result":{}}`],
    [`{${V},"result":1,"id":1,"result":2}`, `{${V},"result":2,"id":1}`],
    [
      `{${V},"id":1,"error":1,"error":{"code":1,"message":""}}`,
      `{${V},"id":1,"error":{"code":1,"message":""}}`,
    ],
    [`{${V},"id":1,"m\\u0065thod":"m"}`, `{${V},"id":1,"method":"m"}`],
    [`{${V},"id":1,"method":"a","method":"b"}`, `{${V},"id":1,"method":"b"}`],
    [`{${V},"jsonrpc":"2.0","id":1,"method":"m"}`, `{${V},"id":1,"method":"m"}`],
    [`{${V},"id":1,"method":"m","params":1,"params":{"a":1}}`, `{${V},"id":1,"method":"m","params":{"a":1}}`],
    [
      `{${V},"id":1,"method":"m","params":{"name":1,"name":2}}`,
      `{${V},"id":1,"method":"m","params":{"name":2}}`,
    ],
    [
      `{${V},"id":1,"method":"m","params":{"_meta":{"a":1,"a":2}}}`,
      `{${V},"id":1,"method":"m","params":{"_meta":{"a":2}}}`,
    ],
    [
      `{${V},"id":1,"method":"m","params":{"ref":{"n\\u0061me":1}}}`,
      `{${V},"id":1,"method":"m","params":{"ref":{"name":1}}}`,
    ],
    [`{${V},"id":1,"method":"m","result":{"a":1.0}}`, `{${V},"id":1,"method":"m","result":{"a":1.0}}`],
    [`{\r"jsonrpc":"2.0",\n"id":1,"result":\r{"a":\r1.0}}\r`, `{${V},"id":1,"result":{"a": 1.0}}`],
  ])('readMessage reads the ambiguous line %j as a parser does', (line, bytes) => {
    expect(message(line).bytes.toString()).toBe(bytes);
    expect(JSON.parse(bytes)).toEqual(JSON.parse(line));
  });

  test.each([`{${V},"id":5,"id":null,"result":{}}`, `{${V},"jsonrpc":"1.0","id":5,"result":{}}`])(
    'readMessage rejects %s, as a parser would',
    (line) => {
      expect(read(line)).toMatchObject({ kind: 'invalid', reason: 'not-a-message' });
    },
  );
});

describe('a message with invalid JSON in it', () => {
  const LONG = 'x'.repeat(300);

  test.each([
    `{${V},"id":1,"method":"m","params":{"a":"${LONG}\t"}}`,
    `{${V},"id":1,"method":"m","params":{"a":{"${LONG}\\x":1}}}`,
    `{${V},"id":1,"method":"m","params":{"${LONG}\t":1}}`,
    `{${V},"id":1,"method":"${LONG}\\u12"}`,
    `{${V},"id":"${LONG}\t","method":"m"}`,
    `{${V},"id":1,"method":"m","x":"${LONG}\t"}`,
    `{${V},"id":1,"method":"m","${LONG}\t":1}`,
    `{${V},"id":1,"method":"m","result":"${LONG}\t"}`,
    `{${V},"id":1,"method":"m","params":{},"result":"${LONG}\t"}`,
  ])('readMessage rejects the request %j', (line) => {
    expect(read(line)).toMatchObject({ kind: 'invalid', reason: 'not-json' });
  });

  test.each(['\t', `${LONG}\t`, `${LONG}\\x`, `${LONG}\\u12`])(
    'readMessage rejects a response with %j in its result',
    (text) => {
      const spoiled = { reason: 'not-json', id: '1', likelyKind: 'response' };
      expect(read(`{${V},"id":1,"result":"${text}"}`)).toMatchObject(spoiled);
      expect(read(`{${V},"id":1,"result":{"a":["${text}"]}}`)).toMatchObject(spoiled);
    },
  );

  test('readMessage rejects a response whose other members are invalid', () => {
    expect(read(`{${V},"id":1,"x":"${LONG}\t","result":""}`)).toMatchObject({ reason: 'not-json' });
    expect(read(`{${V},"id":1,"id":1,"result":"${LONG}\t"}`)).toMatchObject({ reason: 'not-json' });
  });
});

verifies(
  'AGG-CALL-1',
  'readMessage removes the carriage returns that would hide one answer inside another',
  () => {
    // A peer that ends lines at a carriage return would see three, the second of them a forged answer.
    const { bytes } = message(`{${V},"id":1,"result":\r{${V},"id":7,"result":{}}\r}`);
    expect(bytes.includes('\r')).toBe(false);
    expect(JSON.parse(bytes.toString())).toEqual({
      jsonrpc: '2.0',
      id: 1,
      result: { jsonrpc: '2.0', id: 7, result: {} },
    });
  },
);

describe('the time of readMessage', () => {
  test.each<[string, (count: number) => string]>([
    [
      'keys',
      (count) =>
        `{${V},"id":1,${Array.from({ length: count }, (_, i) => `"k${i}":0`).join(',')},"result":{}}`,
    ],
    ['equal keys', (count) => `{${V},"id":1,${'"id":1,'.repeat(count)}"result":{}}`],
    [
      'keys of params',
      (count) =>
        `{${V},"method":"m","params":{${Array.from({ length: count }, (_, i) => `"k${i}":0`).join(',')}}}`,
    ],
    [
      'escaped keys',
      (count) =>
        `{${V},"id":1,${Array.from({ length: count }, (_, i) => `"\\u006b${i}":0`).join(',')},"result":{}}`,
    ],
    ['noise', (count) => '{"'.repeat(count)],
  ])('the time of readMessage grows in proportion to the %s', (_, build) => {
    const time = (line: Buffer): number => {
      const began = process.cpuUsage();
      readMessage(line);
      // Other processes on the machine do not count.
      return process.cpuUsage(began).user / 1000;
    };
    const fastest = (line: Buffer): number => Math.min(...Array.from({ length: 4 }, () => time(line)));
    const [small, large] = [Buffer.from(build(5000)), Buffer.from(build(40_000))];
    // Eight times the work; were it quadratic, sixty-four times.
    expect(fastest(large)).toBeLessThan(Math.max(30 * fastest(small), 150));
  });
});

test('readMessage rejects an id of more than 4096 bytes', () => {
  const line = (length: number): Buffer =>
    Buffer.from(`{"jsonrpc":"2.0","id":"${'x'.repeat(length - 2)}","method":"ping"}`);
  expect(readMessage(line(4096))).toMatchObject({ kind: 'request' });
  expect(readMessage(line(4097))).toMatchObject({ kind: 'invalid', reason: 'not-a-message', id: undefined });
});
