import type { IncomingMessage } from 'node:http';
import type { Oversized } from '../../wire/oversized.ts';
import { Bounded } from './bounded.ts';
import { JsonBody, type JsonHandlers } from './json-body.ts';
import { SseParser, type SseHandlers } from './sse-parser.ts';

/** The media type of a response, in lower case and without its parameters. */
export function contentType({ headers }: IncomingMessage): string {
  return (headers['content-type'] ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? '';
}

export interface StreamHandlers extends SseHandlers {
  /** Nothing more comes. */
  ended(): void;
}

/** Reads a response as a stream of events. */
export function readEvents(response: IncomingMessage, limit: number, handlers: StreamHandlers): void {
  const parser = new SseParser(limit, handlers);
  response.on('data', (chunk: Buffer) => parser.push(chunk));
  onceOver(response, () => handlers.ended());
}

export interface BodyHandlers extends JsonHandlers {
  /** Undefined where it broke off, or its lines have told all. */
  done(body: Buffer | Oversized | undefined): void;
}

/** Reads a response of JSON. */
export function readJson(response: IncomingMessage, limit: number, handlers: BodyHandlers): void {
  const body = new JsonBody(limit, handlers);
  response.on('data', (chunk: Buffer) => body.push(chunk));
  onceOver(response, () => handlers.done(response.complete ? body.end() : undefined));
}

/** Reads a response whole; undefined where it broke off. */
export function readBody(
  response: IncomingMessage,
  limit: number,
  done: (body: Buffer | Oversized | undefined) => void,
): void {
  const body = new Bounded(limit);
  response.on('data', (chunk: Buffer) => body.add(chunk));
  onceOver(response, () => done(response.complete ? body.take() : undefined));
}

/** Ended as it should, or broken off. */
function onceOver(response: IncomingMessage, over: () => void): void {
  let isOver = false;
  const once = (): void => {
    if (!isOver) over();
    isOver = true;
  };
  response.once('end', once).once('close', once);
}
