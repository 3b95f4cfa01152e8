import type { AuthInfo } from '@modelcontextprotocol/server';

/** The body of a request, or the reason why there is none. */
export type RequestBody =
  | { readonly kind: 'json'; readonly value: unknown }
  | { readonly kind: 'too-large' }
  | { readonly kind: 'not-json' }
  /** Something in front has read the stream and left nothing behind. */
  | { readonly kind: 'consumed' };

/** A stream of server-sent events to one client. Writing after its end does nothing. */
export interface EventSink {
  write(text: string): void;
  end(): void;
}

export type HeaderValues = Readonly<Record<string, string>>;

/** One HTTP request and the means to answer it, over Node's streams or over `fetch`. */
export interface HttpExchange {
  /** Method in upper case. */
  readonly method: string;
  readonly authInfo: AuthInfo | undefined;
  /** The request as handlers see it at `ctx.http.req`. */
  readonly request: Request;
  /** Returns a header by its name in lower case. */
  header(name: string): string | undefined;
  readBody(limit: number): Promise<RequestBody>;
  /** Calls back once if the client leaves before its answer is complete, or has left already. */
  onGone(listener: () => void): void;
  /** Sends a whole answer; a text is JSON. */
  answer(status: number, text?: string, headers?: HeaderValues): void;
  /** Answers with a stream of events. */
  stream(headers?: HeaderValues): EventSink;
  /** Sends an answer of the SDK; resolves when all of it is written. */
  relay(response: Response): Promise<void>;
}

/** Headers of every event stream; the last one keeps nginx from collecting it. */
export const EVENT_STREAM_HEADERS: HeaderValues = {
  'Content-Type': 'text/event-stream',
  'Cache-Control': 'no-cache, no-transform',
  'X-Accel-Buffering': 'no',
};

/** Bytes that wait for a client which does not read its stream; then the connection ends, and the client may resume. */
export const MOST_UNREAD: number = 16 * 1024 * 1024;

export const JSON_TYPE = 'application/json';

/** Parses a body; the mark that some editors put before UTF-8 is skipped, as decoders do. */
export function parseBody(text: string): RequestBody {
  try {
    return { kind: 'json', value: JSON.parse(text.startsWith('\uFEFF') ? text.slice(1) : text) as unknown };
  } catch {
    return { kind: 'not-json' };
  }
}
