import { isHeaderValue } from '../../../wire/http/head-lines.ts';
import { lineSize, type Line } from '../../../wire/json/splice.ts';
import type { ClientConnection } from './client-connection.ts';
import type { IncomingRequest } from './incoming-request.ts';

/** Names and values in turns. */
export type HeaderList = readonly string[];

/** The response to one request: sent whole, or started, written in parts and ended. */
export class OutgoingResponse {
  readonly request: IncomingRequest;
  readonly connection: ClientConnection;
  readonly #closed: (() => void)[] = [];
  #more: HeaderList = [];
  #isStarted = false;
  #isChunked = false;
  /** True once nothing more can be written: it is complete, or its client has left. */
  #isOver = false;

  constructor(request: IncomingRequest) {
    this.request = request;
    this.connection = request.connection;
  }

  get isStarted(): boolean {
    return this.#isStarted;
  }

  /** True once it is complete, or its client has left. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** Bytes that the client has not taken. */
  get unread(): number {
    return this.connection.unread;
  }

  /** Adds a header to those that the response will have. */
  addHeader(name: string, value: string): void {
    this.#more = [...this.#more, name, value];
  }

  /** Calls a function once the response is complete or its client has left. */
  onClose(closed: () => void): void {
    if (this.#isOver) closed();
    else this.#closed.push(closed);
  }

  /** Sends a whole response. */
  send(status: number, headers: HeaderList, body: Line = ''): void {
    if (this.#isOver) return;
    this.#isStarted = true;
    const head = this.#head(status, headers, `Content-Length: ${lineSize(body)}\r\n`);
    const isEmpty = this.request.method === 'HEAD' || body.length === 0;
    if (isEmpty) this.connection.write(head);
    else if (typeof body === 'string') this.connection.write(head + body);
    else this.connection.write([head, ...body]);
    this.#complete();
  }

  /** Sends the head of a response that comes in parts. */
  start(status: number, headers: HeaderList): void {
    if (this.#isOver) return;
    this.#isStarted = true;
    this.#isChunked = !this.request.head.isOld;
    // HTTP/1.0 has no chunks: there the end of the connection is the end of the body.
    if (!this.#isChunked) this.connection.endAfterResponse();
    this.connection.write(
      this.#head(status, headers, this.#isChunked ? 'Transfer-Encoding: chunked\r\n' : ''),
    );
  }

  write(parts: Line): void {
    const size = lineSize(parts);
    if (this.#isOver || size === 0) return;
    if (!this.#isChunked) this.connection.write(parts);
    else if (typeof parts === 'string') this.connection.write(`${size.toString(16)}\r\n${parts}\r\n`);
    else this.connection.write([`${size.toString(16)}\r\n`, ...parts, '\r\n']);
  }

  end(): void {
    if (this.#isOver) return;
    if (this.#isChunked) this.connection.write('0\r\n\r\n');
    this.#complete();
  }

  /** Closes the connection under the client, because the response cannot be completed. */
  destroy(): void {
    this.connection.destroy();
  }

  /** Tells that the client has left. */
  lost(): void {
    if (!this.#isOver) this.#close();
  }

  #complete(): void {
    this.#close();
    this.connection.responded();
  }

  #close(): void {
    this.#isOver = true;
    // Releases what they hold, such as the answer, while the client still reads it from the kernel.
    for (const closed of this.#closed.splice(0)) closed();
  }

  #head(status: number, headers: HeaderList, framing: string): string {
    const own = this.connection.endsWithResponse() ? 'Connection: close\r\n' : KEEP_ALIVE;
    return `HTTP/1.1 ${status} ${REASONS[status] ?? ''}\r\n${linesOf(headers)}${linesOf(this.#more)}${framing}${dateLine()}${own}\r\n`;
  }
}

/** Seconds that clients are told an unused connection stays open; a little more than what load balancers allow. */
export const KEEP_ALIVE_SECONDS = 65;
const KEEP_ALIVE = `Connection: keep-alive\r\nKeep-Alive: timeout=${KEEP_ALIVE_SECONDS}\r\n`;

const REASONS: Readonly<Record<number, string>> = {
  200: 'OK',
  202: 'Accepted',
  400: 'Bad Request',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'Not Found',
  405: 'Method Not Allowed',
  406: 'Not Acceptable',
  408: 'Request Timeout',
  413: 'Content Too Large',
  415: 'Unsupported Media Type',
  431: 'Request Header Fields Too Large',
  503: 'Service Unavailable',
  508: 'Loop Detected',
};

function linesOf(headers: HeaderList): string {
  let lines = '';
  for (let at = 0; at < headers.length; at += 2) {
    const value = headers[at + 1] ?? '';
    if (!isHeaderValue(value))
      throw new Error(`The header ${headers[at]} cannot have the value ${JSON.stringify(value)}`);
    lines += `${headers[at]}: ${value}\r\n`;
  }
  return lines;
}

let date = '';
let dateUntil = 0;

/** Returns the Date header, which is written anew once a second. */
function dateLine(): string {
  const time = Date.now();
  if (time >= dateUntil) {
    date = `Date: ${new Date(time).toUTCString()}\r\n`;
    dateUntil = time - (time % 1000) + 1000;
  }
  return date;
}
