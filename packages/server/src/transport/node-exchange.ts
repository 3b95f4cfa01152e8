import { isUtf8 } from 'node:buffer';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AuthInfo } from '@modelcontextprotocol/server';
import {
  EVENT_STREAM_HEADERS,
  type EventSink,
  type HeaderValues,
  type HttpExchange,
  JSON_TYPE,
  MOST_UNREAD,
  parseBody,
  type RequestBody,
} from './exchange.ts';
import { lightRequest } from './light-request.ts';

/** A request of Node, with what frameworks add to it. */
export interface NodeRequest extends IncomingMessage {
  /** Set by a body parser such as `express.json()`. */
  readonly body?: unknown;
  /** Set by the middleware that checked a token. */
  readonly auth?: AuthInfo;
  /** Set by Express where a router is mounted at a path. */
  readonly originalUrl?: string;
}

export interface NodeExchangeOptions {
  readonly extraHeaders?: HeaderValues | undefined;
  /** Time after which a client that takes no byte of its answer is cut off. */
  readonly stallMs: number;
}

/** Wraps a request and a response of Node. */
export function nodeExchange(
  req: NodeRequest,
  res: ServerResponse,
  { extraHeaders = {}, stallMs }: NodeExchangeOptions,
): HttpExchange {
  let isGone = false;
  let abort: AbortController | undefined;
  let parsed: unknown;
  const listeners: (() => void)[] = [];
  res.on('close', () => {
    if (res.writableFinished || isGone) return;
    isGone = true;
    abort?.abort();
    for (const listener of listeners) listener();
  });
  const method = (req.method ?? 'GET').toUpperCase();
  const header = (name: string): string | undefined => {
    const value = req.headers[name];
    return Array.isArray(value) ? value.join(', ') : value;
  };
  const signal = (): AbortSignal => {
    abort ??= new AbortController();
    if (isGone) abort.abort();
    return abort.signal;
  };
  const url = (): string =>
    `${schemeOf(req)}://${header('host') ?? 'localhost'}${req.originalUrl ?? req.url ?? '/'}`;
  const request = lightRequest({ method, header, headers: req.headers, signal, url, body: () => parsed });
  return {
    method,
    authInfo: req.auth,
    request,
    header,
    onGone: (listener) => (isGone ? listener() : void listeners.push(listener)),
    async readBody(limit) {
      const body = await (req.readableDidRead ? bodyOf(req) : readBody(req, limit));
      if (body.kind === 'json') parsed = body.value;
      return body;
    },
    answer(status, text, headers) {
      if (res.headersSent || res.destroyed) return;
      const length = text === undefined ? 0 : Buffer.byteLength(text);
      res.writeHead(status, {
        ...(text !== undefined && { 'Content-Type': JSON_TYPE }),
        ...(status !== 204 && { 'Content-Length': length }),
        ...extraHeaders,
        ...headers,
      });
      endWith(res, text, stallMs);
    },
    stream(headers) {
      res.writeHead(200, { ...EVENT_STREAM_HEADERS, ...extraHeaders, ...headers });
      res.flushHeaders();
      return sinkTo(res, stallMs);
    },
    relay: (response) => relay(response, res, extraHeaders, stallMs),
  };
}

function schemeOf({ socket }: IncomingMessage): 'http' | 'https' {
  return 'encrypted' in socket ? 'https' : 'http';
}

/** Reads the body, as far as the limit; a length that is announced as larger is refused before it is sent. */
function readBody(req: IncomingMessage, limit: number): Promise<RequestBody> {
  if (Number(req.headers['content-length']) > limit) return Promise.resolve({ kind: 'too-large' });
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let size = 0;
    req.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size <= limit) chunks.push(chunk);
      else resolve({ kind: 'too-large' });
    });
    req.on('end', () => {
      const [first] = chunks;
      const whole = first !== undefined && chunks.length === 1 ? first : Buffer.concat(chunks);
      resolve(parseBytes(whole));
    });
    // The connection is gone, and with it the way to answer.
    req.on('error', () => resolve({ kind: 'not-json' }));
    req.on('close', () => resolve({ kind: 'not-json' }));
  });
}

