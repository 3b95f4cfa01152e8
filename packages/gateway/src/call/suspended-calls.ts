import { lackingFor } from '../bridge/capabilities.ts';
import { objectOf } from '../bridge/objects.ts';
import { firstTryOf, readRetry, roundResult, type Question } from '../bridge/rounds.ts';
import { Messages, RpcError, RpcErrorCode } from '../errors.ts';
import type { Upstream } from '../upstream/upstream.ts';
import { resultLine } from '../wire/answer.ts';
import { stringValue } from '../wire/members.ts';
import type { Message } from '../wire/message.ts';
import { encode } from '../wire/splice.ts';
import { capabilitiesOf, type Caller } from './caller.ts';
import { Elicitations } from './elicitations.ts';
import { fingerprint } from './fingerprint.ts';
import { OpenQuestions } from './open-questions.ts';
import type { Relayed } from './relay.ts';
import { PATIENCE_MS, RequestStates, type Claim } from './request-state.ts';
import { Unanswered } from './unanswered.ts';

/** What comes right after a question may be another one for the same round, its withdrawal, or the answer to the call. */
const GATHER_MS = 5;
/** Each holds up a call of its server. */
const MOST_PARKED = 1000;
/** Bytes of the requests of all parked calls. Their clients have left, so that no account could count them. */
const MOST_PARKED_BYTES = 64 * 1024 * 1024;

/** A call whose server has asked something while it works. */
interface Parked extends Claim {
  readonly call: Relayed;
  readonly identity: string;
  /** Bytes of its request. */
  readonly bytes: number;
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
export class SuspendedCalls {
  /** Calls whose clients are asked by requests, round by round; between two rounds no server has them. */
  readonly inRounds: Set<Relayed> = new Set();
  /** Which client was sent to which address. */
  readonly elicitations: Elicitations = new Elicitations();
  readonly unanswered: Unanswered;
  readonly #states: RequestStates;
  readonly #parked = new Map<number, Parked>();
  readonly #byCall = new WeakMap<Relayed, Parked>();
  #last = 0;
  #bytes = 0;

  constructor(states: RequestStates = new RequestStates(), unanswered: Unanswered = new Unanswered()) {
    this.#states = states;
    this.unanswered = unanswered;
  }

  /** How many calls have been asked something and are not over. */
  get size(): number {
    return this.#parked.size;
  }

  /** Has the client of a call asked what its server wants to know; an error where it cannot be. `over` is called once the question is. */
  ask(call: Relayed, upstream: Upstream, message: Message, over: () => void): RpcError | undefined {
    const parked = this.#byCall.get(call) ?? this.#enter(call);
    if (parked === undefined) {
      over();
      return new RpcError(RpcErrorCode.UNAVAILABLE, Messages.tooManyParked(MOST_PARKED));
    }
    parked.questions.add(upstream, message, over);
    if (parked.isAway) this.unanswered.began(call);
    else parked.timer ??= setTimeout(() => this.#park(parked), GATHER_MS);
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
    const claim = { number: 0, round: questions.length, fingerprint: fingerprint(request) };
    return this.#roundOf(claim, caller.client.identity, questions);
  }

  /** Goes on with the call that a client has come back for; otherwise the call to make anew, or why none can be. */
  resume(message: Message, caller: Caller): Message | RpcError | undefined {
    const { state, responses } = readRetry(message);
    // Answers to nothing that was asked here.
    if (state === undefined) return firstTryOf(message);
    const claim = this.#states.read(state, caller.client.identity);
    if (claim === undefined || !this.#isExpected(claim) || claim.fingerprint !== fingerprint(message))
      return new RpcError(RpcErrorCode.INVALID_PARAMS, Messages.staleState());
    const parked = this.#parked.get(claim.number);
    if (parked === undefined) return afterVisit(message, claim, responses);
    this.#goOn(parked, responses, () => parked.call.takeUp(message, caller));
    return undefined;
  }

  /** Nobody will come back any more. */
  close(): void {
    for (const parked of this.#parked.values()) if (parked.isAway) this.#giveUp(parked);
  }

  #enter(call: Relayed): Parked | undefined {
    const { caller, request } = call;
    if (caller === undefined || request === undefined || this.#isFull(request)) return undefined;
    const parked: Parked = {
      call,
      number: ++this.#last,
      identity: caller.client.identity,
      fingerprint: fingerprint(request),
      bytes: request.bytes.length,
      questions: new OpenQuestions(() => this.unanswered.over(call)),
      isAway: false,
      round: 0,
      timer: undefined,
    };
    this.#parked.set(parked.number, parked);
    this.#bytes += parked.bytes;
    this.#byCall.set(call, parked);
    call.onOver(() => this.#remove(parked));
    return parked;
  }

  #isFull({ bytes }: Message): boolean {
    return this.#parked.size >= MOST_PARKED || this.#bytes + bytes.length > MOST_PARKED_BYTES;
  }

  #park(parked: Parked): void {
    const { questions, call } = parked;
    clearTimeout(parked.timer);
    parked.timer = undefined;
    if (questions.size === 0) return;
    parked.isAway = true;
    this.unanswered.began(call);
    parked.timer = setTimeout(() => this.#giveUp(parked), PATIENCE_MS).unref();
    call.park(resultLine(call.id, this.#roundOf(parked, parked.identity, questions.all())));
  }

  #roundOf(claim: Claim, identity: string, questions: readonly Question[]): string {
    return roundResult({ questions, state: encode(this.#states.sign(claim, identity)) });
  }

  /** A state is good for the round that it was given out with. */
  #isExpected({ number, round }: Claim): boolean {
    const parked = this.#parked.get(number);
    return number === 0 || (parked?.isAway === true && parked.round === round);
  }

  #goOn(parked: Parked, responses: ReadonlyMap<string, string>, takeUp: () => void): void {
    parked.isAway = false;
    this.unanswered.over(parked.call);
    parked.round++;
    takeUp();
    for (const [key, text] of responses) parked.questions.answer(key, text);
    parked.call.deliver();
    this.#park(parked);
  }

  #giveUp({ call, questions }: Parked): void {
    const error = new RpcError(RpcErrorCode.UNAVAILABLE, Messages.clientStaysAway());
    questions.refuseAll(error);
    call.abandon(error.message);
  }

  #remove({ number, timer, bytes, questions }: Parked): void {
    clearTimeout(timer);
    if (this.#parked.delete(number)) this.#bytes -= bytes;
    questions.refuseAll(new RpcError(RpcErrorCode.UNAVAILABLE, Messages.callIsOver()));
  }
}

/** The call to make anew, where the client has agreed to the visits without which it is not answered. */
function afterVisit(
  message: Message,
  { round: addresses }: Claim,
  responses: ReadonlyMap<string, string>,
): Message | RpcError {
  const hasAgreed = [...responses.values()].every((text) => actionOf(text) === 'accept');
  return hasAgreed
    ? firstTryOf(message)
    : new RpcError(RpcErrorCode.UNAVAILABLE, Messages.notVisited(addresses));
}

function actionOf(response: string): string | undefined {
  const members = objectOf(response);
  return members && stringValue(members, 'action');
}
