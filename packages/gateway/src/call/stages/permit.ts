import type { RpcError } from '../../errors.ts';
import type { Timers } from '../../time/schedule.ts';
import type { Edit } from '../../wire/json/splice.ts';
import type { Message } from '../../wire/message.ts';
import type { ClientRequest } from '../client-request.ts';
import { HopAround } from '../hop-around.ts';
import { accept, relay, TAKEN, type Hop, type Outcome, type InFlightRequest, type Rest } from '../relay.ts';
import { CallClock } from './call-clock.ts';
import type { CallQueue } from './call-queue.ts';

/** How long a call may take, and what it is told then. */
export interface TimeLimit {
  readonly milliseconds: number;
  /** The error for a call that took longer than this many milliseconds. */
  exceeded(milliseconds: number): RpcError;
}

const AWAY: Rest = { keepsPlace: false };

/** Sends a call on, with what it was permitted where calls are limited. */
export function relayPermitted({ message, permit }: ClientRequest, hop: Hop): InFlightRequest | undefined {
  return permit === undefined ? relay(message, hop) : permit.relay(message, hop);
}

/** What a call is under way with: its place among those of its server, and its time. */
export class Permit {
  readonly #queue: CallQueue | undefined;
  readonly #limit: TimeLimit | undefined;
  readonly #timers: Timers;
  #clock: CallClock | undefined;
  /** How many things stop its clock, and how many of them leave its place to others. */
  #rests = 0;
  #absences = 0;
  #isOver = false;

  constructor(queue: CallQueue | undefined, limit: TimeLimit | undefined, timers: Timers) {
    this.#queue = queue;
    this.#limit = limit;
    this.#timers = timers;
  }

  relay(message: Message, hop: Hop): InFlightRequest | undefined {
    const permitted = new PermittedHop(hop, this);
    const call = accept(message, permitted);
    if (call === undefined) return undefined;
    if (this.#limit !== undefined) permitted.hearProgressOf(call);
    call.send(message);
    this.#time(call);
    return call;
  }

  progressed(): void {
    this.#clock?.extend();
  }

  /** Somebody else has to do something first: the place is given to another call, and the clock stands. */
  rest({ keepsPlace }: Rest = AWAY): void {
    if (this.#isOver) return;
    if (this.#rests++ === 0) this.#clock?.rest();
    if (!keepsPlace && this.#absences++ === 0) this.#queue?.release();
  }

  goOn({ keepsPlace }: Rest = AWAY): void {
    if (this.#isOver || this.#rests === 0) return;
    if (!keepsPlace && --this.#absences === 0) this.#queue?.take();
    if (--this.#rests === 0) this.#clock?.run();
  }

  over(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#clock?.rest();
    if (this.#absences === 0) this.#queue?.release();
  }

  #time(call: InFlightRequest): void {
    const limit = this.#limit;
    if (limit === undefined || this.#isOver) return;
    this.#clock = new CallClock(limit.milliseconds, this.#timers, (milliseconds) =>
      call.revoke(limit.exceeded(milliseconds), 'timeout'),
    );
    if (this.#rests === 0) this.#clock.run();
  }
}

class PermittedHop extends HopAround {
  readonly #permit: Permit;
  #isBetweenRounds = false;
  #heard: InFlightRequest | undefined;

  constructor(hop: Hop, permit: Permit) {
    super(hop);
    this.#permit = permit;
  }

  /** Wants to be told of progress also where the client does not. */
  hearProgressOf(call: InFlightRequest): void {
    this.#heard = call;
  }

  override edits(message: Message, token: number | undefined): Edit[] {
    if (this.#isBetweenRounds) this.#permit.goOn();
    this.#isBetweenRounds = false;
    return super.edits(message, token ?? this.#heard?.number);
  }

  /** An answer that was taken for a question leaves the server with nothing to do. */
  override adapt(answer: Message, call: InFlightRequest): Edit[] | RpcError | typeof TAKEN | undefined {
    const adapted = super.adapt(answer, call);
    if (adapted !== TAKEN) return adapted;
    this.#isBetweenRounds = true;
    this.#permit.rest();
    return adapted;
  }

  override progressed(): void {
    this.#permit.progressed();
  }

  override paused(rest?: Rest): void {
    this.#permit.rest(rest);
  }

  override resumed(rest?: Rest): void {
    this.#permit.goOn(rest);
  }

  override ended(outcome: Outcome, error?: RpcError): void {
    this.#permit.over();
    super.ended(outcome, error);
  }
}
