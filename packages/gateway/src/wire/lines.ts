import { OversizedLine, type Oversized } from './oversized.ts';

const NEWLINE = 0x0a;

export interface LineHandlers {
  line(bytes: Buffer): void;
  oversized(line: Oversized): void;
}

/** Cuts a stream of chunks into lines. Each byte is searched once and copied at most once, whatever the size. */
export class LineReader {
  readonly #limit: number;
  readonly #handlers: LineHandlers;
  #parts: Buffer[] = [];
  #length = 0;
  #oversized: OversizedLine | undefined;

  constructor(limit: number, handlers: LineHandlers) {
    this.#limit = limit;
    this.#handlers = handlers;
  }

  push(chunk: Buffer): void {
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
      this.#finish(chunk.subarray(start, end));
      start = end + 1;
    }
    if (start < chunk.length) this.#keep(start === 0 ? chunk : chunk.subarray(start));
  }

  /** The stream has ended: what stands without its newline still counts. */
  end(): void {
    this.#finish(Buffer.alloc(0));
  }

  #finish(last: Buffer): void {
    if (this.#length === 0 && last.length <= this.#limit) {
      if (last.length > 0) this.#handlers.line(last);
      return;
    }
    this.#keep(last);
    const oversized = this.#oversized;
    const line = oversized === undefined ? Buffer.concat(this.#parts, this.#length) : undefined;
    this.#parts = [];
    this.#length = 0;
    this.#oversized = undefined;
    if (line !== undefined) this.#handlers.line(line);
    else if (oversized !== undefined) this.#handlers.oversized(oversized.end());
  }

  #keep(part: Buffer): void {
    this.#length += part.length;
    if (this.#oversized === undefined && this.#length <= this.#limit) {
      this.#parts.push(part);
      return;
    }
    if (this.#oversized === undefined) {
      this.#oversized = new OversizedLine();
      for (const earlier of this.#parts) this.#oversized.push(earlier);
      this.#parts = [];
    }
    this.#oversized.push(part);
  }
}
