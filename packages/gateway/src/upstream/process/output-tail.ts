import type { Readable } from 'node:stream';
import { escapeUnsafe } from '../../log.ts';
import { NO_ACCOUNT } from '../../wire/account.ts';
import { chunksOf, SlicedInput, type ChunkReader } from '../../wire/sliced-input.ts';
import { spend } from '../../wire/slices.ts';

/** The bytes of one line that are kept; what a server writes beyond them is dropped up to its next line. */
const MAX_LINE_BYTES = 8192;
const CUT_NOTE = ' … [cut: the line is longer than 8 KiB]';
const NEWLINE = 0x0a;
const NOTHING: Buffer = Buffer.alloc(0);

/** Reads a stream into lines, in slices: a server may write thousands at once. Resolves when all of it has been read. */
export function readLines(input: Readable, lines: OutputTail): Promise<void> {
  return new Promise((ended) => {
    const failed = (error: Error): never => {
      ended();
      throw error;
    };
    // A line and a chunk are held at most, which needs no account.
    new SlicedInput({ input: chunksOf(input), account: NO_ACCOUNT }, lines, { ended, failed });
  });
}

/** Cuts a server's stderr into lines that are safe to log, and keeps the last ones for an error message. */
export class OutputTail implements ChunkReader {
  readonly #onLine: (line: string) => void;
  readonly #kept: number;
  #tail: string[] = [];
  #parts: Buffer[] = [];
  #length = 0;
  /** The chunk that is being cut, and where its next line begins. */
  #chunk: Buffer = NOTHING;
  #at = 0;

  constructor(onLine: (line: string) => void, kept = 10) {
    this.#onLine = onLine;
    this.#kept = kept;
  }

  begin(chunk: Buffer): void {
    this.#chunk = chunk;
    this.#at = 0;
  }

  next(): boolean {
    const [chunk, start] = [this.#chunk, this.#at];
    const end = chunk.indexOf(NEWLINE, start);
    this.#add(chunk.subarray(start, end === -1 ? chunk.length : end));
    this.#at = end + 1;
    if (end === -1 || this.#at === chunk.length) this.#chunk = NOTHING;
    if (end !== -1) this.#finish();
    return this.#chunk !== NOTHING;
  }

  /** Bytes of the line that is not complete yet. */
  get kept(): number {
    return Math.min(this.#length, MAX_LINE_BYTES);
  }

  /** The stream has ended: what stands without a newline still counts. */
  end(): void {
    if (this.#length > 0) this.#finish();
  }

  /** The last lines that say something; a question that waits for its answer has no newline yet. */
  tail(): string[] {
    return [...this.#tail, this.#current()].filter(saysSomething).slice(-this.#kept);
  }

  #add(part: Buffer): void {
    const room = MAX_LINE_BYTES - this.#length;
    this.#length += part.length;
    spend(0, part.length);
    // A copy, because a piece of a chunk would keep the whole chunk in memory.
    if (room > 0 && part.length > 0) this.#parts.push(Buffer.from(part.subarray(0, room)));
  }

  #finish(): void {
    const line = this.#current();
    this.#tail = this.tail();
    this.#parts = [];
    this.#length = 0;
    this.#onLine(line);
  }

  #current(): string {
    return readable(Buffer.concat(this.#parts), this.#length > MAX_LINE_BYTES);
  }
}

function saysSomething(line: string): boolean {
  return line.trim() !== '';
}

function readable(bytes: Buffer, isCut: boolean): string {
  const text = bytes.toString('utf8');
  // The cut may have gone through a character.
  if (isCut) return escapeUnsafe(text.replace(/\ufffd$/, '')) + CUT_NOTE;
  return escapeUnsafe(text.endsWith('\r') ? text.slice(0, -1) : text);
}
