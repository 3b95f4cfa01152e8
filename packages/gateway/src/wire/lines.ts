import { isAscii } from 'node:buffer';
import { OversizedLine, type Oversized } from './oversized.ts';
import { spend } from './slices.ts';

const NEWLINE = 0x0a;
const RETURN = 0x0d;

/** So many parts of one line are put together: a peer that writes byte by byte must not fill the memory with buffers. */
const PACK_PARTS = 1024;

/**
 * Bytes from which on that many parts are kept apart: at 4 KiB a part, its buffer's own 0.6 KB adds little. 64 MB come in
 * about 1000 parts; where more than 1024 came, the second copy took 0.3 of 1.45 ms of CPU per MB.
 */
const PACK_BYTES = PACK_PARTS * 4096;

/** So many bytes of a kept line are followed at once, when it turns out to be too long. */
const PIECE = 256 * 1024;

const NOTHING: Buffer = Buffer.alloc(0);
const BYTE_ORDER_MARK: Buffer = Buffer.from('\uFEFF');

export interface LineHandlers {
  /** `isAscii`: the line is known to hold ASCII alone. Asked once a chunk, because a native call a line shows in short calls. */
  line(bytes: Buffer, isAscii: boolean): void;
  /** So many bytes of a line have come whose end has not. */
  part?(size: number): void;
  oversized(line: Oversized): void;
}

/** Cuts a stream of chunks into lines. Each byte is searched once and copied at most twice, whatever the size. */
export class LineReader {
  readonly #limit: number;
  readonly #handlers: LineHandlers;
  #parts: Buffer[] = [];
  /** Number of parts that are packed already or large enough; they stand first. */
  #packed = 0;
  /** Bytes of those parts. */
  #packedBytes = 0;
  #length = 0;
  #isFirst = true;
  #oversized: OversizedLine | undefined;
  /** Parts of an oversized line that were kept before its size was known, and are still to be followed. */
  #early: Buffer[] = [];
  /** Number of parts of that which have been followed. */
  #followed = 0;
  /** That line has ended. */
  #isComplete = false;
  /** The chunk that is being cut, and where its next line begins. */
  #chunk: Buffer = NOTHING;
  #at = 0;
  #isAscii = true;
  /** True where all chunks that the present line began in are ASCII. */
  #wasAscii = true;

  constructor(limit: number, handlers: LineHandlers) {
    this.#limit = limit;
    this.#handlers = handlers;
  }

  /** Bytes that are kept of the line that is not complete yet. */
  get kept(): number {
    return this.#oversized === undefined ? this.#length : 0;
  }

  push(chunk: Buffer): void {
    this.begin(chunk);
    while (this.next());
  }

  /** Takes a chunk whose lines are asked for by `next`. The lines of the one before have all been asked for. */
  begin(chunk: Buffer): void {
    this.#chunk = chunk;
    this.#at = 0;
    this.#isAscii = isAscii(chunk);
  }

  /** Cuts off the next line. Returns false where the chunk holds no more whole lines. */
  next(): boolean {
    if (this.#early.length > 0) {
      this.#follow();
      return true;
    }
    const start = this.#at;
    const chunk = this.#chunk;
    const end = chunk.indexOf(NEWLINE, start);
    if (end === -1) {
      this.#forgetChunk();
      if (start === chunk.length) return false;
      this.#keep(start === 0 ? chunk : chunk.subarray(start));
      this.#handlers.part?.(chunk.length - start);
      return false;
    }
    this.#at = end + 1;
    this.#finish(chunk.subarray(start, end));
    if (this.#at === chunk.length) this.#forgetChunk();
    return true;
  }

  /** False where `next` would find no line in the chunk. */
  get hasMore(): boolean {
    return this.#chunk !== NOTHING || this.#early.length > 0;
  }

  #forgetChunk(): void {
    this.#chunk = NOTHING;
    this.#at = 0;
  }

  /** Ends the stream: a last line without its newline still counts. */
  end(): void {
    this.#finish(NOTHING);
    while (this.#early.length > 0) this.#follow();
  }

  #finish(last: Buffer): void {
    if (this.#length === 0 && last.length <= this.#limit) return this.#emit(last, this.#isAscii);
    this.#keep(last);
    if (this.#early.length > 0) this.#isComplete = true;
    else this.#tell();
  }

  #tell(): void {
    const wasAscii = this.#wasAscii;
    const oversized = this.#oversized;
    const line = oversized === undefined ? Buffer.concat(this.#parts, this.#length) : undefined;
    this.#reset();
    if (line !== undefined) this.#emit(line, wasAscii);
    else if (oversized !== undefined) this.#handlers.oversized(oversized.end());
  }

  /** Hands on a line without a byte order mark and carriage return; skips blank lines. */
  #emit(line: Buffer, isAsciiLine: boolean): void {
    const end = line[line.length - 1] === RETURN ? line.length - 1 : line.length;
    const start = this.#isFirst && line.indexOf(BYTE_ORDER_MARK) === 0 ? BYTE_ORDER_MARK.length : 0;
    this.#isFirst = false;
    if (end > start)
      this.#handlers.line(end - start === line.length ? line : line.subarray(start, end), isAsciiLine);
  }

  #keep(part: Buffer): void {
    this.#length += part.length;
    this.#wasAscii &&= this.#isAscii;
    if (this.#oversized === undefined && this.#length <= this.#limit) {
      this.#parts.push(part);
      if (this.#parts.length - this.#packed === PACK_PARTS) this.#pack();
      return;
    }
    if (this.#oversized === undefined) {
      this.#oversized = new OversizedLine();
      this.#early = this.#parts;
      this.#parts = [];
    }
    if (this.#early.length > 0) this.#early.push(part);
    else this.#oversized.push(part);
  }

  /** Follows one piece of what was kept of a line before it was too long. */
  #follow(): void {
    const part = this.#early[this.#followed] as Buffer;
    const piece = part.subarray(0, PIECE);
    this.#oversized?.push(piece);
    spend(0, piece.length);
    if (part.length > PIECE) this.#early[this.#followed] = part.subarray(PIECE);
    else this.#early[this.#followed++] = NOTHING;
    if (this.#followed < this.#early.length) return;
    this.#early = [];
    this.#followed = 0;
    if (this.#isComplete) this.#tell();
  }

  #pack(): void {
    if (this.#length - this.#packedBytes < PACK_BYTES)
      this.#parts.push(Buffer.concat(this.#parts.splice(this.#packed)));
    this.#packed = this.#parts.length;
    this.#packedBytes = this.#length;
  }

  #reset(): void {
    this.#parts = [];
    this.#packed = 0;
    this.#packedBytes = 0;
    this.#length = 0;
    this.#wasAscii = true;
    this.#oversized = undefined;
    this.#isComplete = false;
  }
}
