import { once } from 'node:events';
import { createServer } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { InvalidHttp } from '../../../wire/http/invalid-http.ts';
import type { ClientConnection } from './client-connection.ts';
import { IncomingRequest } from './incoming-request.ts';
import { readRequestHead } from './request-head.ts';

interface Outcome {
  readonly method: string;
  readonly url: string;
  readonly kind: string | undefined;
  readonly body: string;
}

const nodeServer = createServer((req, res) => {
  let body = '';
  req.setEncoding('latin1').on('data', (part: string) => (body += part));
  req.on('end', () => {
    const { method, url, headers } = req;
    res.end(JSON.stringify({ method, url, kind: headers['x-kind'], body }));
  });
});

beforeAll(async () => {
  nodeServer.listen(0, '127.0.0.1');
  await once(nodeServer, 'listening');
});
afterAll(() => {
  nodeServer.closeAllConnections();
  nodeServer.close();
});

/** Reads a request. Returns what it is and its size, or why there is none. */
function readByUs(text: string): (Outcome & { size: number }) | 'invalid' | 'incomplete' {
  const end = text.indexOf('\r\n\r\n');
  if (end < 0) return 'incomplete';
  try {
    const head = readRequestHead(text.slice(0, end));
    const request = new IncomingRequest(head, { readBody() {} } as unknown as ClientConnection);
    let body = '';
    request.read({ data: (part) => (body += part.toString('latin1')), end() {} });
    let size = end + 4;
    while (size < text.length && !request.isComplete)
      size += request.take(Buffer.from(text.charAt(size), 'latin1'));
    const { method, url, headers } = request;
    return request.isComplete ? { method, url, kind: headers.get('x-kind'), body, size } : 'incomplete';
  } catch (error) {
    expect(error).toBeInstanceOf(InvalidHttp);
    return 'invalid';
  }
}

/** The same by Node's own server; undefined where it answers anything but 200, or waits for more. */
async function readByNode(text: string): Promise<Outcome | undefined> {
  const socket = connect((nodeServer.address() as AddressInfo).port, '127.0.0.1');
  let answer = '';
  socket.setTimeout(1000, () => socket.destroy());
  socket.on('error', () => {}).write(text, 'latin1');
  socket.setEncoding('utf8').on('data', (chunk: string) => {
    answer += chunk;
    if (answer.endsWith('}')) socket.destroy();
  });
  await once(socket, 'close');
  const json = /\{[^]*\}/u.exec(answer)?.[0];
  return answer.startsWith('HTTP/1.1 200 ') && json !== undefined ? (JSON.parse(json) as Outcome) : undefined;
}

const LINES = [
  'x-kind: application/json',
  'X-Kind:text/plain ; x="y" ',
  'content-length: 5',
  'content-length: 0',
  'Content-Length: 05',
  'transfer-encoding: chunked',
  'connection: close',
  'x-empty:',
  'x-long: a b\tc',
];
const FIRST = ['POST /mcp', 'GET /mcp?a=b%20c', 'PUT *', 'DELETE /', 'OPTIONS http://x/y', 'PATCH /a/../b'];
const BODIES = ['', 'hello', '5\r\nhello\r\n0\r\n\r\n', '2\r\nhi\r\n3;a=b\r\nyou\r\n0\r\nx: y\r\n\r\n'];

const request = fc
  .record({
    first: fc.constantFrom(...FIRST),
    version: fc.constantFrom('1.1', '1.1', '1.0'),
    hosts: fc.constantFrom('host: x\r\n', 'host: x\r\n', 'Host: x\r\n', ''),
    lines: fc.subarray(LINES, { maxLength: 4 }),
    body: fc.constantFrom(...BODIES),
  })
  .map(({ first, version, hosts, lines, body }) => {
    const head = lines.map((line) => `${line}\r\n`).join('');
    return `${first} HTTP/${version}\r\n${hosts}${head}\r\n${body}`;
  });

/** Replaces a character, or none. */
const change = fc.option(
  fc.record({
    at: fc.nat(200),
    by: fc.constantFrom('\r', '\n', '\0', ' ', ':', ';', ',', '0', '9', 'x', '\r\n', '\x7f', '\xa0', ''),
  }),
);

/** Node takes chunks from clients of HTTP/1.0, which has none: a proxy may see the end of the body elsewhere. */
function isStricter(text: string): boolean {
  return text.includes(' HTTP/1.0') && text.includes('chunked');
}

test('the front accepts only requests that Node accepts, with the same content', async () => {
  await fc.assert(
    fc.asyncProperty(request, change, async (text, changed) => {
      const at = changed === null ? 0 : changed.at % text.length;
      const sent = changed === null ? text : text.slice(0, at) + changed.by + text.slice(at + 1);
      const ours = readByUs(sent);
      if (ours === 'incomplete') return;
      if (ours === 'invalid') {
        if (changed === null && !isStricter(sent))
          expect([sent, await readByNode(sent)]).toEqual([sent, undefined]);
        return;
      }
      const { size, ...seen } = ours;
      expect([sent, seen]).toEqual([sent, await readByNode(sent.slice(0, size))]);
    }),
    { numRuns: 2000 },
  );
});
