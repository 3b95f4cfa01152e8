import type { Writable } from 'node:stream';
import { Holding, type Account } from './account.ts';
import type { Line } from './json/splice.ts';
import { atEndOfSlice } from './slices.ts';

/** Resolved promise for microtasks; `queueMicrotask` costs seven times as much. */
const endOfTurn: Promise<void> = Promise.resolve();

/** Characters that are joined into one string. Without a bound the longest string that V8 allows would be one. */
const MOST_JOINED = 1024 * 1024;

/** Writes lines, all those of one tick in one write, and tells when the reader falls behind and catches up. */
export class LineWriter {
  readonly #stream: Writable;
  readonly #onFull: (full: boolean) => void;
  /** Bytes that the stream has not written. */
  readonly #unread: Holding;
  #queue: (string | Buffer)[] = [];
  /** Small lines gather here as one string of bytes. */
  #gathered = '';
  #queued = 0;
  #largest = 0;
  #scheduled = false;
  #full = false;
  readonly #flush: () => void;

  constructor(stream: Writable, account: Account, onFull: (full: boolean) => void = () => {}) {
    this.#stream = stream;
    this.#unread = new Holding(account);
    this.#onFull = onFull;
    this.#flush = () => this.flush();
    stream.on('drain', () => {
      this.#unread.bytes = 0;
      this.#setFull(false);
    });
  }

  /** Bytes that the reader has not taken yet. The largest line is left out: it alone may be more than should wait. */
  get backlog(): number {
    const bytes = this.#stream.writableLength + this.#queued;
    if (bytes === 0) this.#largest = 0;
    return Math.max(0, bytes - this.#largest);
  }

  /** The reader has fallen behind and not caught up yet. */
  get isFull(): boolean {
    return this.#full;
  }

  /** Delays the write where more lines are expected, because one write of many lines costs hardly more than one of one. */
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
    if (this.#gathered.length > MOST_JOINED) this.#endString();
    if (this.#scheduled) return;
    this.#scheduled = true;
    if (expectsMore) setImmediate(this.#flush);
    else if (!atEndOfSlice(this.#flush)) void endOfTurn.then(this.#flush);
  }

  flush(): void {
    this.#scheduled = false;
    if (this.#stream.destroyed || this.#stream.writableEnded) return this.#drop();
    const room = this.#queue.length === 0 ? this.#writeString(this.#gathered) : this.#writeAll();
    this.#drop();
    if (room) return;
    this.#unread.bytes = this.#stream.writableLength;
    this.#setFull(true);
  }

  #writeAll(): boolean {
    let room = true;
    this.#stream.cork();
    for (const part of [...this.#queue, this.#gathered]) {
      room = typeof part === 'string' ? this.#writeString(part) : this.#stream.write(part);
    }
    this.#stream.uncork();
    return room;
  }

  /** Writes bytes where they have to wait for their reader: a string of many parts takes up to three times the memory. */
  #writeString(text: string): boolean {
    return this.#full ? this.#stream.write(Buffer.from(text, 'latin1')) : this.#stream.write(text, 'latin1');
  }

  #add(part: string | Buffer): void {
    this.#queued += part.length;
    if (typeof part === 'string') {
      this.#gathered += part;
      return;
    }
    if (this.#gathered !== '') this.#endString();
    this.#queue.push(part);
  }

  #endString(): void {
    this.#queue.push(this.#gathered);
    this.#gathered = '';
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
