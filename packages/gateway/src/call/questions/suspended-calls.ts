import { Texts, RpcError, RpcErrorCode } from '../../errors.ts';
import { missingCapability } from '../../protocol/capabilities.ts';
import { withoutRetryMembers, readRetry, roundResult, type Question } from '../../protocol/input-required.ts';
import { Method } from '../../protocol/methods.ts';
import type { Upstream } from '../../upstream/upstream.ts';
import { resultLine } from '../../wire/answer.ts';
import { stringValue } from '../../wire/json/members.ts';
import { objectOf } from '../../wire/json/objects.ts';
import { encode } from '../../wire/json/splice.ts';
import type { Message } from '../../wire/message.ts';
import { capabilitiesOf, type Caller } from '../client-request.ts';
import type { InFlightRequest } from '../relay.ts';
import { fingerprint } from '../request-fingerprint.ts';
import { OpenQuestions } from './open-questions.ts';
import { ROUND_TIMEOUT_MS, RequestStates, type SignedClaim } from './request-state.ts';
import { Unanswered } from './unanswered.ts';
import { UrlElicitations } from './url-elicitations.ts';

/** Waits for messages right after a question: another question joins the same round; a withdrawal or the response cancels it. */
const GATHER_MS = 5;
/** Each holds up a call of its server. */
const MOST_SUSPENDED = 1000;
/** Bytes of the requests of all suspended calls. Their clients wait for no response, so no account counts them. */
const MOST_SUSPENDED_BYTES = 64 * 1024 * 1024;
const TOO_MANY = `Too many calls are waiting for input from their clients: ${MOST_SUSPENDED} calls, or 64 MiB of arguments, are the maximum. Try again later.`;
const STALE_STATE =
  'This requestState is not valid: it expired, was used before, belongs to another client or request, or is from before a restart. Make the call again without it.';

/** A call whose server has asked something while it works. */
interface SuspendedCall extends SignedClaim {
  readonly call: InFlightRequest;
  readonly identity: string;
  /** Bytes of its request. */
  readonly bytes: number;
  readonly questions: OpenQuestions;
  /** The client has been told what to answer, and is expected back. */
  awaitsClient: boolean;
  round: number;
  /** Until the questions are asked, then until they must be answered. */
  timer: NodeJS.Timeout | undefined;
}

/**
 * A legacy server asks during a call, but a modern client takes no requests. So the gateway answers the call with the
 * question, suspends it, and resumes it when the client repeats it with the answer.
 */
export class SuspendedCalls {
  /** Calls whose clients are asked by requests, round by round; between two rounds no server has them. */
  readonly inRounds: Set<InFlightRequest> = new Set();
  /** The URL elicitations that each client was sent. */
  readonly elicitations: UrlElicitations = new UrlElicitations();
  readonly unanswered: Unanswered;
  readonly #states: RequestStates;
  readonly #suspended = new Map<number, SuspendedCall>();
  readonly #byCall = new WeakMap<InFlightRequest, SuspendedCall>();
  #last = 0;
  #bytes = 0;

  constructor(states: RequestStates = new RequestStates(), unanswered: Unanswered = new Unanswered()) {
    this.#states = states;
    this.unanswered = unanswered;
  }

  /** Number of unfinished calls whose server has asked something. */
  get size(): number {
    return this.#suspended.size;
  }

