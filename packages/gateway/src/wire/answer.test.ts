import { describe, expect, test } from 'vitest';
import { RpcError } from '../errors.ts';
import { errorLine, notificationLine, requestLine, resultLine } from './answer.ts';
import { lineBytes, type Line } from './json/splice.ts';

const parsed = (line: Line): unknown => JSON.parse(lineBytes(line).toString('utf8'));

describe('lines that Weir composes', () => {
  test.each([
    ['a result', resultLine('"a 1"', '{"x":1}'), { jsonrpc: '2.0', id: 'a 1', result: { x: 1 } }],
    [
      'a result in parts',
      resultLine('7', ['{"x":', Buffer.from('"é"'), '}']),
      { jsonrpc: '2.0', id: 7, result: { x: 'é' } },
    ],
    [
      'an error',
      errorLine('7', new RpcError(-32602, 'no “ü”')),
      { jsonrpc: '2.0', id: 7, error: { code: -32602, message: 'no “ü”' } },
    ],
    [
      'an error with data',
      errorLine('7', new RpcError(-1, 'x', null)),
      { jsonrpc: '2.0', id: 7, error: { code: -1, message: 'x', data: null } },
    ],
    [
      'an error with data that is nested too deep to be written',
      errorLine('7', new RpcError(-1, 'x', JSON.parse('['.repeat(9_000) + ']'.repeat(9_000)))),
      { jsonrpc: '2.0', id: 7, error: { code: -1, message: 'x' } },
    ],
    [
      'a request',
      requestLine(3, 'x/ü', '{"a":1}'),
      { jsonrpc: '2.0', id: 3, method: 'x/ü', params: { a: 1 } },
    ],
    ['a notification', notificationLine('n'), { jsonrpc: '2.0', method: 'n' }],
    [
      'a notification with params',
      notificationLine('n', '{"a":1}'),
      { jsonrpc: '2.0', method: 'n', params: { a: 1 } },
    ],
  ])('%s is written as one JSON-RPC message', (_, line, message) => {
    expect(parsed(line)).toEqual(message);
  });

  test('a result line repeats the id byte for byte', () => {
    const id = Buffer.from('"é\\u00e9 1.0"').toString('latin1');
    expect(lineBytes(resultLine(id, '{}')).toString('utf8')).toContain('"id":"é\\u00e9 1.0",');
  });
});
