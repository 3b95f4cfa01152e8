import type { IncomingMessage } from 'node:http';
import type { Oversized } from '../../wire/oversized.ts';
import { SlicedInput, type ChunkReader } from '../../wire/sliced-input.ts';
import { Bounded } from './bounded.ts';
import { JsonBody, type JsonHandlers } from './json-body.ts';
import { SseParser, type SseHandlers } from './sse-parser.ts';

/** The media type of a response, in lower case and without its parameters. */
export function contentType({ headers }: IncomingMessage): string {
  return (headers['content-type'] ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? '';
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
export function readEvents(response: IncomingMessage, limit: number, handlers: StreamHandlers): SlicedInput {
  const parser = new SseParser(limit, handlers);
  const reader: ChunkReader = {
    begin: (chunk) => parser.begin(chunk),
    next: () => handlers.part?.() === true || parser.next(),
  };
  return new SlicedInput(response, reader, handlers);
}

export interface BodyHandlers extends JsonHandlers, Guarded {
  /** Undefined where it broke off, or its lines have told all. */
  done(body: Buffer | Oversized | undefined): void;
}

/** Reads a response of JSON. */
export function readJson(response: IncomingMessage, limit: number, handlers: BodyHandlers): SlicedInput {
  const body = new JsonBody(limit, handlers);
  return new SlicedInput(response, body, {
    ended: () => handlers.done(response.complete ? body.take() : undefined),
    failed: (error) => handlers.failed(error),
  });
}

/** Reads a response whole; undefined where it broke off. */
export function readBody(response: IncomingMessage, limit: number, handlers: WholeHandlers): SlicedInput {
  const body = new Bounded(limit);
  const reader: ChunkReader = {
    begin: (chunk) => body.add(chunk),
    next: () => false,
  };
  return new SlicedInput(response, reader, {
    ended: () => handlers.done(response.complete ? body.take() : undefined),
    failed: (error) => handlers.failed(error),
  });
}

type WholeHandlers = Pick<BodyHandlers, 'done' | 'failed'>;
