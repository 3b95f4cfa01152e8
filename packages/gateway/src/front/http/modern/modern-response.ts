import { RpcErrorCode, type RpcError } from '../../../errors.ts';
import { Method, hasNamedTarget } from '../../../protocol/methods.ts';
import type { Account } from '../../../wire/account.ts';
import { errorLine } from '../../../wire/answer.ts';
import type { Line } from '../../../wire/json/splice.ts';
import type { Message } from '../../../wire/message.ts';
import type { Origin, Cancellable } from '../../../wire/peer.ts';
import { EventStream } from '../event-stream.ts';
import type { HeartbeatListener, Heartbeat } from '../heartbeat.ts';
import { respondJson } from '../respond.ts';
import type { OutgoingResponse } from '../server/outgoing-response.ts';

/** Beats after which a pending answer becomes a stream, so that proxies do not time out. */
const STREAM_AFTER_BEATS = 15;

/** Bytes of a request that are not charged: a connection has one in flight, so small ones do not add up. */
const UNCHARGED_BYTES = 4096;

/** One request of the modern era: a JSON answer, or a stream from the first word that precedes it. */
export class ModernResponse implements Origin, HeartbeatListener {
  readonly #id: string;
  readonly #method: string;
  readonly #res: OutgoingResponse;
  readonly #heartbeat: Heartbeat;
  readonly #number: number;
  #served: Cancellable | undefined;
  #stream: EventStream | undefined;
  /** Bytes of the request that are charged while it is in flight. */
  #kept = 0;
  #isOver = false;
  #beats = 0;

  constructor({ id, method }: Message, res: OutgoingResponse, heartbeat: Heartbeat) {
    this.#id = id;
    this.#method = method;
    this.#res = res;
    this.#heartbeat = heartbeat;
    this.#number = heartbeat.add(this);
    res.onClose(() => this.#closed());
  }

  /** A modern client is its connection. */
  get account(): Account {
    return this.#res.connection.account;
  }

  /** A client that listens waits for news, not for an answer. */
  get isAwaited(): boolean {
    return !this.#isOver && this.#method !== Method.LISTEN;
  }

  send(line: Line): void {
    if (!this.#isOver) this.#open().event(line);
  }

  answer(line: Line, errorCode?: number): void {
    if (this.#isOver) return;
    this.#finish();
    if (this.#stream === undefined) return respondJson(this.#res, statusOf(errorCode, this.#method), line);
    this.#stream.event(line);
    this.#stream.end();
  }

  track(served: Cancellable): number {
    this.#served = served;
    this.#kept = keptOf(served);
    if (this.#kept > 0) this.account.charge(this.#kept);
    return 0;
  }

  untrack(): void {
    this.#served = undefined;
    if (this.#kept > 0) this.account.release(this.#kept);
    this.#kept = 0;
  }

  /** Ends it from our side: the call is called off, the client hears why. */
  stop(error: RpcError): void {
    if (this.#isOver) return;
    this.#served?.abandon(error.message);
    this.answer(errorLine(this.#id, error), error.code);
  }

  beat(): void {
    if (this.#stream !== undefined) this.#stream.beat();
    else if (++this.#beats > STREAM_AFTER_BEATS) this.#open().comment();
  }

  #open(): EventStream {
    this.#stream ??= new EventStream(this.#res);
    return this.#stream;
  }

  /** A client that hangs up has called off its request. */
  #closed(): void {
    if (this.#isOver) return;
    this.#finish();
    this.#served?.abandon('The client has closed the response stream');
  }

  #finish(): void {
    this.#isOver = true;
    this.#heartbeat.remove(this.#number);
  }
}

function keptOf({ bytes = 0 }: Cancellable): number {
  return bytes > UNCHARGED_BYTES ? bytes : 0;
}

/** Errors travel with success, but for those that the protocol gives a status. */
function statusOf(code: number | undefined, method: string): number {
  if (code === RpcErrorCode.METHOD_NOT_FOUND) return hasNamedTarget(method) ? 200 : 404;
  return code === RpcErrorCode.MISSING_CAPABILITY ? 400 : 200;
}
