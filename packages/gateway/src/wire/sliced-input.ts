import type { Readable } from 'node:stream';
import { Holding, type Account } from './account.ts';
import { Slices, type Work } from './slices.ts';

/** Bytes that are read on while it is blocked, because the end of the stream may stand behind them. */
const READ_ON = 1024 * 1024;

/** Cuts chunks of a stream into elements and works them off one by one. */
export interface ChunkReader {
  /** Takes a chunk; all elements of the one before have been worked off. */
  begin(chunk: Buffer): void;
  /** Works off one element. Returns false where the chunk holds no more. */
  next(): boolean;
  /** Bytes that are kept of an element that is not complete yet. */
  readonly kept: number;
  /** Works off what the stream has left without an end. */
  end?(): void;
}

export interface InputHandlers {
  /** The stream has ended or was closed, and all that came has been worked off. */
  ended(): void;
  /** An element has thrown: nothing more is read. */
  failed(error: Error): void;
}

/** A stream of chunks. */
interface ChunkSource {
  /** Begins to flow. `ended` is called at least once when nothing more comes. */
  listen(data: (chunk: Buffer) => void, ended: () => void): void;
  pause(): void;
  resume(): void;
}

/** Reads a stream of Node's. */
export function chunksOf(stream: Readable): ChunkSource {
  return {
    listen(data, ended) {
      stream.on('data', data).once('end', ended).once('close', ended).once('error', ended);
    },
    pause: () => void stream.pause(),
    resume: () => void stream.resume(),
  };
}

export interface InputOptions {
  readonly input: ChunkSource;
  /** Counts what is kept of the stream. */
  readonly account: Account;
  /** Returns true while no element can be worked off, because its answer could not be written; `goOn` tells when that has changed. */
  isBlocked?(): boolean;
}

/**
 * Reads a stream in slices. While elements of a chunk are left for a later turn the stream is paused, so that order is
 * kept and no more than a chunk waits.
 */
export class SlicedInput implements Work {
  readonly what = 'input';
  readonly #options: InputOptions;
  readonly #kept: Holding;
  readonly #reader: ChunkReader;
  readonly #handlers: InputHandlers;
  readonly #slices = new Slices(this);
  /** Chunks that came although the stream is paused, as those of a process that has exited do, or while it is blocked. */
  readonly #chunks: Buffer[] = [];
  #chunkBytes = 0;
  #isHeld = false;
  #isBusy = false;
  #isBlocked = false;
  #hasEnded = false;
  #isOver = false;

  constructor(options: InputOptions, reader: ChunkReader, handlers: InputHandlers) {
    const { input, account } = options;
    this.#options = options;
    this.#kept = new Holding(account);
    this.#reader = reader;
    this.#handlers = handlers;
    input.listen(
      (chunk) => this.#read(chunk),
      () => this.#ended(),
    );
  }

  /** Stops or restarts the flow of chunks; the elements of the last one are still worked off. */
  hold(hold: boolean): void {
    this.#isHeld = hold;
    this.#flow();
  }

  /** Works on, where it was blocked. */
  unblock(): void {
    if (this.#isBlocked) this.#slices.runInTurn();
  }

  next(): boolean {
    if (this.#isOver) return false;
    this.#isBlocked = !this.#hasEnded && this.#options.isBlocked?.() === true;
    if (this.#isBlocked) return this.#wait();
    return this.#reader.next() || this.#nextChunk() || this.#finishChunk();
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
      this.#chunkBytes += chunk.length;
      this.#count();
      return this.#flow();
    }
    this.#reader.begin(chunk);
    this.#slices.runInTurn();
    this.#count();
    if (!this.#slices.isWaiting) return;
    this.#isBusy = true;
    this.#flow();
  }

  #nextChunk(): boolean {
    const chunk = this.#chunks.shift();
    if (chunk === undefined) return false;
    this.#chunkBytes -= chunk.length;
    this.#reader.begin(chunk);
    return true;
  }

  #count(): void {
    this.#kept.bytes = this.#isOver ? 0 : this.#reader.kept + this.#chunkBytes;
  }

  /** Leaves the rest of the chunk until `goOn`. */
  #wait(): false {
    this.#isBusy = true;
    this.#flow();
    return false;
  }

  /** Nothing is left: the stream flows again, or its end is told. */
  #finishChunk(): false {
    if (!this.#isBusy) return false;
    this.#isBusy = false;
    this.#count();
    this.#flow();
    if (this.#hasEnded) this.#end();
    return false;
  }

  #flow(): void {
    const { input } = this.#options;
    const isFull = this.#isBusy && !(this.#isBlocked && this.#chunkBytes < READ_ON);
    if (this.#isHeld || isFull || this.#isOver) input.pause();
    else input.resume();
  }

  #ended(): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    if (!this.#isBusy) this.#end();
    else this.unblock();
  }

  #end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#count();
    try {
      this.#slices.runOnce(() => {
        this.#reader.end?.();
        this.#handlers.ended();
      });
    } catch (error) {
      this.#handlers.failed(error as Error);
    }
  }
}
