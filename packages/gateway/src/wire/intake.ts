import type { Readable } from 'node:stream';
import { Batch } from './batch.ts';
import { LineReader } from './lines.ts';
import type { LinkHandlers } from './link.ts';
import { readMessage } from './message.ts';
import { inSlice, Slices, spend, type Work } from './slices.ts';

/**
 * Reads the messages of a stream in slices. While lines of a chunk or messages of a batch are left for a later turn, the
 * stream is paused: order is kept, and no more than a chunk waits.
 */
export class Intake implements Work {
  readonly what = 'lines';
  readonly #input: Readable;
  readonly #handlers: LinkHandlers;
  readonly #reader: LineReader;
  readonly #slices: Slices;
  /** Chunks that came although the stream is paused, as those of a process that has exited do. */
  readonly #chunks: Buffer[] = [];
  #batch: Batch | undefined;
  #isHeld = false;
  #isBusy = false;
  #hasEnded = false;
  #isOver = false;

  constructor(input: Readable, maxMessageSize: number, handlers: LinkHandlers) {
    this.#input = input;
    this.#handlers = handlers;
    this.#slices = new Slices(this);
    this.#reader = new LineReader(maxMessageSize, {
      line: (bytes) => this.#line(bytes),
      oversized: (line) => handlers.oversized(line),
    });
    input.on('data', (chunk: Buffer) => this.#read(chunk));
    const ended = (): void => this.#ended();
    input.once('end', ended).once('close', ended).once('error', ended);
  }

  /** Stops or restarts the flow of chunks; the lines of the last one are still told. */
  hold(hold: boolean): void {
    this.#isHeld = hold;
    this.#flow();
  }

  next(): boolean {
    if (this.#isOver) return false;
    if (this.#batch !== undefined) this.#nextOf(this.#batch);
    else if (!this.#reader.next() && !this.#nextChunk()) return this.#rest();
    return true;
  }

  failed(error: Error): void {
    this.#isOver = true;
    this.#flow();
    this.#handlers.failed(error);
  }

  #read(chunk: Buffer): void {
    if (this.#isOver) return;
    if (this.#isBusy) {
      this.#chunks.push(chunk);
      return this.#flow();
    }
    this.#reader.begin(chunk);
    this.#slices.run();
    if (!this.#slices.isWaiting) return;
    this.#isBusy = true;
    this.#flow();
  }

  #nextChunk(): boolean {
    const chunk = this.#chunks.shift();
    if (chunk !== undefined) this.#reader.begin(chunk);
    return chunk !== undefined;
  }

  /** Nothing is left: the stream flows again, or its end is told. */
  #rest(): false {
    if (!this.#isBusy) return false;
    this.#isBusy = false;
    this.#flow();
    if (this.#hasEnded) this.#end();
    return false;
  }

  #flow(): void {
    if (this.#isHeld || this.#isBusy || this.#isOver) this.#input.pause();
    else this.#input.resume();
  }

  #line(bytes: Buffer): void {
    spend(0, bytes.length);
    const message = readMessage(bytes);
    if (message.kind !== 'unusable') return this.#handlers.message(message);
    if (message.reason === 'batch' && this.#handlers.takesBatches?.() === true)
      this.#batch = Batch.open(message.bytes);
    if (this.#batch === undefined) this.#handlers.unusable(message);
  }

  #nextOf(batch: Batch): void {
    const message = batch.next();
    if (message === undefined) this.#batch = undefined;
    else if (message.kind === 'unusable') this.#handlers.unusable(message);
    else this.#handlers.message(message);
  }

  #ended(): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    if (!this.#isBusy) this.#end();
  }

  #end(): void {
    if (this.#isOver) return;
    inSlice(this.what, () => this.#reader.end());
    this.#isOver = true;
    this.#handlers.ended();
  }
}
