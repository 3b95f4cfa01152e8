import type { Account } from '../../wire/account.ts';
import { LineReader } from '../../wire/lines.ts';
import { readMessage } from '../../wire/message.ts';
import type { Oversized } from '../../wire/oversized.ts';
import { SlicedInput, type ChunkReader } from '../../wire/sliced-input.ts';
import { Bounded } from './bounded.ts';
import type { HttpResponse } from './http-connection.ts';
import { SseParser, type SseHandlers } from './sse-parser.ts';

/** The media type of a response, in lower case and without its parameters. */
export function contentType(response: HttpResponse): string {
  return (response.headers.get('content-type') ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? '';
}

/** Limit of one message of a response, and the account of its server, which counts what is kept. */
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
  /** Gets an exception of ours in the work on a response. */
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

export interface JsonHandlers {
  /** One message of several, as soon as it is there. */
  line(bytes: Buffer): void;
  oversized(line: Oversized): void;
}

const NEWLINE = 0x0a;
const SPACE = 0x20;
const NOTHING: Buffer = Buffer.alloc(0);
const END_OF_LINE: Buffer = Buffer.from('\n');

/** A body of JSON: one text or, as some servers write under that name, a line for each message, which the first one tells. */
export class JsonBody implements ChunkReader {
  readonly #limit: number;
  readonly #handlers: JsonHandlers;
  readonly #whole: Bounded;
  #lines: LineReader | undefined;
  #isOneText = false;
  #rest: Buffer = NOTHING;

  constructor(limit: number, handlers: JsonHandlers) {
    this.#limit = limit;
    this.#handlers = handlers;
    this.#whole = new Bounded(limit);
  }

  begin(chunk: Buffer): void {
    this.#rest = chunk;
  }

  get kept(): number {
    return this.#whole.kept + (this.#lines?.kept ?? 0);
  }

  /** Reads one line. Returns false where the chunk holds no more whole ones, or the body is one text. */
  next(): boolean {
    if (this.#lines?.next() === true) return true;
    const rest = this.#rest;
    this.#rest = NOTHING;
    if (rest.length === 0) return false;
    if (this.#lines !== undefined) {
      this.#lines.begin(rest);
      return true;
    }
    const end = this.#isOneText ? -1 : rest.indexOf(NEWLINE);
    if (end < 0 || this.#whole.length + end > this.#limit) {
      this.#whole.add(rest);
      return false;
    }
    this.#whole.add(rest.subarray(0, end));
    this.#rest = rest.subarray(end + 1);
    this.#decide(this.#whole.take() as Buffer);
    return true;
  }

  /** The text, where it is one; undefined where there were lines, the last of which needs no newline. */
  take(): Buffer | Oversized | undefined {
    if (this.#lines === undefined) return this.#whole.take();
    this.#lines.end();
    return undefined;
  }

  #decide(first: Buffer): void {
    if (first.every((byte) => byte <= SPACE)) return;
    const line = Buffer.concat([first, END_OF_LINE]);
    this.#isOneText = readMessage(first).kind === 'invalid';
    if (this.#isOneText) return this.#whole.add(line);
    this.#lines = new LineReader(this.#limit, this.#handlers);
    this.#lines.push(line);
  }
}
