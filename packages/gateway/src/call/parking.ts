import { lackingFor } from '../bridge/capabilities.ts';
import { objectOf } from '../bridge/objects.ts';
import { firstTryOf, readRetry, roundResult, type Question } from '../bridge/rounds.ts';
import { now as uptime } from '../clock.ts';
import { Messages, RpcError, RpcErrorCode } from '../errors.ts';
import type { Upstream } from '../upstream/upstream.ts';
import { resultLine } from '../wire/answer.ts';
import { stringValue } from '../wire/members.ts';
import type { Message } from '../wire/message.ts';
import { encode } from '../wire/splice.ts';
import { capabilitiesOf, type Caller } from './caller.ts';
import { fingerprint } from './fingerprint.ts';
import { OpenQuestions } from './open-questions.ts';
import type { Relayed } from './relay.ts';
import { RequestStates, type Bond, type Claim } from './request-state.ts';

/** How long a client may take to come back with the answers. */
const PATIENCE_MS = 10 * 60 * 1000;
/** What comes right after a question may be another one for the same round, its withdrawal, or the answer to the call. */
const GATHER_MS = 5;
/** Each holds up a call of its server. */
const MOST_PARKED = 1000;

/** A call whose server has asked something while it works. */
interface Parked {
  readonly call: Relayed;
  readonly number: number;
  readonly bond: Bond;
  readonly questions: OpenQuestions;
  /** The client has been told what to answer, and is expected back. */
  isAway: boolean;
  round: number;
  /** Until the questions are asked, then until they must be answered. */
  timer: NodeJS.Timeout | undefined;
}

/**
 * A server of the earlier revisions asks while it works on a call. A modern client cannot be asked: its call is answered
 * with the question and kept, and goes on when the client makes it again with the answer.
 */
export class Parking {
  readonly #now: () => number;
  readonly #states = new RequestStates();
  readonly #parked = new Map<number, Parked>();
  readonly #byCall = new WeakMap<Relayed, Parked>();
  #last = 0;

  constructor(now: () => number = uptime) {
    this.#now = now;
  }

  /** How many calls have been asked something and are not over. */
  get size(): number {
    return this.#parked.size;
  }

  /** Has the client of a call asked what its server wants to know; an error where it cannot be. */
  ask(call: Relayed, upstream: Upstream, message: Message): RpcError | undefined {
    const parked = this.#byCall.get(call) ?? this.#enter(call);
    if (parked === undefined)
      return new RpcError(RpcErrorCode.UNAVAILABLE, Messages.tooManyParked(MOST_PARKED));
    parked.questions.add(upstream, message);
    if (!parked.isAway) parked.timer ??= setTimeout(() => this.#park(parked), GATHER_MS);
    return undefined;
  }

  /** The round that sends a client to the addresses without which its call is not answered. Nothing waits for it here. */
  sendOff(questions: readonly Question[], request: Message, caller: Caller): string | RpcError {
    const lacking = lackingFor('elicitation/create', '{"mode":"url"}', capabilitiesOf(caller, request));
    if (lacking !== undefined) {
      const text = Messages.clientLacks('elicitation/create', lacking);
      const data = { requiredCapabilities: { elicitation: { url: {} } } };
      return new RpcError(RpcErrorCode.MISSING_CAPABILITY, text, data);
    }
    const claim = { number: 0, round: questions.length, expires: this.#deadline() };
    const state = this.#states.sign(claim, bondOf(request, caller));
    return roundResult({ questions, state: encode(state) });
  }

  /** Goes on with the call that a client has come back for; otherwise the call to make anew, or why none can be. */
  resume(message: Message, caller: Caller): Message | RpcError | undefined {
    const retry = readRetry(message);
    // Answers to nothing that was asked here.
    if (retry.state === undefined) return firstTryOf(message);
    const claim = this.#states.read(retry.state);
    if (claim === undefined || claim.expires <= this.#now()) return stale();
    const back: Back = { message, caller, responses: retry.responses, state: retry.state, claim };
    return claim.number === 0 ? this.#callAnew(back) : this.#goOn(back);
  }

  /** Nobody will come back any more. */
  close(): void {
    for (const parked of this.#parked.values()) this.#giveUp(parked);
  }

  #enter(call: Relayed): Parked | undefined {
    const { caller, request } = call;
    if (caller === undefined || request === undefined || this.#parked.size >= MOST_PARKED) return undefined;
    const parked: Parked = {
      call,
      number: ++this.#last,
      bond: bondOf(request, caller),
      questions: new OpenQuestions(),
      isAway: false,
      round: 0,
      timer: undefined,
    };
    this.#parked.set(parked.number, parked);
    this.#byCall.set(call, parked);
    call.onOver(() => this.#remove(parked));
    return parked;
  }

  #park(parked: Parked): void {
    const { number, round, bond, questions, call } = parked;
    clearTimeout(parked.timer);
    parked.timer = undefined;
    if (questions.size === 0) return;
    const state = this.#states.sign({ number, round, expires: this.#deadline() }, bond);
    parked.isAway = true;
    parked.timer = setTimeout(() => this.#giveUp(parked), PATIENCE_MS).unref();
    call.park(resultLine(call.id, roundResult({ questions: questions.all(), state: encode(state) })));
  }

  #goOn({ message, caller, responses, state, claim }: Back): RpcError | undefined {
    const parked = this.#parked.get(claim.number);
    const isExpected = parked?.isAway === true && parked.round === claim.round;
    // What anyone can try costs least: the request is looked at last.
    if (!isExpected || !this.#states.isGenuine(state, claim, parked.bond)) return stale();
    if (!isSame(parked.bond, bondOf(message, caller))) return stale();
    parked.isAway = false;
    parked.round++;
    parked.call.takeUp(message, caller);
    for (const [key, text] of responses) parked.questions.answer(key, text);
    parked.call.deliver();
    if (this.#parked.has(parked.number)) this.#park(parked);
    return undefined;
  }

  #callAnew({ message, caller, responses, state, claim }: Back): Message | RpcError {
    if (!this.#states.isGenuine(state, claim, bondOf(message, caller))) return stale();
    const hasAgreed = [...responses.values()].every((text) => actionOf(text) === 'accept');
    return hasAgreed
      ? firstTryOf(message)
      : new RpcError(RpcErrorCode.UNAVAILABLE, Messages.notVisited(claim.round));
  }

  #giveUp({ call, questions }: Parked): void {
    const error = new RpcError(RpcErrorCode.UNAVAILABLE, Messages.clientStaysAway());
    questions.refuseAll(error);
    call.abandon(error.message);
  }

  #remove({ number, timer, questions }: Parked): void {
    clearTimeout(timer);
    this.#parked.delete(number);
    questions.refuseAll(new RpcError(RpcErrorCode.UNAVAILABLE, Messages.callIsOver()));
  }

  #deadline(): number {
    return Math.ceil(this.#now() + PATIENCE_MS);
  }
}

/** A client that has come back. */
interface Back {
  readonly message: Message;
  readonly caller: Caller;
  readonly responses: ReadonlyMap<string, string>;
  readonly state: string;
  readonly claim: Claim;
}

function bondOf(request: Message, { client: { identity } }: Caller): Bond {
  return { identity, fingerprint: fingerprint(request) };
}

function isSame(a: Bond, b: Bond): boolean {
  return a.identity === b.identity && a.fingerprint === b.fingerprint;
}

function actionOf(response: string): string | undefined {
  const members = objectOf(response);
  return members && stringValue(members, 'action');
}

function stale(): RpcError {
  return new RpcError(RpcErrorCode.INVALID_PARAMS, Messages.staleState());
}
