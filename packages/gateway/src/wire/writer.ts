import type { Writable } from 'node:stream';
import type { Line } from './splice.ts';

/** What waits for it runs before anything else happens; `queueMicrotask` costs seven times as much. */
const endOfTurn: Promise<void> = Promise.resolve();

/** What has lines to write that came of what is being read. */
const waiting: LineWriter[] = [];
let isReading = false;

/** What comes of a chunk is written when all of it has been read. */
export function readThenWrite(chunk: Buffer, read: (chunk: Buffer) => void): void {
  isReading = true;
  try {
    read(chunk);
  } finally {
    isReading = false;
    for (let writer = waiting.pop(); writer !== undefined; writer = waiting.pop()) writer.flush();
  }
}

/** Writes lines, all those of one tick in one write, and tells when the reader falls behind and catches up. */
export class LineWriter {
  readonly #stream: Writable;
  readonly #onFull: (full: boolean) => void;
  #queue: (string | Buffer)[] = [];
  /** Small lines gather here as one string of bytes. */
  #gathered = '';
  #queued = 0;
  #largest = 0;
  #scheduled = false;
  #full = false;
  readonly #flush: () => void;

  constructor(stream: Writable, onFull: (full: boolean) => void = () => {}) {
    this.#stream = stream;
    this.#onFull = onFull;
    this.#flush = () => this.flush();
    stream.on('drain', () => this.#setFull(false));
  }

  /** Bytes that the reader has not taken yet. The largest line is left out: it alone may be more than should wait. */
  get backlog(): number {
    const bytes = this.#stream.writableLength + this.#queued;
    if (bytes === 0) this.#largest = 0;
    return Math.max(0, bytes - this.#largest);
  }

  /** Where more is to be expected soon, it is waited for: one write of many lines costs hardly more than one of one. */
  write(line: Line, expectsMore = false): void {
    if (typeof line === 'string') {
      this.#gathered += line;
      this.#queued += line.length;
    } else {
      const before = this.#queued;
      for (const part of line) this.#add(part);
      this.#largest = Math.max(this.#largest, this.#queued - before);
    }
    this.#gathered += '\n';
    this.#queued += 1;
    if (this.#scheduled) return;
    this.#scheduled = true;
    if (expectsMore) setImmediate(this.#flush);
    else if (isReading) waiting.push(this);
    else void endOfTurn.then(this.#flush);
  }

  flush(): void {
    this.#scheduled = false;
    if (this.#stream.destroyed || this.#stream.writableEnded) return this.#drop();
    const room = this.#queue.length === 0 ? this.#stream.write(this.#gathered, 'latin1') : this.#writeAll();
    this.#drop();
    if (!room) this.#setFull(true);
  }

  #writeAll(): boolean {
    let room = true;
    this.#stream.cork();
    for (const part of [...this.#queue, this.#gathered]) {
      room = typeof part === 'string' ? this.#stream.write(part, 'latin1') : this.#stream.write(part);
    }
    this.#stream.uncork();
    return room;
  }

  #add(part: string | Buffer): void {
    this.#queued += part.length;
    if (typeof part === 'string') {
      this.#gathered += part;
      return;
    }
    if (this.#gathered !== '') this.#queue.push(this.#gathered);
    this.#gathered = '';
    this.#queue.push(part);
  }

  #drop(): void {
    if (this.#queue.length > 0) this.#queue = [];
    this.#gathered = '';
    this.#queued = 0;
  }

  #setFull(full: boolean): void {
    if (this.#full === full) return;
    this.#full = full;
    this.#onFull(full);
  }
}
