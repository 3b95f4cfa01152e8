import { lineSize, type Line } from '../../wire/json/splice.ts';
import type { HeaderList, OutgoingResponse } from './server/outgoing-response.ts';

/** Beats without an event after which a comment keeps proxies from closing the stream. */
const KEEP_ALIVE_BEATS = 15;

/** Delay before a client resumes a broken stream. */
const RETRY_MS = 1000;

const HEADERS: HeaderList = [
  'Content-Type',
  'text/event-stream',
  'Cache-Control',
  'no-cache, no-transform',
  // Tells proxies to pass events on as they come.
  'X-Accel-Buffering',
  'no',
];

/** An answer that comes in parts, as server-sent events. */
export class EventStream {
  readonly #res: OutgoingResponse;
  #largest = 0;
  #silence = 0;

  constructor(res: OutgoingResponse, headers: HeaderList = []) {
    this.#res = res;
    res.start(200, headers.length === 0 ? HEADERS : [...HEADERS, ...headers]);
  }

  /** Bytes that the client has not taken yet, but for the largest event. */
  get backlog(): number {
    return Math.max(0, this.#res.unread - this.#largest);
  }

  /** A message has no line break in it, so it is one line of data. */
  event(line: Line, id?: string): void {
    const head = id === undefined ? 'data: ' : `id: ${id}\ndata: `;
    this.#write(typeof line === 'string' ? `${head}${line}\n\n` : [head, ...line, '\n\n']);
  }

  /** Tells a client of 2024-11-05 where to post its messages. */
  endpoint(uri: string): void {
    this.#write(`event: endpoint\ndata: ${uri}\n\n`);
  }

  /** An event without data, so that a client which loses the stream knows where it was. */
  prime(id: string): void {
    this.#write(`id: ${id}\nretry: ${RETRY_MS}\ndata: \n\n`);
  }

  /** Says when to come back, once the stream has ended. */
  retry(milliseconds: number): void {
    this.#write(`retry: ${Math.ceil(milliseconds)}\n\n`);
  }

  /** Says nothing, and that the stream lives. */
  comment(): void {
    this.#write(':\n\n');
  }

  /** Called once a second. */
  beat(): void {
    if (++this.#silence >= KEEP_ALIVE_BEATS) this.comment();
  }

  end(): void {
    this.#res.end();
  }

  /** Servers are shared: they never wait for one client. */
  #write(parts: Line): void {
    if (this.#res.isOver) return;
    this.#silence = 0;
    const size = lineSize(parts);
    this.#largest = this.#res.unread === 0 ? size : Math.max(this.#largest, size);
    this.#res.write(parts);
  }
}
