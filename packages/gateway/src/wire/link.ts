import type { Readable, Writable } from 'node:stream';
import type { Account } from './account.ts';
import { LineReader } from './lines.ts';
import { readMessage, type Message, type Unusable } from './message.ts';
import type { Oversized } from './oversized.ts';
import type { Line } from './splice.ts';
import { LineWriter, readThenWrite } from './writer.ts';

/** A two-way stream of JSON-RPC messages. */
export interface Link {
  /** Counts what is held because of the peer at the other end. */
  readonly account: Account;
  /** `expectsMore`: much is under way, so that more will follow at once. */
  send(line: Line, expectsMore?: boolean): void;
  /** Stops and restarts the flow of incoming messages. */
  pause(): void;
  resume(): void;
  /** Bytes sent that the other side has not taken yet. */
  readonly backlog: number;
  close(): void;
}

/** What a link tells its owner. */
export interface LinkHandlers {
  /** `related` is the id of the request that it came on the way to, where the link can tell. */
  message(message: Message, related?: number): void;
  /** A line that is no message. */
  unusable(line: Unusable): void;
  oversized(line: Oversized): void;
  /** The other side sends no more. */
  ended(): void;
  /** The other side has stopped (or begun again) to read what we send. */
  full?(full: boolean): void;
}

export interface LinkOptions {
  readonly input: Readable;
  readonly output: Writable;
  readonly maxMessageSize: number;
  readonly account: Account;
}

/** One message a line over a pair of byte streams. */
export function openLink(options: LinkOptions, handlers: LinkHandlers): Link {
  const { input, output, maxMessageSize, account } = options;
  const writer = new LineWriter(output, (full) => handlers.full?.(full));
  const reader = new LineReader(maxMessageSize, {
    line(bytes) {
      const message = readMessage(bytes);
      if (message.kind === 'unusable') handlers.unusable(message);
      else handlers.message(message);
    },
    oversized: (line) => handlers.oversized(line),
  });
  onceEnded(input, () => {
    reader.end();
    handlers.ended();
  });
  // A peer that is gone shows as the end of its output; the failed write has nothing to add.
  output.on('error', () => {});
  const push = (chunk: Buffer): void => reader.push(chunk);
  input.on('data', (chunk: Buffer) => readThenWrite(chunk, push));
  return {
    account,
    send: (line, expectsMore) => writer.write(line, expectsMore),
    pause: () => void input.pause(),
    resume: () => void input.resume(),
    get backlog() {
      return writer.backlog;
    },
    close() {
      writer.flush();
      output.end();
    },
  };
}

function onceEnded(input: Readable, ended: () => void): void {
  let done = false;
  const once = (): void => {
    if (done) return;
    done = true;
    ended();
  };
  input.once('end', once).once('close', once).once('error', once);
}
