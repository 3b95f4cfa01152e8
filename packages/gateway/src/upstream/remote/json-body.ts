import { LineReader } from '../../wire/lines.ts';
import { readMessage } from '../../wire/message.ts';
import type { Oversized } from '../../wire/oversized.ts';
import { Bounded } from './bounded.ts';

export interface JsonHandlers {
  /** One message of several, as soon as it is there. */
  line(bytes: Buffer): void;
  oversized(line: Oversized): void;
}

const NEWLINE = 0x0a;
const SPACE = 0x20;
const END_OF_LINE: Buffer = Buffer.from('\n');

/** A body of JSON: one text or, as some servers write under that name, a line for each message, which the first one tells. */
export class JsonBody {
  readonly #limit: number;
  readonly #handlers: JsonHandlers;
  readonly #whole: Bounded;
  #lines: LineReader | undefined;
  #isOneText = false;

  constructor(limit: number, handlers: JsonHandlers) {
    this.#limit = limit;
    this.#handlers = handlers;
    this.#whole = new Bounded(limit);
  }

  push(chunk: Buffer): void {
    let rest = chunk;
    // A loop, however many empty lines a server sends so that nobody on the way gives up.
    while (this.#lines === undefined && !this.#isOneText) {
      const end = rest.indexOf(NEWLINE);
      if (end < 0 || this.#whole.length + end > this.#limit) break;
      this.#whole.add(rest.subarray(0, end));
      this.#decide(this.#whole.take() as Buffer);
      rest = rest.subarray(end + 1);
    }
    if (this.#lines === undefined) this.#whole.add(rest);
    else this.#lines.push(rest);
  }

  /** The text, where it is one; undefined where there were lines, the last of which needs no newline. */
  end(): Buffer | Oversized | undefined {
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
