import type { Readable, Writable } from 'node:stream';
import type { Account } from './account.ts';
import type { Line } from './json/splice.ts';
import { MessageReader } from './message-reader.ts';
import type { Message, InvalidInput } from './message.ts';
import type { Oversized } from './oversized.ts';
import { chunksOf, SlicedInput } from './sliced-input.ts';
import { LineWriter } from './writer.ts';

/** A two-way stream of JSON-RPC messages. */
export interface Link {
  /** Counts what is held because of the peer at the other end. */
  readonly account: Account;
  /** `expectsMore`: many requests are in flight, so more lines follow at once. */
  send(line: Line, expectsMore?: boolean): void;
  /** Stops and restarts the flow of incoming messages. */
  pause(): void;
  resume(): void;
  /** Bytes sent that the other side has not taken yet. */
  readonly backlog: number;
  close(): void;
}

/** Events of a link. */
export interface LinkHandlers {
  /** `related` is the id of the request that it came on the way to, where the link can tell. */
  message(message: Message, related?: number): void;
  /** A line that is not a message. */
  invalid(line: InvalidInput): void;
  /** Returns true where the other side may send several messages in an array, each of which is told by itself. */
  takesBatches?(): boolean;
  /** Returns false where the other side owes no answer, so that everything it sends is unsolicited. */
  isAwaited?(): boolean;
  oversized(line: Oversized): void;
  /** The other side sends no more. */
  ended(): void;
  /** Handling a message threw an exception; nothing more is read. */
  failed(error: Error): void;
  /** The other side has stopped (or begun again) to read what we send. */
  full?(full: boolean): void;
}

/**
 * Bytes held for a client that does not read (answers, and 1 KiB for each request in flight) from which on its requests are
 * left unread, too. Below that a client may write all its requests before it reads the first answer.
 */
const PAUSE_AT = 8 * 1024 * 1024;

export interface LinkOptions {
  readonly input: Readable;
  readonly output: Writable;
  readonly maxMessageSize: number;
  readonly account: Account;
  /** Reads no more requests while too many answers are unread. Not for servers: one that writes before it reads would never read. */
  readonly pausesInput?: boolean;
}

/** One message a line over a pair of byte streams. */
export function openLink(options: LinkOptions, handlers: LinkHandlers): Link {
  const { input, output, maxMessageSize, account, pausesInput = false } = options;
  const writer = new LineWriter(output, account, (full) => {
    handlers.full?.(full);
    if (!full) reading.unblock();
  });
  const isBlocked = (): boolean => writer.backlog > PAUSE_AT || (writer.isFull && account.held > PAUSE_AT);
  const reading = new SlicedInput(
    { input: chunksOf(input), account, ...(pausesInput && { isBlocked }) },
    new MessageReader(maxMessageSize, handlers),
    handlers,
  );
  // A peer that is gone shows as the end of its output; the failed write has nothing to add.
  output.on('error', () => {});
  return {
    account,
    send: (line, expectsMore) => writer.write(line, expectsMore),
    pause: () => reading.hold(true),
    resume: () => reading.hold(false),
    get backlog() {
      return writer.backlog;
    },
    close() {
      writer.flush();
      output.end();
    },
  };
}
