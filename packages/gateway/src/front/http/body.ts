import { quoted, RpcError, RpcErrorCode } from '../../errors.ts';
import { Holding } from '../../wire/account.ts';
import { largeBodies, type LargeBody } from './large-bodies.ts';
import type { HttpRefusal } from './respond.ts';
import type { BodyReader, IncomingRequest } from './server/incoming-request.ts';
import type { OutgoingResponse } from './server/outgoing-response.ts';

export interface RequestBodyHandlers {
  /** Does this work when it is the turn of a body of so many bytes; never where the client has left. */
  take(size: number, work: () => void): void;
  read(body: Buffer): void;
  refused(refusal: HttpRefusal): void;
}

/** Reads a whole body; one that is too large is refused as soon as that is known. */
export function readBody(res: OutgoingResponse, limit: number, on: RequestBodyHandlers): void {
  const { request } = res;
  const { length = limit } = request;
  if (length > limit) return on.refused(tooLarge(limit));
  request.read(new RequestBody(res, { length, limit, on }));
}

/** Bytes that the socket and the parser hold of a large body beside those that have been read. */
const BUFFERED: number = 128 * 1024;

class RequestBody implements BodyReader, LargeBody {
  readonly #res: OutgoingResponse;
  readonly #length: number;
  readonly #limit: number;
  readonly #on: RequestBodyHandlers;
  #chunks: Buffer[] = [];
  #size = 0;
  #isRefused = false;
  /** Undefined for a body of one chunk, as most are: it waits for nothing. */
  #kept: Holding | undefined;

  constructor(
    res: OutgoingResponse,
    { length, limit, on }: { length: number; limit: number; on: RequestBodyHandlers },
  ) {
    this.#res = res;
    this.#length = length;
    this.#limit = limit;
    this.#on = on;
  }

  get left(): number {
    return this.#length - this.#size;
  }

  data(chunk: Buffer): void {
    if (this.#isRefused) return;
    this.#size += chunk.length;
    if (this.#size > this.#limit) this.#refuse(tooLarge(this.#limit));
    else if (this.#chunks.push(chunk) > 1) this.#addToLarge(chunk);
  }

  end(): void {
    if (!this.#isRefused) this.#on.take(this.#size, () => this.#finish());
  }

  resume(): void {
    this.#res.request.resume();
  }

  refuse(): void {
    this.#refuse(tooMany());
    this.#res.request.resume();
  }

  #addToLarge(chunk: Buffer): void {
    const { request } = this.#res;
    if (this.#kept === undefined) {
      this.#kept = new Holding(request.connection.account);
      this.#res.onClose(() => largeBodies.delete(this));
    }
    this.#kept.bytes = this.#size + BUFFERED;
    if (!largeBodies.count(this, request.connection.turns.flow, chunk.length)) request.pause();
  }

  #refuse(refusal: HttpRefusal): void {
    this.#isRefused = true;
    this.#release();
    this.#on.refused(refusal);
  }

  #finish(): void {
    const bytes =
      this.#chunks.length === 1 ? (this.#chunks[0] as Buffer) : Buffer.concat(this.#chunks, this.#size);
    this.#release();
    this.#on.read(bytes);
  }

  /** The request lives as long as its response, which may never be read. */
  #release(): void {
    this.#chunks = [];
    if (this.#kept !== undefined) this.#kept.bytes = 0;
  }
}

/** Checks Content-Type and Accept of a POST. */
export function checkPost(req: IncomingRequest): HttpRefusal | undefined {
  const refusal = checkMessage(req);
  if (refusal !== undefined) return refusal;
  const accept = req.headers.get('accept');
  return accept === BOTH || (accepts(accept, JSON_TYPE) && accepts(accept, EVENTS_TYPE))
    ? undefined
    : notAcceptable(`${JSON_TYPE} and ${EVENTS_TYPE}`);
}

/** Checks Content-Type and Content-Encoding of a POST. */
export function checkMessage({ headers }: IncomingRequest): HttpRefusal | undefined {
  const type = headers.get('content-type');
  const encoding = headers.get('content-encoding');
  if (type !== JSON_TYPE && !isJson(type)) return wrongType(type);
  if (encoding !== undefined && encoding.trim().toLowerCase() !== 'identity') return encoded(encoding);
  return undefined;
}

/** Checks that a client accepts event streams. */
export function checkAcceptsEvents({ headers }: IncomingRequest): HttpRefusal | undefined {
  return accepts(headers.get('accept'), EVENTS_TYPE) ? undefined : notAcceptable(EVENTS_TYPE);
}

const JSON_TYPE = 'application/json';
const EVENTS_TYPE = 'text/event-stream';
/** As most clients write it. */
const BOTH = `${JSON_TYPE}, ${EVENTS_TYPE}`;

function isJson(type: string | undefined): boolean {
  return type !== undefined && type.split(';', 1)[0]?.trim().toLowerCase() === JSON_TYPE;
}

function accepts(accept: string | undefined, type: string): boolean {
  if (accept === undefined) return false;
  const anyOfKind = `${type.split('/', 1)[0] ?? ''}/*`;
  return accept
    .toLowerCase()
    .split(',')
    .map((part) => part.split(';', 1)[0]?.trim())
    .some((part) => part === type || part === anyOfKind || part === '*/*');
}

function tooLarge(limit: number): HttpRefusal {
  const text = `The body is over the limit of ${limit} bytes. Send less at once.`;
  return { status: 413, error: new RpcError(RpcErrorCode.INVALID_REQUEST, text) };
}

function tooMany(): HttpRefusal {
  const text = 'Too many large bodies are being sent at once. Send it again in a moment.';
  const error = new RpcError(RpcErrorCode.UNAVAILABLE, text);
  return { status: 503, error, headers: ['Retry-After', '2'] };
}

function wrongType(type: string | undefined): HttpRefusal {
  const text = `Content-Type is ${type === undefined ? 'missing' : `'${quoted(type)}'`}; send ${JSON_TYPE}.`;
  return { status: 415, error: new RpcError(RpcErrorCode.INVALID_REQUEST, text) };
}

function encoded(encoding: string): HttpRefusal {
  const text = `Content-Encoding '${quoted(encoding)}' is not supported. Send the body without it.`;
  const error = new RpcError(RpcErrorCode.INVALID_REQUEST, text);
  return { status: 415, error, headers: ['Accept-Encoding', 'identity'] };
}

function notAcceptable(types: string): HttpRefusal {
  const text = `The Accept header must name ${types}: answers come as one or the other.`;
  return { status: 406, error: new RpcError(RpcErrorCode.INVALID_REQUEST, text) };
}
