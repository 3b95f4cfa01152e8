import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { InvalidHttp } from '../../wire/http/invalid-http.ts';
import { ResponseParser } from './response-parser.ts';

interface Read {
  status: number;
  headers: Record<string, string>;
  body: string;
  /** Calls with parts of the body. */
  parts: number;
  isOver: boolean;
  mayReuse: boolean;
}

/** Reads a response that comes in these pieces. */
function read(...pieces: string[]): Read {
  const found = { status: 0, headers: {}, body: '', parts: 0 };
  const parser = new ResponseParser({
    started: ({ status, headers }) => Object.assign(found, { status, headers: Object.fromEntries(headers) }),
    data: (part) => {
      found.body += part.toString('latin1');
      found.parts++;
    },
  });
  for (const piece of pieces) parser.read(Buffer.from(piece, 'latin1'));
  return { ...found, isOver: parser.isOver, mayReuse: parser.mayReuse };
}

const OK = 'HTTP/1.1 200 OK\r\n';
const LONG = 'x'.repeat(16 * 1024 + 1);
const CHUNKED = `${OK}Transfer-Encoding: chunked\r\n\r\n`;

describe('a response', () => {
  test('a response with a content length ends after that many bytes', () => {
    expect(read(`${OK}Content-Type: text/plain\r\ncontent-length:  5 \r\n\r\nhello`)).toEqual({
      status: 200,
      headers: { 'content-type': 'text/plain', 'content-length': '5' },
      body: 'hello',
      parts: 1,
      isOver: true,
      mayReuse: true,
    });
    expect(read(`${OK}Content-Length: 5\r\n\r\nhell`)).toMatchObject({ isOver: false });
    expect(read(`${OK}Content-Length: 0\r\n\r\n`)).toMatchObject({ isOver: true, parts: 0 });
  });

  test('a chunked response ends with the empty chunk, without extensions and trailers', () => {
    expect(read(`${CHUNKED}5;a=b\r\nhello\r\n1\r\n!\r\n0\r\nX-Sum: 1\r\nY: 2\r\n\r\n`)).toMatchObject({
      body: 'hello!',
      parts: 1,
      isOver: true,
      mayReuse: true,
    });
    expect(read(`${CHUNKED}5\r\nhello\r\n0\r\n\r`)).toMatchObject({ isOver: false });
  });

  test('the response parser joins the small chunks of one read into one part', () => {
    const body = 'x'.repeat(10_000);
    expect(read(CHUNKED, body.replaceAll('x', '1\r\nx\r\n'))).toMatchObject({ body, parts: 1 });
  });

  test('a response may have 20,000 chunks', () => {
    const body = 'x'.repeat(20_000);
    expect(read(CHUNKED, body.replaceAll('x', '1;a=b\r\nx\r\n'))).toMatchObject({ body });
  });

  test.each([204, 304])('a response with the status %i has no body', (status) => {
    expect(read(`HTTP/1.1 ${status}\r\ncontent-length: 5\r\n\r\n`)).toMatchObject({ isOver: true, status });
  });

  test('a response without a length ends with its connection', () => {
    const seen: string[] = [];
    const parser = new ResponseParser({ started: () => {}, data: (part) => seen.push(String(part)) });
    parser.read(Buffer.from(`${OK}\r\nhel`));
    parser.read(Buffer.from('lo'));
    expect([parser.isOver, parser.mayReuse]).toEqual([false, false]);
    parser.end();
    expect([parser.isOver, seen]).toEqual([true, ['hel', 'lo']]);
  });

  test('a response that breaks off is reported as incomplete', () => {
    for (const text of ['HTTP/1.1 2', `${OK}content-length: 5\r\n\r\nhell`, `${CHUNKED}5\r\nhello\r\n`]) {
      const parser = new ResponseParser({ started: () => {}, data: () => {} });
      parser.read(Buffer.from(text));
      parser.end();
      expect(parser.isOver).toBe(false);
    }
  });

  test('the response parser skips informational responses before the final one', () => {
    const early = 'HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n';
    expect(read(`HTTP/1.1 100 Continue\r\n\r\n${early}${OK}content-length: 1\r\n\r\n!`)).toMatchObject({
      status: 200,
      headers: { 'content-length': '1' },
      body: '!',
      isOver: true,
    });
  });

  test('the response parser accepts at most 32 informational responses', () => {
    const early = 'HTTP/1.1 102 Processing\r\n\r\n';
    expect(read(`${early.repeat(32)}${OK}content-length: 0\r\n\r\n`)).toMatchObject({ isOver: true });
    expect(() => read(early.repeat(33))).toThrow(InvalidHttp);
  });

  test('mayReuse tells whether the connection of a response can be used again', () => {
    const after = (head: string, rest = ''): boolean =>
      read(`${head}content-length: 0\r\n\r\n${rest}`).mayReuse;
    expect(after(OK)).toBe(true);
    expect(after(`${OK}Connection: Close\r\n`)).toBe(false);
    expect(after(`${OK}connection: x\r\nconnection: close\r\n`)).toBe(false);
    expect(after('HTTP/1.0 200 OK\r\n')).toBe(false);
    expect(after('HTTP/1.0 200 OK\r\nconnection: keep-alive\r\n')).toBe(true);
    expect(after(OK, 'HTTP/1.1 200 OK\r\n')).toBe(false);
  });

  test('the response parser joins headers of one name, and keeps the first location', () => {
    const { headers } = read(`${OK}A: 1\r\na:2\r\nLocation: /x\r\nlocation: /y\r\ncontent-length: 0\r\n\r\n`);
    expect(headers).toEqual({ a: '1, 2', location: '/x', 'content-length': '0' });
  });
});

