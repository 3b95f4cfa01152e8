import { array, assert, asyncProperty, dictionary, jsonValue, oneof, record, string } from 'fast-check';
import { describe, expect, test } from 'vitest';
import { verifies } from '../../../../../tests/verifies.ts';
import { readMessage, type Message } from '../../wire/message.ts';
import type { Listing } from './catalogue.ts';
import { readPlainList } from './plain-list.ts';
import { readList } from './read-list.ts';

const NAMES = { list: 'tools', key: 'name' };
const plain = (text: string): ReturnType<typeof readPlainList> =>
  readPlainList(Buffer.from(`..${text}..`), { at: 2, end: 2 + Buffer.byteLength(text) }, NAMES);

/** Lists the definitions and their names, as texts. */
const told = ({ items }: Listing): string[][] =>
  items.map(({ key, page, at, end, keyAt, keyEnd }) => [
    key,
    page.toString('utf8', at, end),
    page.toString('utf8', keyAt, keyEnd),
  ]);

function listing(result: string): Promise<Listing> {
  const answer = readMessage(Buffer.from(`{"jsonrpc":"2.0","id":1,"result":${result}}`)) as Message;
  return readList('tools', { meta: '', ask: () => Promise.resolve(answer), warn() {} });
}

describe('a list in the format of JSON.stringify', () => {
  test('readPlainList returns the positions of all names, also after multi-byte characters', () => {
    const { items } = plain('{"x":"ü","tools":[{"title":"日本","name":"a\\"b"},7,{"name":"c"}]}') ?? {};
    expect(items?.map((item) => item?.key)).toEqual(['a"b', undefined, 'c']);
    const texts = items?.map((item) => item?.page.toString('utf8', item.keyAt, item.keyEnd));
    expect(texts).toEqual(['"a\\"b"', undefined, '"c"']);
  });

  test.each([
    '{"tools":[{"name":"a"}] }',
    '{"tools":[{"name":"a","n":1.0}]}',
    '{"tools":[{"name":"a","n":12345678901234567890}]}',
    '{"tools":[{"name":"a","name":"b"}]}',
    '{"tools":[{"n\\u0061me":"a"}]}',
    '{"tools":[{"name":"a","2":0,"1":0}]}',
    '{"tools":[',
    '[]',
    `{"tools":[{"name":"a","deep":${'['.repeat(10_000)}${']'.repeat(10_000)}}]}`,
    JSON.stringify({ tools: [{ name: 'a', description: 'x'.repeat(32 * 1024) }] }),
  ])('readPlainList rejects a list in another format: %.60s', (text) => {
    expect(plain(text)).toBeUndefined();
  });

  verifies('AGG-CALL-1', 'readPlainList reads a list like the byte-by-byte reader', async () => {
    const tool = oneof(
      record({ name: string({ unit: 'grapheme' }) }),
      jsonValue(),
      dictionary(string(), jsonValue()),
    );
    await assert(
      asyncProperty(array(tool), dictionary(string(), jsonValue()), async (tools, others) => {
        const text = JSON.stringify({ ...others, tools, nextCursor: undefined });
        const spaced = `{ ${text.slice(1)}`;
        expect(plain(spaced)).toBeUndefined();
        expect(told(await listing(text))).toEqual(told(await listing(spaced)));
      }),
      { numRuns: 500 },
    );
  });
});
