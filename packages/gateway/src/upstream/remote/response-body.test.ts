import { describe, expect, test } from 'vitest';
import type { ChunkReader } from '../../wire/sliced-input.ts';
import { JsonBody } from './response-body.ts';

function push(reader: ChunkReader, chunk: Buffer): void {
  reader.begin(chunk);
  while (reader.next());
}

const NOTE = '{"jsonrpc":"2.0","method":"notifications/progress","params":{"progress":1}}';
const ANSWER = '{"jsonrpc":"2.0","id":1,"result":{"text":"grüße"}}';

/** What comes of a body that arrives in chunks of this size: the lines, and the text where it is one. */
function read(text: string, size: number, limit = 1000): { lines: string[]; text: string | undefined } {
  const lines: string[] = [];
  const body = new JsonBody(limit, {
    line: (bytes) => lines.push(bytes.toString()),
    oversized: ({ size: length }) => lines.push(`too long: ${length}`),
  });
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += size) push(body, bytes.subarray(at, at + size));
  const rest = body.take();
  if (rest === undefined || Buffer.isBuffer(rest)) return { lines, text: rest?.toString() };
  return { lines, text: `too long: ${rest.size}` };
}

describe.each([1, 7, 50, 10_000])('a body of JSON in chunks of %i', (size) => {
  test.each([
    ['in one line', ANSWER],
    ['over several lines', JSON.stringify(JSON.parse(ANSWER), null, 2)],
    ['after empty lines', `\n \r\n${ANSWER}`],
    ['that is no message', 'no message\nat all\n'],
    ['of nothing', ''],
  ])('%s is one text', (_, text) => {
    expect(read(text, size)).toEqual({ lines: [], text: text.trimStart() });
  });

  test.each([
    ['each on its line', `${NOTE}\n${ANSWER}`],
    ['with an end like the others', `${NOTE}\n${ANSWER}\n`],
    ['as Windows writes them', `${NOTE}\r\n${ANSWER}\r\n`],
    ['with empty lines between', `\n${NOTE}\n\n${ANSWER}`],
  ])('of several messages, %s, is told line by line', (_, text) => {
    expect(read(text, size)).toMatchObject({ lines: [NOTE, ANSWER], text: undefined });
  });

  test('is bounded, as a whole and line by line', () => {
    const long = ANSWER.replace('grüße', 'x'.repeat(300));
    expect(read(long, size, 100)).toEqual({ lines: [], text: `too long: ${long.length}` });
    expect(read(`${long}\n${NOTE}`, size, 100).text).toMatch(/^too long/u);
    expect(read(`${NOTE}\n${long}\n${ANSWER}`, size, 100)).toEqual({
      lines: [NOTE, `too long: ${long.length}`, ANSWER],
      text: undefined,
    });
  });
});

test('a line is told as soon as it is there', () => {
  const lines: string[] = [];
  const body = new JsonBody(1000, { line: (bytes) => lines.push(String(bytes)), oversized() {} });
  push(body, Buffer.from(`${NOTE}\n{"json`));
  expect(lines).toEqual([NOTE]);
});

test('empty lines without end before a message do no harm', () => {
  const empty = '\n'.repeat(100_000);
  expect(read(`${empty}${ANSWER}`, 64 * 1024)).toEqual({ lines: [], text: ANSWER });
  expect(read(`${NOTE}\n${empty}${ANSWER}`, 64 * 1024)).toEqual({ lines: [NOTE, ANSWER], text: undefined });
});
