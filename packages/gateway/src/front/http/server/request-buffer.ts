import { InvalidHttp } from '../../../wire/http/invalid-http.ts';
import type { IncomingRequest } from './incoming-request.ts';
import { readRequestHead, type RequestHead } from './request-head.ts';

const HEAD_END = '\r\n\r\n';
/** Bytes of a head. Bounds the number of headers, too. */
const LONGEST_HEAD = 16 * 1024;
const RETURN = 0x0d;
const NEWLINE = 0x0a;
const NOTHING: Buffer = Buffer.alloc(0);

/** A head that is over the limit. */
export class HeadTooLong extends Error {
  override readonly name = 'HeadTooLong';

  constructor() {
    super(`The headers are over the limit of ${LONGEST_HEAD} bytes. Send less.`);
  }
}

/** Bytes that a client has sent and that no request has taken yet. */
export class RequestBuffer {
  #bytes: Buffer = NOTHING;

  get length(): number {
    return this.#bytes.length;
  }

  add(chunk: Buffer): void {
    this.#bytes = this.#bytes.length === 0 ? chunk : Buffer.concat([this.#bytes, chunk]);
  }

  clear(): void {
    this.#bytes = NOTHING;
  }

  /** Takes the head of the next request; returns undefined where its end has not come. Throws an `InvalidHttp` or a `HeadTooLong`. */
  takeHead(): RequestHead | undefined {
    this.#skipEmptyLines();
    const end = this.#bytes.indexOf(HEAD_END);
    if ((end < 0 ? this.#bytes.length : end) > LONGEST_HEAD) throw new HeadTooLong();
    if (end < 0) {
      // Other protocols, such as TLS, wait for an answer to their first bytes.
      if (!isMethodStart(this.#bytes[0])) throw new InvalidHttp('it does not begin with a method');
      return undefined;
    }
    const head = readRequestHead(this.#bytes.toString('latin1', 0, end));
    this.#bytes = this.#bytes.subarray(end + HEAD_END.length);
    return head;
  }

  /** Gives a request what has come of its body. Returns the number of bytes; throws an `InvalidHttp`. */
  giveBody(request: IncomingRequest): number {
    const size = request.take(this.#bytes);
    this.#bytes = this.#bytes.subarray(size);
    return size;
  }

  /** Some old clients send empty lines before a request. */
  #skipEmptyLines(): void {
    let at = 0;
    while (this.#bytes[at] === RETURN || this.#bytes[at] === NEWLINE) at++;
    if (at > 0) this.#bytes = this.#bytes.subarray(at);
  }
}

/** Returns true for a capital letter, and where nothing has come. */
function isMethodStart(byte = 0x41): boolean {
  return byte >= 0x41 && byte <= 0x5a;
}
