import { expect } from 'vitest';
import { verifies } from '../../../../tests/verifies.ts';
import { readItem } from '../upstream/catalogue/read-list.ts';
import { appUris } from './app-uris.ts';

function urisIn(definition: string): (readonly [string, string])[] {
  const listed = readItem(Buffer.from(definition), 'name');
  if (listed === undefined) throw new Error('no definition');
  return appUris(listed).map(
    ({ uri, start, end }) => [uri, listed.page.toString('utf8', start, end)] as const,
  );
}

verifies('AGG-CALL-3', 'appUris finds the resource of a tool’s app in every member that hosts read', () => {
  expect(urisIn('{"name":"a","_meta":{"ui":{"resourceUri":"ui:\\/\\/ä"}}}')).toEqual([
    ['ui://ä', '"ui:\\/\\/ä"'],
  ]);
  const both = '{"_meta":{"ui/resourceUri":"ui://x","ui":{"resourceUri":"ui://y"}},"name":"a"}';
  expect(urisIn(both).map(([uri]) => uri)).toEqual(['ui://y', 'ui://x']);
  expect(urisIn('{"name":"a","_meta":{"openai/outputTemplate":"ui://z"}}').map(([uri]) => uri)).toEqual([
    'ui://z',
  ]);
});

verifies('AGG-CALL-3', 'appUris ignores resource URIs in other members', () => {
  const definitions = [
    '{"name":"a"}',
    '{"name":"resourceUri"}',
    '{"name":"a","_meta":"resourceUri\\""}',
    '{"name":"a","_meta":{"ui":"resourceUri\\""}}',
    '{"name":"a","_meta":{"ui":{"resourceUri":7}}}',
    '{"name":"a","inputSchema":{"_meta":{"ui":{"resourceUri":"ui://x"}}}}',
  ];
  for (const definition of definitions) expect(urisIn(definition)).toEqual([]);
});
