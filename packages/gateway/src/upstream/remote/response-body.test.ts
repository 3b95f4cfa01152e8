import { describe, expect, test } from 'vitest';
import type { ChunkReader } from '../../wire/sliced-input.ts';
import { JsonBody } from './response-body.ts';

function push(reader: ChunkReader, chunk: Buffer): void {
  reader.begin(chunk);
  while (reader.next());
}

const NOTE = '{"jsonrpc":"2.0","method":"notifications/progress","params":{"progress":1}}';
const ANSWER = '{"jsonrpc":"2.0","id":1,"result":{"text":"grüße"}}';

/** Reads a body in chunks of this size; returns its lines, or its text where it is one message. */
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

describe.each([1, 7, 50, 10_000])('a JSON body in chunks of %i bytes', (size) => {
  test.each([
    ['in one line', ANSWER],
    ['over several lines', JSON.stringify(JSON.parse(ANSWER), null, 2)],
    ['after empty lines', `\n \r\n${ANSWER}`],
    ['without a message', 'no message\nat all\n'],
    ['of no bytes', ''],
  ])('a JSON body %s is read as one text', (_, text) => {
    expect(read(text, size)).toEqual({ lines: [], text: text.trimStart() });
  });

  test.each([
    ['each on its line', `${NOTE}\n${ANSWER}`],
    ['with an end like the others', `${NOTE}\n${ANSWER}\n`],
    ['as Windows writes them', `${NOTE}\r\n${ANSWER}\r\n`],
    ['with empty lines between', `\n${NOTE}\n\n${ANSWER}`],
  ])('a JSON body of several messages, %s, is read line by line', (_, text) => {
    expect(read(text, size)).toMatchObject({ lines: [NOTE, ANSWER], text: undefined });
  });

  test('a JSON body over the limit is reported as oversized, whole or by line', () => {
    const long = ANSWER.replace('grüße', 'x'.repeat(300));
    expect(read(long, size, 100)).toEqual({ lines: [], text: `too long: ${long.length}` });
    expect(read(`${long}\n${NOTE}`, size, 100).text).toMatch(/^too long/u);
    expect(read(`${NOTE}\n${long}\n${ANSWER}`, size, 100)).toEqual({
      lines: [NOTE, `too long: ${long.length}`, ANSWER],
      text: undefined,
    });
  });
});

test('a JSON body passes on a line as soon as it is complete', () => {
  const lines: string[] = [];
  const body = new JsonBody(1000, { line: (bytes) => lines.push(String(bytes)), oversized() {} });
  push(body, Buffer.from(`${NOTE}\n{"json`));
  expect(lines).toEqual([NOTE]);
});

test('a JSON body may begin with 100,000 empty lines', () => {
  const empty = '\n'.repeat(100_000);
  expect(read(`${empty}${ANSWER}`, 64 * 1024)).toEqual({ lines: [], text: ANSWER });
  expect(read(`${NOTE}\n${empty}${ANSWER}`, 64 * 1024)).toEqual({ lines: [NOTE, ANSWER], text: undefined });
});
