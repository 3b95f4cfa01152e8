import type { RpcError } from '../errors.ts';
import type { Edit } from '../wire/json/splice.ts';
import type { Message } from '../wire/message.ts';
import type { Origin, Recipient } from '../wire/peer.ts';
import type { Caller } from './client-request.ts';
import type { Hop, Outcome, InFlightRequest, Rest, TAKEN } from './relay.ts';

/** A hop about which one thing is different. */
export class HopAround implements Hop {
  readonly #hop: Hop;

  constructor(hop: Hop) {
    this.#hop = hop;
  }

  get from(): Origin {
    return this.#hop.from;
  }

  get to(): Recipient {
    return this.#hop.to;
  }

  get caller(): Caller {
    return this.#hop.caller as Caller;
  }

  get logLevel(): string | undefined {
    return this.#hop.logLevel;
  }

  get request(): Message | undefined {
    return this.#hop.request;
  }

  get repeatableBytes(): number | undefined {
    return this.#hop.repeatableBytes;
  }

  get name(): string {
    return this.#hop.name;
  }

  edits(message: Message, token: number | undefined): Edit[] {
    return this.#hop.edits(message, token);
  }

  adapt(answer: Message, call: InFlightRequest): Edit[] | RpcError | typeof TAKEN | undefined {
    return this.#hop.adapt?.(answer, call);
  }

  progressed(): void {
    this.#hop.progressed?.();
  }

  paused(rest?: Rest): void {
    this.#hop.paused?.(rest);
  }

  resumed(rest?: Rest): void {
    this.#hop.resumed?.(rest);
  }

  retry(error: RpcError): (() => void) | undefined {
    return this.#hop.retry?.(error);
  }

  calledOff(): void {
    this.#hop.calledOff?.();
  }

  ended(outcome: Outcome, error?: RpcError): void {
    this.#hop.ended?.(outcome, error);
  }
}