  /** Has the client of a call asked what its server wants to know; an error where it cannot be. `over` is called once the question is. */
  ask(call: InFlightRequest, upstream: Upstream, message: Message, over: () => void): RpcError | undefined {
    const suspended = this.#byCall.get(call) ?? this.#enter(call);
    if (suspended === undefined) {
      over();
      return new RpcError(RpcErrorCode.UNAVAILABLE, TOO_MANY);
    }
    suspended.questions.add(upstream, message, over);
    if (suspended.awaitsClient) this.unanswered.began(call);
    else suspended.timer ??= setTimeout(() => this.#suspend(suspended), GATHER_MS);
    return undefined;
  }

  /** The round that sends a client to the addresses without which its call is not answered. Nothing waits for it here. */
  urlElicitation(questions: readonly Question[], request: Message, caller: Caller): string | RpcError {
    const lacking = missingCapability(Method.ELICIT, '{"mode":"url"}', capabilitiesOf(caller, request));
    if (lacking !== undefined) {
      const text = Texts.clientLacks(Method.ELICIT, lacking);
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
    if (state === undefined) return withoutRetryMembers(message);
    const claim = this.#states.read(state, caller.client.identity);
    if (claim === undefined || !this.#isExpected(claim) || claim.fingerprint !== fingerprint(message))
      return new RpcError(RpcErrorCode.INVALID_PARAMS, STALE_STATE);
    const suspended = this.#suspended.get(claim.number);
    if (suspended === undefined) return afterVisit(message, claim, responses);
    this.#goOn(suspended, responses, () => suspended.call.resume(message, caller));
    return undefined;
  }

  /** Gives up the calls that wait for their client: no client can return after the end. */
  close(): void {
    for (const suspended of this.#suspended.values()) if (suspended.awaitsClient) this.#giveUp(suspended);
  }

  #enter(call: InFlightRequest): SuspendedCall | undefined {
    const { caller, request } = call;
    if (caller === undefined || request === undefined || this.#isFull(request)) return undefined;
    const suspended: SuspendedCall = {
      call,
      number: ++this.#last,
      identity: caller.client.identity,
      fingerprint: fingerprint(request),
      bytes: request.bytes.length,
      questions: new OpenQuestions(() => this.unanswered.over(call)),
      awaitsClient: false,
      round: 0,
      timer: undefined,
    };
    this.#suspended.set(suspended.number, suspended);
    this.#bytes += suspended.bytes;
    this.#byCall.set(call, suspended);
    call.onOver(() => this.#remove(suspended));
    return suspended;
  }

  #isFull({ bytes }: Message): boolean {
    return this.#suspended.size >= MOST_SUSPENDED || this.#bytes + bytes.length > MOST_SUSPENDED_BYTES;
  }

  #suspend(suspended: SuspendedCall): void {
    const { questions, call } = suspended;
    clearTimeout(suspended.timer);
    suspended.timer = undefined;
    if (questions.size === 0) return;
    suspended.awaitsClient = true;
    this.unanswered.began(call);
    suspended.timer = setTimeout(() => this.#giveUp(suspended), ROUND_TIMEOUT_MS).unref();
    call.suspend(resultLine(call.id, this.#roundOf(suspended, suspended.identity, questions.all())));
  }

  #roundOf(claim: SignedClaim, identity: string, questions: readonly Question[]): string {
    return roundResult({ questions, state: encode(this.#states.sign(claim, identity)) });
  }

  /** A state is good for the round that it was given out with. */
  #isExpected({ number, round }: SignedClaim): boolean {
    const suspended = this.#suspended.get(number);
    return number === 0 || (suspended?.awaitsClient === true && suspended.round === round);
  }

  #goOn(suspended: SuspendedCall, responses: ReadonlyMap<string, string>, resume: () => void): void {
    suspended.awaitsClient = false;
    this.unanswered.over(suspended.call);
    suspended.round++;
    resume();
    for (const [key, text] of responses) suspended.questions.answer(key, text);
    suspended.call.deliver();
    this.#suspend(suspended);
  }

  #giveUp({ call, questions }: SuspendedCall): void {
    const error = new RpcError(RpcErrorCode.UNAVAILABLE, 'The client did not repeat its call with an answer');
    questions.refuseAll(error);
    call.abandon(error.message);
  }

  #remove({ number, timer, bytes, questions }: SuspendedCall): void {
    clearTimeout(timer);
    if (this.#suspended.delete(number)) this.#bytes -= bytes;
    questions.refuseAll(
      new RpcError(RpcErrorCode.UNAVAILABLE, 'The call that this question belongs to has ended'),
    );
  }
}

/** The call to make anew, where the client has agreed to the visits without which it is not answered. */
function afterVisit(
  message: Message,
  { round: addresses }: SignedClaim,
  responses: ReadonlyMap<string, string>,
): Message | RpcError {
  const hasAgreed = [...responses.values()].every((text) => actionOf(text) === 'accept');
  return hasAgreed
    ? withoutRetryMembers(message)
    : new RpcError(RpcErrorCode.UNAVAILABLE, notVisited(addresses));
}

function actionOf(response: string): string | undefined {
  const members = objectOf(response);
  return members && stringValue(members, 'action');
}

function notVisited(addresses: number): string {
  const what = addresses === 1 ? 'an address' : `${addresses} addresses`;
  return `The server requires a visit to ${what} before the call, and the client did not accept. Make the call again to be asked again.`;
}
