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

/** An exchange over `fetch`, and the answer it will get. */
export interface FetchExchange {
  readonly exchange: HttpExchange;
  readonly response: Promise<Response>;
}

export interface FetchExchangeOptions {
  readonly authInfo?: AuthInfo | undefined;
  /** Body that something in front has parsed. */
  readonly parsedBody?: unknown;
  readonly extraHeaders?: HeaderValues | undefined;
}

const CLIENT_CLOSED_REQUEST = 499;

/** Wraps a `Request`. */
export function fetchExchange(
  request: Request,
  { authInfo, parsedBody, extraHeaders = {} }: FetchExchangeOptions = {},
): FetchExchange {
  const { promise, resolve } = withResolvers<Response>();
  const gone: (() => void)[] = [];
  let isGone = request.signal.aborted;
  const leave = (): void => {
    isGone = true;
    for (const listener of gone.splice(0)) listener();
    // The caller waits for a response, though the client does not.
    resolve(new Response(null, { status: CLIENT_CLOSED_REQUEST }));
  };
  request.signal.addEventListener('abort', leave, { once: true });
  const exchange: HttpExchange = {
    method: request.method.toUpperCase(),
    authInfo,
    request,
    header: (name) => request.headers.get(name) ?? undefined,
    onGone: (listener) => (isGone ? listener() : void gone.push(listener)),
    async readBody(limit) {
      if (parsedBody !== undefined) return { kind: 'json', value: parsedBody };
      return request.bodyUsed ? { kind: 'consumed' } : readBody(request, limit);
    },
    answer(status, text, headers) {
      gone.length = 0;
      const init = { ...(text !== undefined && { 'Content-Type': JSON_TYPE }), ...extraHeaders, ...headers };
      resolve(new Response(text ?? null, { status, headers: init }));
    },
    stream(headers) {
      const { sink, body } = eventStream(leave, () => (gone.length = 0));
      resolve(new Response(body, { headers: { ...EVENT_STREAM_HEADERS, ...extraHeaders, ...headers } }));
      return sink;
    },
    async relay(response) {
      for (const [name, value] of Object.entries(extraHeaders)) response.headers.set(name, value);
      const { body, ended } = watched(response);
      resolve(body);
      await ended;
    },
  };
  return { exchange, response: promise };
}

async function readBody(request: Request, limit: number): Promise<RequestBody> {
  if (Number(request.headers.get('content-length')) > limit) return { kind: 'too-large' };
  const reader: ReadableStreamDefaultReader<Uint8Array> | undefined = request.body?.getReader();
  const pieces: Uint8Array[] = [];
  let size = 0;
  for (;;) {
    // A body that breaks off is as good as none.
    const chunk = await reader?.read().catch(() => END);
    if (chunk?.value === undefined) return decodeBody(pieces);
    size += chunk.value.byteLength;
    if (size > limit) {
      await reader?.cancel();
      return { kind: 'too-large' };
    }
    pieces.push(chunk.value);
  }
}

/** Decodes a body; wrong bytes are refused, because a decoder would make other text of them. */
function decodeBody(pieces: readonly Uint8Array[]): RequestBody {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  try {
    const text = pieces.map((piece) => decoder.decode(piece, { stream: true })).join('');
    return parseBody(text + decoder.decode());
  } catch {
    return { kind: 'not-json' };
  }
}

const END = { done: true, value: undefined } as const;

function eventStream(
  onCancel: () => void,
  onEnd: () => void,
): { sink: EventSink; body: ReadableStream<Uint8Array> } {
  const encoder = new TextEncoder();
  let controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  const start = (given: typeof controller): void => void (controller = given);
  const cancel = (): void => {
    controller = undefined;
    onCancel();
  };
  const waiting = { highWaterMark: MOST_UNREAD, size: ({ byteLength }: Uint8Array) => byteLength };
  const body = new ReadableStream<Uint8Array>({ start, cancel }, waiting);
  const sink: EventSink = {
    write(text) {
      if ((controller?.desiredSize ?? 0) >= 0) return controller?.enqueue(encoder.encode(text));
      controller?.error(new Error(`More than ${MOST_UNREAD} bytes of the stream were not read`));
      cancel();
    },
    end() {
      onEnd();
      controller?.close();
      controller = undefined;
    },
  };
  return { sink, body };
}

/** Tells when a response has been read to its end. */
function watched(response: Response): { body: Response; ended: Promise<void> } {
  const { body, status, headers } = response;
  if (body === null || !headers.get('content-type')?.startsWith('text/event-stream'))
    return { body: response, ended: Promise.resolve() };
  const { promise: ended, resolve } = withResolvers<void>();
  const reader: ReadableStreamDefaultReader<Uint8Array> = body.getReader();
  const stream = new ReadableStream<Uint8Array>({
    async pull(controller) {
      // A stream that breaks off has ended, too.
      const { done, value } = await reader.read().catch(() => END);
      if (!done) return controller.enqueue(value);
      controller.close();
      resolve();
    },
    async cancel(reason) {
      resolve();
      await reader.cancel(reason);
    },
  });
  return { body: new Response(stream, { status, headers }), ended };
}

/** `Promise.withResolvers`, which Node 20 does not have. */
function withResolvers<T>(): { promise: Promise<T>; resolve: (value: T) => void } {
  let resolve: (value: T) => void = () => undefined;
  const promise = new Promise<T>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}
