import type { Readable, Writable } from 'node:stream';
import { escapeUnsafe } from '../log.ts';
import { Deferred } from '../time/deferred.ts';
import { BATCH_VERSION, visitBatch } from '../wire/batch.ts';
import { openLink } from '../wire/link.ts';
import type { Message, InvalidInput } from '../wire/message.ts';
import { Peer } from '../wire/peer.ts';
import {
  receive,
  refuseInvalid,
  refuseOversized,
  type Connection,
  type ConnectionOptions,
} from './connection.ts';
import type { StopTiming } from './process/process-group.ts';
import { Unavailable } from './unavailable.ts';

/** Bytes of a line that is not a message, as shown in errors. */
const LONGEST_NOISE = 200;
const KEPT_NOISE = 5;

interface LineStreams {
  /** Output of the server. */
  readonly input: Readable;
  /** Input of the server. */
  readonly output: Writable;
}

/** A conversation in lines over two streams: the pipes of a process, or a socket twice. Says nothing of how the server ends. */
export abstract class LineConnection implements Connection {
  readonly peer: Peer;
  /** The streams are the session. */
  readonly keepsSession: boolean = true;
  protected readonly options: ConnectionOptions;
  /** Resolves when all that the server wrote has been read. */
  protected readonly ended: Deferred<void> = new Deferred();
  /** Resolved unless the connection is on hold. */
  protected flowing: Deferred<void> = new Deferred();
  readonly #lost = new Deferred<string>();
  #heard = 0;
  #noise: readonly string[] = [];

  constructor({ input, output }: LineStreams, options: ConnectionOptions) {
    this.options = options;
    const link = openLink(
      { ...options, input, output },
      {
        message: (message) => {
          this.#heard++;
          receive(message, this.peer, options);
        },
        invalid: (line) => this.#invalid(line),
        takesBatches: () => this.peer.version === BATCH_VERSION,
        isAwaited: () => this.peer.isAwaited,
        oversized: (line) => refuseOversized(this.peer, options, line),
        failed: (error) => options.failed(error),
        ended: () => this.ended.resolve(),
      },
    );
    this.peer = new Peer(link, (error) => options.failed(error));
    this.flowing.resolve();
    void this.lost.then((what) => this.fail(what));
  }

  get lost(): Promise<string> {
    return this.#lost.promise;
  }

  get heard(): number {
    return this.#heard;
  }

  fail(what: string): void {
    this.peer.fail(new Unavailable(this.options.serverKey, what));
  }

  abstract raceExit<T>(promised: Promise<T>): Promise<T>;

  abstract stop(timing?: StopTiming): Promise<void>;

  /** Returns the lines that are not messages, such as a usage text. */
  outputTail(): string[] {
    return this.#noise.map((line) => `  stdout | ${line}`);
  }

  hold(hold: boolean): void {
    if (hold) {
      this.peer.pause();
      if (this.flowing.isResolved) this.flowing = new Deferred();
    } else {
      this.peer.resume();
      this.flowing.resolve();
    }
  }

  /** Reports that the server is gone for good; the first reason counts. */
  protected lose(what: string): void {
    this.#lost.resolve(what);
  }

  #invalid(line: InvalidInput): void {
    const start = escapeUnsafe(line.bytes.toString('utf8', 0, LONGEST_NOISE)).trim();
    this.options.log.debug?.(`wrote something other than a message to stdout: ${start}`);
    if (start !== '') this.#noise = [...this.#noise, start].slice(-KEPT_NOISE);
    if (line.reason !== 'batch') return refuseInvalid(this.peer, this.options, line);
    visitBatch(line.bytes, (part) => refuseInvalid(this.peer, this.options, asInvalid(part)));
  }
}

/** A message of a batch that the server's revision does not know. */
function asInvalid(part: Message | InvalidInput): InvalidInput {
  if (part.kind === 'invalid') return part;
  const likelyKind = part.kind === 'response' ? part.kind : 'request';
  return { kind: 'invalid', reason: 'batch', bytes: part.bytes, id: part.id || undefined, likelyKind };
}
