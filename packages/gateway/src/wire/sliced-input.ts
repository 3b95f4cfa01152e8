import type { Readable } from 'node:stream';
import { inSlice, Slices, type Work } from './slices.ts';

/** Cuts chunks of a stream into elements and works them off one by one. */
export interface ChunkReader {
  /** Takes a chunk; all elements of the one before have been worked off. */
  begin(chunk: Buffer): void;
  /** Works off one element. Returns false where the chunk holds no more. */
  next(): boolean;
  /** Works off what the stream has left without an end. */
  end?(): void;
}

export interface InputHandlers {
  /** The stream has ended or was closed, and all that came has been worked off. */
  ended(): void;
  /** An element has thrown: nothing more is read. */
  failed(error: Error): void;
}

/**
 * Reads a stream in slices. While elements of a chunk are left for a later turn the stream is paused, so that order is
 * kept and no more than a chunk waits.
 */
export class SlicedInput implements Work {
  readonly what = 'input';
  readonly #input: Readable;
  readonly #reader: ChunkReader;
  readonly #handlers: InputHandlers;
  readonly #slices = new Slices(this);
  /** Chunks that came although the stream is paused, as those of a process that has exited do. */
  readonly #chunks: Buffer[] = [];
  #isHeld = false;
  #isBusy = false;
  #hasEnded = false;
  #isOver = false;

  constructor(input: Readable, reader: ChunkReader, handlers: InputHandlers) {
    this.#input = input;
    this.#reader = reader;
    this.#handlers = handlers;
    input.on('data', (chunk: Buffer) => this.#read(chunk));
    const ended = (): void => this.#ended();
    input.once('end', ended).once('close', ended).once('error', ended);
  }

  /** Stops or restarts the flow of chunks; the elements of the last one are still worked off. */
  hold(hold: boolean): void {
    this.#isHeld = hold;
    this.#flow();
  }

  next(): boolean {
    if (this.#isOver) return false;
    return this.#reader.next() || this.#nextChunk() || this.#rest();
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

  #ended(): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    if (!this.#isBusy) this.#end();
  }

  #end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    try {
      inSlice(this.what, () => {
        this.#reader.end?.();
        this.#handlers.ended();
      });
    } catch (error) {
      this.#handlers.failed(error as Error);
    }
  }
}
