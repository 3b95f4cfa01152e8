import { walkArray } from './json/members.ts';
import { onOneLine, skipUnvalidated, skipSpace } from './json/scan.ts';
import { readMessage, type Message, type InvalidInput } from './message.ts';
import { spend } from './slices.ts';

/** The one revision with batches. */
export const BATCH_VERSION = '2025-03-26';

/** Messages in one batch. */
export const MOST_IN_A_BATCH = 1000;

/** The messages of an array, read one by one as they are asked for. */
export class Batch {
  readonly #bytes: Buffer;
  readonly #spans: readonly number[];
  #at = 0;

  /** Returns undefined where the text is not an array, or the array is empty or has too many elements. */
  static open(text: Buffer): Batch | undefined {
    const bytes = onOneLine(text);
    const spans = batchSpans(bytes);
    return spans && new Batch(bytes, spans);
  }

  private constructor(bytes: Buffer, spans: readonly number[]) {
    this.#bytes = bytes;
    this.#spans = spans;
  }

  /** Returns the next message, or undefined after the last one. An array in an array is not a message. */
  next(): Message | InvalidInput | undefined {
    const [start, end] = [this.#spans[this.#at], this.#spans[this.#at + 1]];
    if (start === undefined) return undefined;
    this.#at += 2;
    const message = readMessage(this.#bytes.subarray(start, end));
    const isArray = message.kind === 'invalid' && message.reason === 'batch';
    return isArray ? { ...message, reason: 'not-a-message' } : message;
  }
}

/** Visits the messages of an array in this turn, for those who only refuse them. Returns false where there is no batch. */
export function visitBatch(bytes: Buffer, visit: (message: Message | InvalidInput) => void): boolean {
  const batch = Batch.open(bytes);
  if (batch === undefined) return false;
  for (let message = batch.next(); message !== undefined; message = batch.next()) {
    spend(1, 0);
    visit(message);
  }
  return true;
}

/**
 * Finds the elements of a batch, each of which is judged by itself when it is read. Walks no further than the largest
 * batch goes: the elements of a hostile one would fill the memory with spans.
 */
function batchSpans(bytes: Buffer): number[] | undefined {
  const spans: number[] = [];
  const end = walkArray(bytes, skipSpace(bytes, 0), (_, start) => {
    if (spans.length === 2 * MOST_IN_A_BATCH) return -1;
    const after = skipUnvalidated(bytes, start);
    spans.push(start, after);
    return after;
  });
  return end < 0 || spans.length === 0 || skipSpace(bytes, end) !== bytes.length ? undefined : spans;
}
