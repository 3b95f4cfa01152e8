import { expect } from 'vitest';
import { verifies } from '../../../../../tests/verifies.ts';
import { readMessage, type Message } from '../../wire/message.ts';
import { failureIn } from './failure.ts';

const FAILED = { message: 'The tool reports a failure' };

function answer(body: string): Message {
  return readMessage(Buffer.from(`{"jsonrpc":"2.0","id":1,${body}}`)) as Message;
}

const rows: [string, unknown][] = [
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

for (const [body, expected] of rows)
  verifies('HEALTH-7', `failureIn reads the failure of ${body.slice(0, 70)}`, () => {
    expect(failureIn(answer(body))).toEqual(expected);
  });