test.each([
  ['an invalid status line', '220 mail'],
  ['another version', 'HTTP/2 200\r\n\r\n'],
  ['a status of two digits', 'HTTP/1.1 20\r\n\r\n'],
  ['a status of four digits', 'HTTP/1.1 2000\r\n\r\n'],
  ['a status of letters', 'HTTP/1.1 abc OK\r\n\r\n'],
  ['a header without a colon', `${OK}no colon\r\n\r\n`],
  ['a header without a name', `${OK}: x\r\n\r\n`],
  ['a blank before the colon', `${OK}a : x\r\n\r\n`],
  ['a header of two lines', `${OK}a: x\r\n y\r\n\r\n`],
  ['a forged line', `${OK}a: x\ny: z\r\n\r\n`],
  ['a lone return', `${OK}a: x\ry\r\n\r\n`],
  ['a NUL', `${OK}a: \0\r\n\r\n`],
  ['two lengths', `${OK}content-length: 1\r\ncontent-length: 2\r\n\r\n`],
  ['a negative length', `${OK}content-length: -1\r\n\r\n`],
  ['a length and chunks', `${OK}content-length: 9\r\ntransfer-encoding: chunked\r\n\r\n`],
  ['a version of one letter', 'HTTP/1.x 200\r\n\r\n'],
  ['a length that is not a number', `${OK}content-length: 1e3\r\n\r\n`],
  ['another encoding', `${OK}transfer-encoding: gzip, chunked\r\n\r\n`],
  ['another protocol', 'HTTP/1.1 101 Switching Protocols\r\n\r\n'],
  ['a chunk without a size', `${CHUNKED}\r\n`],
  ['a size that is not a number', `${CHUNKED}x\r\n`],
  ['a size of nine digits', `${CHUNKED}123456789\r\n`],
  ['a size without a return', `${CHUNKED}1\n`],
  ['a chunk longer than its size', `${CHUNKED}1\r\nab`],
  ['a chunk without an end', `${CHUNKED}1\r\na\rb`],
  ['an end without a newline', `${CHUNKED}0\r\n\rx`],
  ['an endless header', `${OK}a: ${LONG}`],
  ['a long header', `${OK}a: ${LONG}\r\n\r\n`],
  ['an endless extension', `${CHUNKED}1;${LONG}`],
  ['endless trailers', `${CHUNKED}0\r\n${'a: b\r\n'.repeat(3000)}`],
])('the response parser refuses a response with %s', (_, text) => {
  expect(() => read(text)).toThrow(InvalidHttp);
  expect(() => read(...text.split(''))).toThrow(InvalidHttp);
});

test('the response parser reads a response alike in chunks of any size', () => {
  const chunk = fc.string({ minLength: 1, maxLength: 40, unit: 'binary-ascii' });
  const cuts = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 12 });
  fc.assert(
    fc.property(fc.array(chunk, { maxLength: 8 }), fc.boolean(), cuts, (chunks, isChunked, places) => {
      const body = chunks.join('');
      const sized = chunks.map((part) => `${part.length.toString(16)}\r\n${part}\r\n`);
      const text = isChunked
        ? `${CHUNKED}${sized.join('')}0\r\n\r\n`
        : `${OK}content-length: ${body.length}\r\n\r\n${body}`;
      const ends = [...places.map((place) => Math.floor(place * text.length)), text.length].sort(
        (a, b) => a - b,
      );
      const pieces = ends
        .map((end, index) => text.slice(ends[index - 1] ?? 0, end))
        .filter((piece) => piece !== '');
      expect(read(...pieces)).toMatchObject({ status: 200, body, isOver: true, mayReuse: true });
    }),
    { numRuns: 500 },
  );
});
