import { Batch } from './batch.ts';
import { LARGE_LINE, LargeMessage } from './large-message.ts';
import { LineReader } from './lines.ts';
import type { LinkHandlers } from './link.ts';
import { isArray, readMessage, type Message, type InvalidInput } from './message.ts';
import type { ChunkReader } from './sliced-input.ts';
import { countUnsolicited, spend } from './slices.ts';

/** Reads one message a line, or several where an array of them is allowed. */
export class MessageReader implements ChunkReader {
  readonly #handlers: LinkHandlers;
  readonly #lines: LineReader;
  #batch: Batch | undefined;
  #large: LargeMessage | undefined;

  constructor(maxMessageSize: number, handlers: LinkHandlers) {
    this.#handlers = handlers;
    this.#lines = new LineReader(maxMessageSize, {
      line: (bytes, isAscii) => this.#line(bytes, isAscii),
      part: (size) => this.#part(size),
      oversized: (line) => handlers.oversized(line),
    });
  }

  begin(chunk: Buffer): void {
    this.#lines.begin(chunk);
  }

  get kept(): number {
    return this.#lines.kept;
  }

  next(): boolean {
    if (this.#large !== undefined) this.#readOn(this.#large);
    else if (this.#batch !== undefined) this.#nextOf(this.#batch);
    else if (!this.#lines.next()) return false;
    return this.#large !== undefined || this.#batch !== undefined || this.#lines.hasMore;
  }

  end(): void {
    this.#lines.end();
    while (this.#large !== undefined || this.#batch !== undefined) this.next();
  }

  #line(bytes: Buffer, isAscii: boolean): void {
    if (bytes.length > LARGE_LINE && !isArray(bytes)) {
      this.#large = new LargeMessage(bytes);
      return;
    }
    spend(0, bytes.length);
    this.#take(readMessage(bytes, isAscii));
  }

  /** Counts bytes as they are read: memory for them is what a flood of long lines costs, whatever they turn out to be. */
  #part(size: number): void {
    spend(0, size);
    if (this.#handlers.isAwaited?.() === false) countUnsolicited(size);
  }

  #readOn(large: LargeMessage): void {
    const message = large.next();
    if (message === undefined) return;
    this.#large = undefined;
    this.#take(message);
  }

  #take(message: Message | InvalidInput): void {
    if (message.kind !== 'response') countUnsolicited(message.bytes.length);
    if (message.kind !== 'invalid') return this.#handlers.message(message);
    if (message.reason === 'batch' && this.#handlers.takesBatches?.() === true)
      this.#batch = Batch.open(message.bytes);
    if (this.#batch === undefined) this.#handlers.invalid(message);
  }

  #nextOf(batch: Batch): void {
    const message = batch.next();
    if (message !== undefined && message.kind !== 'response') countUnsolicited(message.bytes.length);
    if (message === undefined) this.#batch = undefined;
    else if (message.kind === 'invalid') this.#handlers.invalid(message);
    else this.#handlers.message(message);
  }
}
