import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AuthInfo } from '@modelcontextprotocol/server';
import {
  EVENT_STREAM_HEADERS,
  type EventSink,
  type HeaderValues,
  type HttpExchange,
  JSON_TYPE,
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

/** Wraps a request and a response of Node. */
export function nodeExchange(
  req: NodeRequest,
  res: ServerResponse,
  extraHeaders: HeaderValues = {},
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
      res.end(text);
    },
    stream(headers) {
      res.writeHead(200, { ...EVENT_STREAM_HEADERS, ...extraHeaders, ...headers });
      res.flushHeaders();
      return sinkTo(res);
    },
    relay: (response) => relay(response, res, extraHeaders),
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
      resolve(parseBody(whole.toString('utf8')));
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
  return Buffer.isBuffer(body) ? parseBody(body.toString('utf8')) : { kind: 'json', value: body };
}

/** Bytes that wait for a client which does not read its stream; then the connection ends, and the client may resume. */
const MOST_UNREAD = 16 * 1024 * 1024;

function sinkTo(res: ServerResponse): EventSink {
  return {
    write(text) {
      if (res.writableEnded || res.destroyed) return;
      if (res.writableLength > MOST_UNREAD) res.destroy();
      else res.write(text);
    },
    end: () => void res.end(),
  };
}

async function relay(response: Response, res: ServerResponse, extraHeaders: HeaderValues): Promise<void> {
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
    res.end(text);
    return;
  }
  res.writeHead(response.status, headers);
  res.flushHeaders();
  await pump(response.body.getReader(), res);
}

/** Writes a stream no faster than the client reads it. */
async function pump(reader: ReadableStreamDefaultReader<Uint8Array>, res: ServerResponse): Promise<void> {
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done || res.destroyed) break;
      if (!res.write(value)) await drained(res);
    }
  } finally {
    await reader.cancel().catch(() => undefined);
    res.end();
  }
}

function drained(res: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      res.off('drain', done);
      res.off('close', done);
      resolve();
    };
    res.on('drain', done);
    res.on('close', done);
  });
}
