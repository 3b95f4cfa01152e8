import { LineReader } from '../../wire/lines.ts';
import { readMessage } from '../../wire/message.ts';
import type { Oversized } from '../../wire/oversized.ts';
import type { ChunkReader } from '../../wire/sliced-input.ts';
import { Bounded } from './bounded.ts';

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
    this.#isOneText = readMessage(first).kind === 'unusable';
    if (this.#isOneText) return this.#whole.add(line);
    this.#lines = new LineReader(this.#limit, this.#handlers);
    this.#lines.push(line);
  }
}
