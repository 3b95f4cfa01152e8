import { describe, expect, test } from 'vitest';
import { lineBytes, splice } from '../wire/json/splice.ts';
import { readMessage, type Message } from '../wire/message.ts';
import { uriEdits } from './uri-edits.ts';

const answer = (result: string): Message =>
  readMessage(Buffer.from(`{"jsonrpc":"2.0","id":1,"result":${result}}`)) as Message;

function rewritten(result: string): string {
  const message = answer(result);
  const publicUri = (uri: string): string | undefined => (uri.startsWith('x:') ? `weir:${uri}` : undefined);
  const edits = uriEdits(message, publicUri);
  const line = lineBytes(splice(message.bytes, edits)).toString();
  return line.slice(line.indexOf('"result":') + 9, -1);
}

describe('URIs in a result', () => {
  test.each([
    ['{"content":[{"uri":"x:1"},{"uri":"y:1"}]}', '{"content":[{"uri":"weir:x:1"},{"uri":"y:1"}]}'],
    [
      '{"content":[{"resource":{"uri":"x:1","text":"x:1"}}]}',
      '{"content":[{"resource":{"uri":"weir:x:1","text":"x:1"}}]}',
    ],
    [
      '{"contents":[{"uri":"x:1"}],"content":[{"uri":"x:2"}]}',
      '{"contents":[{"uri":"weir:x:1"}],"content":[{"uri":"weir:x:2"}]}',
    ],
    ['{"messages":[{"content":{"uri":"x:1"}}]}', '{"messages":[{"content":{"uri":"weir:x:1"}}]}'],
    ['{"messages":[{"content":[{"uri":"x:1"}]}]}', '{"messages":[{"content":[{"uri":"weir:x:1"}]}]}'],
  ])('uriEdits rewrites the URIs in %s', (result, expected) => {
    expect(rewritten(result)).toBe(expected);
  });

  test.each([
    '{}',
    '[]',
    '1',
    '{"uri":"x:1"}',
    '{"content":{"uri":"x:1"}}',
    '{"content":[1,"x:1",null,[{"uri":"x:1"}]]}',
    '{"content":[{"uri":1}]}',
  ])('uriEdits leaves the result %s unchanged', (result) => expect(rewritten(result)).toBe(result));

  test('uriEdits leaves errors unchanged', () => {
    const error = readMessage(
      Buffer.from('{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"","content":[{"uri":"x:1"}]}}'),
    ) as Message;
    expect(uriEdits(error, () => 'weir:')).toEqual([]);
  });

  test('uriEdits rewrites 600,000 URIs in any order within 10 s', () => {
    const links = Array.from({ length: 200_000 }, () => '{"uri":"x:1"}').join(',');
    const began = performance.now();
    const result = rewritten(
      `{"contents":[${links}],"messages":[{"content":[${links}]}],"content":[${links}]}`,
    );
    expect(result.split('"weir:x:1"')).toHaveLength(600_001);
    expect(performance.now() - began).toBeLessThan(10_000);
  });
});
