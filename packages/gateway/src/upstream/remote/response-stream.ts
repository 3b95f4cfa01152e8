import type { Account } from '../../wire/account.ts';
import type { Oversized } from '../../wire/oversized.ts';
import { SlicedInput, type ChunkReader } from '../../wire/sliced-input.ts';
import { Bounded } from './bounded.ts';
import type { HttpResponse } from './http-response.ts';
import { JsonBody, type JsonHandlers } from './json-body.ts';
import { SseParser, type SseHandlers } from './sse-parser.ts';

/** The media type of a response, in lower case and without its parameters. */
export function contentType(response: HttpResponse): string {
  return (response.headers.get('content-type') ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? '';
}

/** What may be kept of a response: bytes of one message, counted in the account of its server. */
export interface ReadLimits {
  readonly limit: number;
  readonly account: Account;
}

export interface StreamHandlers extends SseHandlers, Guarded {
  /** Works off one part of what the last event held. Returns false where there is none. */
  part?(): boolean;
  /** Nothing more comes. */
  ended(): void;
}

interface Guarded {
  /** What came could not be worked off, through a mistake of ours. */
  failed(error: Error): void;
}

/** Reads a response as a stream of events. */
export function readEvents(
  input: HttpResponse,
  { limit, account }: ReadLimits,
  handlers: StreamHandlers,
): SlicedInput {
  const parser = new SseParser(limit, handlers);
  const reader: ChunkReader = {
    begin: (chunk) => parser.begin(chunk),
    next: () => handlers.part?.() === true || parser.next(),
    get kept() {
      return parser.kept;
    },
  };
  return new SlicedInput({ input, account }, reader, handlers);
}

export interface BodyHandlers extends JsonHandlers, Guarded {
  /** Undefined where it broke off, or its lines have told all. */
  done(body: Buffer | Oversized | undefined): void;
}

/** Reads a response of JSON. */
export function readJson(
  input: HttpResponse,
  { limit, account }: ReadLimits,
  handlers: BodyHandlers,
): SlicedInput {
  const body = new JsonBody(limit, handlers);
  return new SlicedInput({ input, account }, body, {
    ended: () => handlers.done(input.isComplete ? body.take() : undefined),
    failed: (error) => handlers.failed(error),
  });
}

/** Reads a response whole; undefined where it broke off. */
export function readBody(
  input: HttpResponse,
  { limit, account }: ReadLimits,
  handlers: WholeHandlers,
): SlicedInput {
  const body = new Bounded(limit);
  const reader: ChunkReader = {
    begin: (chunk) => body.add(chunk),
    next: () => false,
    get kept() {
      return body.kept;
    },
  };
  return new SlicedInput({ input, account }, reader, {
    ended: () => handlers.done(input.isComplete ? body.take() : undefined),
    failed: (error) => handlers.failed(error),
  });
}

type WholeHandlers = Pick<BodyHandlers, 'done' | 'failed'>;
