import { isUtf8 } from 'node:buffer';
import { describe, expect, test } from 'vitest';
import { verifies } from '../../../../../tests/verifies.ts';
import type { Message } from '../../wire/message.ts';
import { readDamaged } from '../../wire/repair.ts';
import { definitionOf, strictest, type Listing } from './catalogue.ts';
import { readList } from './read-list.ts';

interface Read {
  readonly listing: Listing;
  readonly asked: string[];
  readonly warnings: string[];
}

/** Reads a list whose pages are these results. */
async function read(...pages: readonly (string | Buffer)[]): Promise<Read> {
  const [asked, warnings]: [string[], string[]] = [[], []];
  const listing = await readList('tools', {
    meta: '"m":1',
    ask: (method, params) => {
      const result = Buffer.from(pages[asked.length % pages.length] ?? '');
      asked.push(`${method} ${params}`);
      const line = Buffer.concat([
        Buffer.from('{"jsonrpc":"2.0","id":1,"result":'),
        result,
        Buffer.from('}'),
      ]);
      return Promise.resolve(readDamaged(line) as Message);
    },
    warn: (text) => warnings.push(text),
  });
  return { listing, asked, warnings };
}

const definitions = ({ items }: Listing): string[] => items.map((item) => definitionOf(item).toString());

describe('a list', () => {
  test('readList keeps definitions byte for byte, page after page', async () => {
    const { listing, asked } = await read(
      '{"tools":[{"name":"a", "x":1.0}],"nextCursor":"ü"}',
      '{"tools":[ {"z":1,"name":"b"} ]}',
    );
    expect(definitions(listing)).toEqual(['{"name":"a", "x":1.0}', '{"z":1,"name":"b"}']);
    expect(asked.map((line) => Buffer.from(line, 'latin1').toString())).toEqual([
      'tools/list {"_meta":{"m":1}}',
      'tools/list {"_meta":{"m":1},"cursor":"ü"}',
    ]);
  });

  verifies('AGG-CALL-1', 'readList drops unusable definitions and keeps the others', async () => {
    const { listing, warnings } = await read(
      '{"tools":[1,{"name":"a"},{"x":1},{"name":2},null,{"name":"a","x":1},{"name":"c"}]}',
    );
    expect(definitions(listing)).toEqual(['{"name":"a"}', '{"name":"c"}']);
    expect(warnings.join('\n')).toContain('lists 4 of its tools without a name');
    expect(warnings.join('\n')).toContain('"a" twice');
  });

  test.each(['{}', '[]', 'null', '{"tools":{}}', '{"tools":null}'])(
    'readList returns an empty list for the result %s',
    async (result) => {
      const { listing, warnings } = await read(result);
      expect(definitions(listing)).toEqual([]);
      expect(warnings).toEqual(['answered tools/list without a list of tools']);
    },
  );

  test('readList takes the last of two names in one definition', async () => {
    const { listing } = await read('{"tools":[{"name":"a","n\\u0061me":"b","x":1}]}');
    expect(listing.items.map(({ key }) => key)).toEqual(['b']);
    expect(definitions(listing)).toEqual(['{"name":"b","x":1}']);
  });

  verifies(
    'AGG-CALL-1',
    'readList repairs bytes that are not UTF-8 and keeps the other definitions',
    async () => {
      const noText = Buffer.from([0xff, 0xe2, 0x82]);
      for (const space of ['', ' ']) {
        const { listing } = await read(
          Buffer.concat([
            Buffer.from(`{${space}"tools":[{"name":"a","description":"é`),
            noText,
            Buffer.from('"},{"name":"b"}]}'),
          ]),
        );
        expect(definitions(listing)).toEqual(['{"name":"a","description":"é\uFFFD\uFFFD"}', '{"name":"b"}']);
        expect(listing.items.every((item) => isUtf8(definitionOf(item)))).toBe(true);
        expect(listing.items.map(({ key }) => key)).toEqual(['a', 'b']);
      }
    },
  );

  test('readList stops at a cursor that repeats', async () => {
    const { listing, asked, warnings } = await read('{"tools":[{"name":"a"}],"nextCursor":"same"}');
    expect(definitions(listing)).toEqual(['{"name":"a"}']);
    expect(asked).toHaveLength(2);
    expect(warnings.at(-1)).toContain('without end');
  });

  test.each([
    ['"ttlMs":5,"cacheScope":"public"', { ttlMs: 5, cacheScope: 'public' }],
    ['"ttlMs":-5,"cacheScope":"x"', { ttlMs: 0, cacheScope: 'private' }],
    ['"ttlMs":"5"', { ttlMs: 0, cacheScope: 'private' }],
    ['"ttlMs":1e400,"cacheScope":"public"', { ttlMs: 0, cacheScope: 'public' }],
  ])('readList reads the cache hints %s', async (hints, expected) => {
    expect((await read(`{"tools":[],${hints}}`)).listing).toMatchObject(expected);
  });
});

test('strictest returns the shortest ttlMs and the narrowest cacheScope', () => {
  const [short, own] = [
    { ttlMs: 1, cacheScope: 'public' },
    { ttlMs: 9, cacheScope: 'private' },
  ] as const;
  expect(strictest(short, own)).toEqual({ ttlMs: 1, cacheScope: 'private' });
  expect(strictest(short, short)).toEqual(short);
});
