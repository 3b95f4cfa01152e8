import { ChunkedBody } from '../../wire/http/chunked-body.ts';
import { endOfLine, readHeaders, type HttpHeaders } from '../../wire/http/head-lines.ts';
import { InvalidHttp } from '../../wire/http/invalid-http.ts';

export interface ParserHandlers {
  started(head: ResponseHead): void;
  /** Takes all of the body that one read has brought. */
  data(part: Buffer): void;
}

const HEAD_END = '\r\n\r\n';
/** The limit that Node's own client has. */
const LONGEST_HEAD = 16 * 1024;
const NOTHING: Buffer = Buffer.alloc(0);
const SWITCHING_PROTOCOLS = 101;
/** Heads before that of the answer, in which a server says that it is at work: nothing else bounds the work on them. */
const MOST_EARLY = 32;
const DIGITS = /^\d{1,15}$/u;

/** Reads one response of HTTP/1.1. Throws an `InvalidHttp` where it breaks the rules. */
export class ResponseParser {
  readonly #handlers: ParserHandlers;
  /** The beginning of a head whose end has not come; undefined once it has. */
  #head: Buffer | undefined = NOTHING;
  #chunks: ChunkedBody | undefined;
  /** Bytes of the body that have not come; Infinity where the end of the connection is the end of the body. */
  #left = 0;
  #early = 0;
  #isOver = false;
  #mayReuse = true;

  constructor(handlers: ParserHandlers) {
    this.#handlers = handlers;
  }

  /** True once the whole response has come. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** True where the connection may have another request after this response. */
  get mayReuse(): boolean {
    return this.#mayReuse;
  }

  read(chunk: Buffer): void {
    if (this.#head === undefined) return this.#readBody(chunk, 0);
    const bytes = this.#head.length === 0 ? chunk : Buffer.concat([this.#head, chunk]);
    let at = 0;
    // A server may say that it is at work before it answers: heads without a body.
    while (this.#head !== undefined) {
      const end = bytes.indexOf(HEAD_END, at);
      if ((end < 0 ? bytes.length : end) - at > LONGEST_HEAD)
        throw new InvalidHttp('its headers are too long');
      if (end < 0) {
        this.#head = bytes.subarray(at);
        // Other protocols wait for an answer to their first line.
        return refuseOthers(this.#head);
      }
      this.#begin(readHead(bytes.toString('latin1', at, end)));
      at = end + HEAD_END.length;
    }
    this.#readBody(bytes, at);
  }

  /** Takes the end of the connection for the end of the body, where nothing else is. */
  end(): void {
    if (this.#left === Infinity) this.#isOver = true;
  }

  #begin(head: ResponseHead): void {
    if (head.status === SWITCHING_PROTOCOLS) throw new InvalidHttp('it switches to another protocol');
    if (head.status < 200 && head.isOld)
      throw new InvalidHttp('its status is below 200, which HTTP/1.0 does not have');
    if (head.status < 200) {
      if (++this.#early > MOST_EARLY) throw new InvalidHttp('too many interim responses precede it');
      return;
    }
    this.#head = undefined;
    this.#frame(head);
    this.#handlers.started(head);
  }

  /** Finds out where the body ends (RFC 9112, 6.3). */
  #frame({ status, headers, isOld }: ResponseHead): void {
    const connection = headers.get('connection')?.toLowerCase() ?? '';
    const coding = headers.get('transfer-encoding');
    const length = headers.get('content-length');
    this.#mayReuse = isOld ? connection === 'keep-alive' : !connection.includes('close');
    if (coding !== undefined && length !== undefined)
      throw new InvalidHttp('it has both a length and chunks');
    if (coding !== undefined && coding.toLowerCase() !== 'chunked')
      throw new InvalidHttp('its transfer encoding is not chunked');
    if (length !== undefined && !DIGITS.test(length)) throw new InvalidHttp('its length is not a number');
    if (status === 204 || status === 304) return;
    if (coding !== undefined) this.#chunks = new ChunkedBody();
    else this.#left = length === undefined ? Infinity : Number(length);
    if (this.#left === Infinity) this.#mayReuse = false;
  }

  #readBody(bytes: Buffer, at: number): void {
    let end = at;
    if (this.#chunks !== undefined) {
      const read = this.#chunks.read(bytes, at);
      end = read.end;
      if (read.data.length > 0) this.#handlers.data(read.data);
      this.#isOver = this.#chunks.isOver;
    } else {
      end = Math.min(at + this.#left, bytes.length);
      this.#left -= end - at;
      if (end > at) this.#handlers.data(at === 0 && end === bytes.length ? bytes : bytes.subarray(at, end));
      this.#isOver = this.#left === 0;
    }
    // Nothing was asked that these bytes could answer.
    if (end < bytes.length) this.#mayReuse = false;
  }
}

function refuseOthers(head: Buffer): void {
  const length = Math.min(head.length, PROTOCOL.length);
  if (head.toString('latin1', 0, length) !== PROTOCOL.slice(0, length)) throw new InvalidHttp(NO_STATUS);
}

/** The status line and the headers of a response. */
export interface ResponseHead {
  readonly status: number;
  /** By names in lower case. */
  readonly headers: HttpHeaders;
  /** True where the server speaks HTTP/1.0, in which a connection ends with its response. */
  readonly isOld: boolean;
}

/** Headers of which only the first counts; others of one name are a list. */
const SINGLE: ReadonlySet<string> = new Set(['content-type', 'content-length', 'location']);

/** The first bytes of every response. */
const PROTOCOL = 'HTTP/1.';
/** Index behind `HTTP/1.1 200`. */
const STATUS_END = 12;
const NO_STATUS = 'it does not begin with a status line';

/** Reads the head of a response, without the empty line behind it. */
function readHead(text: string): ResponseHead {
  const status = Number(text.slice(9, STATUS_END));
  const isOld = text.startsWith('0 ', PROTOCOL.length);
  const isStatusLine =
    text.startsWith(PROTOCOL) &&
    (isOld || text.startsWith('1 ', PROTOCOL.length)) &&
    status >= 100 &&
    (text.length === STATUS_END || ' \r'.includes(text.charAt(STATUS_END)));
  if (!isStatusLine) throw new InvalidHttp(NO_STATUS);
  return { status, headers: readHeaders(text, endOfLine(text, STATUS_END) + 2, repeat), isOld };
}

/** Joins the values of a header that comes twice, but for those of which only the first counts. */
function repeat(name: string, first: string, next: string): string {
  if (!SINGLE.has(name)) return `${first}, ${next}`;
  if (name === 'content-length') throw new InvalidHttp('it has two lengths');
  return first;
}
