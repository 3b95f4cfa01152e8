import { expect } from 'vitest';
import { verifies } from '../../../../../tests/verifies.ts';
import { readMembers, type Members } from '../../wire/json/members.ts';
import { readMessage, type Message } from '../../wire/message.ts';
import { failureIn, outlineOf, wholeResult } from './execution-result.ts';

function bytesOf(result: object): Buffer {
  return Buffer.from(JSON.stringify(result));
}

const text = { type: 'text', text: 'é "x"' };
const image = { type: 'image', data: 'AA==', mimeType: 'image/png' };
const rows: [string, object, [type: string, content: unknown]][] = [
  ['one text', { content: [text] }, ['text', 'é "x"']],
  ['one Markdown text', { content: [{ ...text, mimeType: 'text/markdown' }] }, ['markdown', 'é "x"']],
  ['one image', { content: [image] }, ['image', image]],
  ['several items', { content: [text, image] }, ['json', [text, image]]],
  ['structured content', { content: [text], structuredContent: { a: 1 } }, ['json', { a: 1 }]],
  ['another type', { content: [{ type: 'audio' }] }, ['json', [{ type: 'audio' }]]],
  ['no item', { content: [] }, ['json', []]],
  ['no content', {}, ['json', undefined]],
  ['content that is not a list', { content: 5 }, ['json', 5]],
  ['items that are not objects', { content: [null] }, ['json', [null]]],
  [
    'a text item without a text',
    { content: [{ type: 'text', text: 5 }] },
    ['json', [{ type: 'text', text: 5 }]],
  ],
];
for (const [what, result, [contentType, content]] of rows)
  verifies('HEALTH-4', `wholeResult reads the content of a result: ${what}`, () => {
    expect(wholeResult(bytesOf(result))).toEqual({ contentType, content });
    expect(outlineOf(readMembers(bytesOf(result), 0) as Members)).toEqual({ contentType });
  });

verifies('HEALTH-4', 'outlineOf reads the content type of a large result from its first item', () => {
  const outline = (result: object): unknown => outlineOf(readMembers(bytesOf(result), 0) as Members);
  const large = { type: 'text', text: 'x'.repeat(1000) };
  expect(outline({ content: [large] })).toEqual({ contentType: 'text' });
  expect(outline({ content: [{ ...image, data: large.text }] })).toEqual({ contentType: 'image' });
  expect(outline({ content: [{ type: 'audio', data: large.text }] })).toEqual({ contentType: 'json' });
  expect(outline({ content: [large], structuredContent: {} })).toEqual({ contentType: 'json' });
  expect(wholeResult(bytesOf({ content: [large, large] })).contentType).toBe('json');
});

verifies('HEALTH-4', 'outlineOf returns the tokens that _meta reports', () => {
  const tokens = (meta: unknown): unknown =>
    outlineOf(readMembers(bytesOf({ content: [], _meta: meta }), 0) as Members).tokensUsed;
  expect(tokens({ usage: { total_tokens: 12 } })).toBe(12);
  expect(tokens({ tokensUsed: 7 })).toBe(7);
  for (const meta of [null, 5, { usage: null }, { usage: { totalTokens: 'x' } }])
    expect(tokens(meta)).toBeUndefined();
});

const FAILED = { message: 'The tool reported an error' };

function answer(body: string): Message {
  return readMessage(Buffer.from(`{"jsonrpc":"2.0","id":1,${body}}`)) as Message;
}

const failures: [string, unknown][] = [
  ['"result":{"content":[]}', undefined],
  ['"result":{"content":[],"isError":false}', undefined],
  ['"result":{"content":[],"isError":true}', FAILED],
  ['"result":{"isError" : true,"content":[]}', FAILED],
  ['"result":{"structuredContent":{"isError":true}}', undefined],
  ['"result":{"structuredContent":{"isError":false},"isError":true}', FAILED],
  ['"result":{"content":[{"type":"text","text":"\\"isError\\":true"}]}', undefined],
  [`"result":{"content":[{"type":"text","text":"${'x'.repeat(100_000)}"}],"isError":true}`, FAILED],
  ['"error":{"code":-32000,"message":"no","data":{"secret":1}}', { code: -32_000, message: 'no' }],
];

for (const [body, expected] of failures)
  verifies('HEALTH-7', `failureIn reads the failure of ${body.slice(0, 70)}`, () => {
    expect(failureIn(answer(body))).toEqual(expected);
  });
