import { once } from 'node:events';
import { request } from 'node:http';
import { createServer, type AddressInfo } from 'node:net';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { InvalidHttp } from '../../wire/http/invalid-http.ts';
import { ResponseParser } from './response-parser.ts';

interface Outcome {
  readonly status: number;
  readonly body: string;
  readonly type: string | undefined;
}

let bytes = '';
const server = createServer((socket) =>
  socket.on('error', () => {}).once('data', () => socket.end(bytes, 'latin1')),
);

beforeAll(async () => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
});
afterAll(() => server.close());

/** Reads the bytes one by one as a response; undefined unless it is valid and complete. `size` is its end. */
function readByUs(text: string): (Outcome & { size: number }) | undefined {
  let size = 0;
  const found = { status: 0, body: '', type: undefined as string | undefined };
  const parser = new ResponseParser({
    started: ({ status, headers }) => Object.assign(found, { status, type: headers.get('content-type') }),
    data: (part) => (found.body += part.toString('latin1')),
  });
  try {
    while (size < text.length && !parser.isOver) parser.read(Buffer.from(text.charAt(size++), 'latin1'));
    parser.end();
  } catch (error) {
    expect(error).toBeInstanceOf(InvalidHttp);
    return undefined;
  }
  return parser.isOver ? { ...found, size } : undefined;
}

/** The same by Node's own client. */
function readByNode(text: string): Promise<Outcome | undefined> {
  bytes = text;
  return new Promise((resolve) => {
    const sent = request({ port: (server.address() as AddressInfo).port, agent: false });
    sent.on('error', () => resolve(undefined)).on('upgrade', () => resolve(undefined));
    sent.once('response', (response) => {
      let body = '';
      response.setEncoding('latin1').on('data', (part: string) => (body += part));
      response.on('error', () => resolve(undefined));
      response.once('end', () =>
        resolve({ status: response.statusCode ?? 0, body, type: response.headers['content-type'] }),
      );
    });
    sent.end();
  });
}

const LINES = [
  'content-type: text/plain',
  'Content-Type:application/json; charset=utf-8',
  'content-length: 5',
  'content-length: 0',
  'Content-Length: 05',
  'transfer-encoding: chunked',
  'connection: close',
  'connection: keep-alive',
  'x-empty:',
  'x-long: a b\tc',
];
const BODIES = [
  '',
  'hello',
  'hello, and more',
  '5\r\nhello\r\n0\r\n\r\n',
  '2\r\nhi\r\n3\r\nyou\r\n0\r\n\r\n',
];
const STATUS = ['200 OK', '204 No Content', '304', '404 Not Found', '500 '];

const response = fc
  .record({
    version: fc.constantFrom('1.1', '1.1', '1.0'),
    status: fc.constantFrom(...STATUS),
    lines: fc.subarray(LINES, { maxLength: 4 }),
    body: fc.constantFrom(...BODIES),
    isEarly: fc.boolean(),
  })
  .map(({ version, status, lines, body, isEarly }) => {
    const head = [`HTTP/${version} ${status}`, ...lines].join('\r\n');
    return `${isEarly ? 'HTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\n' : ''}${head}\r\n\r\n${body}`;
  });

/** Replaces a character, or none. */
const change = fc.option(
  fc.record({
    at: fc.nat(200),
    by: fc.constantFrom('\r', '\n', '\0', ' ', ':', ';', '0', '9', 'x', '\r\n', ''),
  }),
);

test('the response parser accepts only responses that Node accepts, with the same content', async () => {
  await fc.assert(
    fc.asyncProperty(response, change, async (text, changed) => {
      const at = changed === null ? 0 : changed.at % text.length;
      const sent = changed === null ? text : text.slice(0, at) + changed.by + text.slice(at + 1);
      const ours = readByUs(sent);
      // Node refuses a response with bytes after it; the response parser only gives up the connection.
      const theirs = await readByNode(sent.slice(0, ours?.size));
      if (ours !== undefined) expect(ours).toMatchObject({ ...theirs, size: expect.any(Number) as number });
      if (ours !== undefined || changed === null)
        expect([sent, theirs === undefined]).toEqual([sent, ours === undefined]);
    }),
    { numRuns: 2000 },
  );
});