/** Takes the body from what a parser in front has made of it. */
function bodyOf({ body }: NodeRequest): RequestBody {
  if (body === undefined) return { kind: 'consumed' };
  if (typeof body === 'string') return parseBody(body);
  return Buffer.isBuffer(body) ? parseBytes(body) : { kind: 'json', value: body };
}

/** Decodes a body; wrong bytes are refused, because a decoder would make other text of them. */
function parseBytes(bytes: Buffer): RequestBody {
  return isUtf8(bytes) ? parseBody(bytes.toString('utf8')) : { kind: 'not-json' };
}

/** Time for a burst of messages above `MOST_UNREAD` to be taken. */
const BURST_MS = 1000;

/** Ends an answer, within the limit for clients that do not read. */
function endWith(res: ServerResponse, text: string | undefined, stallMs: number): void {
  res.end(text);
  // An answer that fits into the buffers of the connection costs nothing here.
  if (res.writableLength > 0) limitStall(res, stallMs);
}

/** Cuts a client off that takes no byte for the time while some wait; Node's timer of the socket sees parts of a write. */
function limitStall(res: ServerResponse, stallMs: number): void {
  res.setTimeout(stallMs, () => {
    if (res.writableLength > 0) res.destroy();
  });
  // Before Node sets the time that it keeps an idle connection for.
  res.prependOnceListener('finish', () => res.setTimeout(0));
}

function sinkTo(res: ServerResponse, stallMs: number): EventSink & { write(piece: Uint8Array): void } {
  let isLimited = false;
  const limit = (): void => {
    if (isLimited) return;
    isLimited = true;
    limitStall(res, stallMs);
  };
  return {
    write(piece: string | Uint8Array) {
      if (res.writableEnded || res.destroyed) return;
      if (res.writableLength > MOST_UNREAD) res.destroy();
      else if (!res.write(piece)) limit();
    },
    end() {
      res.end();
      if (res.writableLength > 0 && !res.destroyed) limit();
    },
  };
}

async function relay(
  response: Response,
  res: ServerResponse,
  extraHeaders: HeaderValues,
  stallMs: number,
): Promise<void> {
  if (res.headersSent || res.destroyed) {
    await response.body?.cancel();
    return;
  }
  const type = response.headers.get('content-type') ?? '';
  const headers = { ...Object.fromEntries(response.headers), ...extraHeaders };
  if (response.body === null || type.startsWith(JSON_TYPE)) {
    const text = response.body === null ? '' : await response.text();
    // Node takes no answer with this status from us: the client has hung up.
    if (response.status === 499) return void res.destroy();
    res.writeHead(response.status, { ...headers, 'content-length': Buffer.byteLength(text) });
    return endWith(res, text, stallMs);
  }
  res.writeHead(response.status, headers);
  res.flushHeaders();
  await pump(response.body.getReader(), res, stallMs);
}

/** Writes a stream; what a client does not read waits here, where it is counted. */
async function pump(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  res: ServerResponse,
  stallMs: number,
): Promise<void> {
  const sink = sinkTo(res, stallMs);
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (!done && !res.destroyed && res.writableLength > MOST_UNREAD) await drainedSoon(res);
      if (done || res.destroyed) break;
      sink.write(value);
    }
  } finally {
    await reader.cancel().catch(() => undefined);
    sink.end();
  }
}

/** Gives a client that reads the time to take a burst of messages; one that does not is cut off. */
async function drainedSoon(res: ServerResponse): Promise<void> {
  const limit = setTimeout(() => res.destroy(), BURST_MS);
  await new Promise<void>((resolve) => {
    res.once('drain', resolve).once('close', resolve);
  });
  clearTimeout(limit);
}
