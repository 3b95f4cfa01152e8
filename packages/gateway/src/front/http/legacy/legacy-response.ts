import { RpcError, RpcErrorCode } from '../../../errors.ts';
import type { Account } from '../../../wire/account.ts';
import { errorLine } from '../../../wire/answer.ts';
import type { Line } from '../../../wire/json/splice.ts';
import type { Message } from '../../../wire/message.ts';
import type { Origin, Pause, Peer, Cancellable } from '../../../wire/peer.ts';
import type { HeartbeatListener, Heartbeat } from '../heartbeat.ts';
import { respondEmpty, respondJson } from '../respond.ts';
import type { OutgoingResponse } from '../server/outgoing-response.ts';
import type { ResumableStream } from './resumable-stream.ts';

/** Beats after which an answer becomes a stream, which its client can come back to. */
const STREAM_AFTER_BEATS = 2;

export interface LegacyResponseOptions {
  /** Number of answers to come. */
  readonly expected: number;
  /** The answers are an array. */
  readonly isBatch: boolean;
  /** The client would rather have a stream, even for a single answer. */
  readonly isStreamed: boolean;
  /** The client knows that a stream may end before the answer, and comes back for it. */
  readonly comesBack: boolean;
  readonly heartbeat: Heartbeat;
  readonly headers?: readonly string[];
  readonly openChannel: () => ResumableStream;
  /** Everything is answered. */
  readonly ended: (reply: LegacyResponse) => void;
}

/** Response to a legacy POST: JSON, or a stream from the first message before the last answer on. */
export class LegacyResponse implements HeartbeatListener {
  readonly #res: OutgoingResponse;
  readonly #options: LegacyResponseOptions;
  readonly #number: number;
  readonly #lines: Line[] = [];
  #missing: number;
  #channel: ResumableStream | undefined;
  #isClosed = false;
  #beats = 0;

  constructor(res: OutgoingResponse, options: LegacyResponseOptions) {
    this.#res = res;
    this.#options = options;
    this.#missing = options.expected;
    this.#number = options.heartbeat.add(this);
    res.onClose(() => (this.#isClosed = true));
  }

  get isAwaited(): boolean {
    return this.#missing > 0 && this.isAttended;
  }

  /** Everything is answered. */
  get isOver(): boolean {
    return this.#missing === 0;
  }

  /** True while the client is connected, on this connection or on a later one. */
  get isAttended(): boolean {
    return this.#channel === undefined ? !this.#isClosed : this.#channel.isConnected;
  }

  /** Its client has left, and has nothing to come back to. */
  get isAbandoned(): boolean {
    return this.#isClosed && this.#channel === undefined;
  }

  send(line: Line): void {
    this.#open()?.push(line);
  }

  answer(line: Line): void {
    if (this.#missing === 0) return;
    if (this.#options.isStreamed) this.#open();
    this.#missing--;
    if (this.#channel === undefined) this.#lines.push(line);
    else this.#channel.push(line);
    if (this.#missing === 0) this.#end();
  }

  /** One answer will not come: its request was called off. */
  cancelOne(): void {
    if (this.#missing === 0) return;
    this.#missing--;
    if (this.#missing === 0) this.#end();
  }

  /** Ends the connection with the rest to come: its client is to come back for it. */
  release(pause: Pause): void {
    if (this.#options.comesBack) this.#open()?.suspend(pause);
  }

  beat(): void {
    if (this.#channel === undefined && ++this.#beats > STREAM_AFTER_BEATS) this.#open();
  }

  /** A client that left before it was given a stream has nothing to come back to. */
  #open(): ResumableStream | undefined {
    if (this.#channel !== undefined || this.#isClosed || this.#missing === 0) return this.#channel;
    this.#channel = this.#options.openChannel();
    this.#channel.attach(this.#res);
    for (const line of this.#lines) this.#channel.push(line);
    return this.#channel;
  }

  #end(): void {
    const { heartbeat, headers, ended, isBatch } = this.#options;
    heartbeat.remove(this.#number);
    ended(this);
    if (this.#channel !== undefined) return this.#channel.release();
    if (this.#isClosed) return;
    const [first] = this.#lines;
    if (first === undefined) respondEmpty(this.#res, 202);
    else respondJson(this.#res, 200, isBatch ? arrayOf(this.#lines) : first, headers);
  }
}

/** One request of a POST: what is said about it goes to the reply, and it can be called off by its id. */
export class PostedRequest implements Origin, Cancellable {
  readonly id: string;
  readonly #reply: LegacyResponse;
  readonly #peer: Peer;
  #served: Cancellable | undefined;
  #bytes = 0;

  constructor({ id }: Message, reply: LegacyResponse, peer: Peer) {
    this.id = id;
    this.#reply = reply;
    this.#peer = peer;
  }

  /** That of the session, which outlives the connection. */
  get account(): Account {
    return this.#peer.account;
  }

  get bytes(): number {
    return this.#bytes;
  }

  get gone(): RpcError | undefined {
    return this.#reply.isAbandoned
      ? new RpcError(
          RpcErrorCode.UNAVAILABLE,
          'The client closed the connection on which Weir could have asked it.',
        )
      : undefined;
  }

  /** Sends messages after the last answer, such as the cancellation of a question, on the stream of the session. */
  send(line: Line): void {
    if (this.#reply.isOver) this.#peer.send(line);
    else this.#reply.send(line);
  }

  answer(line: Line): void {
    this.#reply.answer(line);
  }

  /** Its server wants the client to come back for the answer. */
  release(pause: Pause): void {
    this.#reply.release(pause);
  }

  track(served: Cancellable): number {
    this.#served = served;
    this.#bytes = served.bytes ?? 0;
    return this.#peer.track(this);
  }

  untrack(ticket: number): void {
    this.#served = undefined;
    this.#peer.untrack(ticket);
  }

  /** Ends the response without an answer, because the client expects none. */
  cancel(notice: Message): void {
    this.#served?.cancel(notice);
    this.#reply.cancelOne();
  }

  abandon(reason: string): void {
    this.#served?.abandon(reason);
    this.answer(errorLine(this.id, new RpcError(RpcErrorCode.UNAVAILABLE, reason)));
  }
}

function arrayOf(lines: readonly Line[]): Line {
  const parts: (string | Buffer)[] = [];
  for (const line of lines)
    parts.push(parts.length === 0 ? '[' : ',', ...(typeof line === 'string' ? [line] : line));
  return [...parts, ']'];
}
