import { readRetry, roundResult, type Question } from '../bridge/rounds.ts';
import { Messages, RpcError, RpcErrorCode } from '../errors.ts';
import type { Upstream } from '../upstream/upstream.ts';
import { errorLine, resultLine } from '../wire/answer.ts';
import type { Message } from '../wire/message.ts';
import { encode } from '../wire/splice.ts';
import type { Caller } from './caller.ts';
import type { Relayed } from './relay.ts';
import { fingerprint, RequestStates } from './request-state.ts';

/** How long a client may take to come back with the answers. */
const PATIENCE_MS = 10 * 60 * 1000;
/** Each holds up a call of its server. */
const MOST_PARKED = 1000;

interface Pending extends Question {
  readonly upstream: Upstream;
  /** The server's id for its question, as JSON. */
  readonly id: string;
  readonly ticket: number;
}

/** A call whose server has asked something while it works. */
interface Parked {
  readonly call: Relayed;
  readonly number: number;
  readonly identity: string;
  readonly fingerprint: string;
  readonly pending: Map<string, Pending>;
  isAway: boolean;
  round: number;
  timer: NodeJS.Timeout | undefined;
}

/**
 * A server of the earlier revisions asks while it works on a call. A modern client cannot be asked: its call is answered
 * with the question and kept, and goes on when the client makes it again with the answer.
 */
export class Parking {
  readonly #states = new RequestStates();
  readonly #parked = new Map<number, Parked>();
  readonly #byCall = new WeakMap<Relayed, Parked>();
  #last = 0;

  /** Has the client of a call asked what its server wants to know; an error where it cannot be. */
  ask(call: Relayed, upstream: Upstream, message: Message): RpcError | undefined {
    const parked = this.#byCall.get(call) ?? this.#enter(call);
    if (parked === undefined) return new RpcError(RpcErrorCode.UNAVAILABLE, Messages.tooManyParked(MOST_PARKED));
    const key = encode(`${message.method}#${++this.#last}`);
    const { params } = message;
    parked.pending.set(key, {
      key,
      method: message.method,
      params: params === undefined ? '{}' : message.bytes.toString('latin1', params.at, params.end),
      upstream,
      id: message.id,
      ticket: upstream.peer.serve({
        id: message.id,
        cancel: () => this.#withdraw(parked, key),
        abandon: () => this.#withdraw(parked, key),
      }),
    });
    if (!parked.isAway) this.#park(parked);
    return undefined;
  }

  /** Goes on with a call that was parked; an error where the request brings no state of ours, or of another request. */
  resume(message: Message, caller: Caller): RpcError | undefined {
    const retry = readRetry(message);
    const parked = retry && this.#find(retry.state, message, caller);
    if (retry === undefined || parked === undefined)
      return new RpcError(RpcErrorCode.INVALID_PARAMS, Messages.staleState());
    parked.isAway = false;
    parked.round++;
    clearTimeout(parked.timer);
    parked.call.takeUp(message, caller);
    for (const [key, text] of retry.responses) this.#answer(parked, key, (id) => resultLine(id, text));
    if (parked.call.deliver()) this.#remove(parked);
    else if (parked.pending.size > 0) this.#park(parked);
    return undefined;
  }

  #enter(call: Relayed): Parked | undefined {
    const { caller, request } = call;
    if (caller === undefined || request === undefined || this.#parked.size >= MOST_PARKED) return undefined;
    const parked: Parked = {
      call,
      number: ++this.#last,
      identity: caller.client.identity,
      fingerprint: fingerprint(request),
      pending: new Map(),
      isAway: false,
      round: 0,
      timer: undefined,
    };
    this.#parked.set(parked.number, parked);
    this.#byCall.set(call, parked);
    return parked;
  }

  #park(parked: Parked): void {
    const { number, round, identity, pending, call } = parked;
    const expires = Date.now() + PATIENCE_MS;
    const state = this.#states.sign({ number, round, expires, identity, fingerprint: parked.fingerprint });
    parked.isAway = true;
    parked.timer = setTimeout(() => this.#giveUp(parked), PATIENCE_MS).unref();
    call.park(resultLine(call.id, roundResult({ questions: [...pending.values()], state: encode(state) })));
  }

  #find(state: string, message: Message, { client: { identity } }: Caller): Parked | undefined {
    const claim = this.#states.read(state);
    const parked = claim && this.#parked.get(claim.number);
    if (claim === undefined || parked === undefined || !parked.isAway) return undefined;
    const isSame = parked.identity === identity && parked.fingerprint === fingerprint(message);
    const isGenuine = isSame && this.#states.isGenuine(state, { ...claim, identity, fingerprint: parked.fingerprint });
    return isGenuine && claim.round === parked.round && claim.expires > Date.now() ? parked : undefined;
  }

  #answer(parked: Parked, key: string, line: (id: string) => ReturnType<typeof resultLine>): void {
    const pending = parked.pending.get(key);
    if (pending === undefined) return;
    this.#withdraw(parked, key);
    pending.upstream.peer.send(line(pending.id));
  }

  #withdraw(parked: Parked, key: string): void {
    const pending = parked.pending.get(key);
    parked.pending.delete(key);
    if (pending !== undefined) pending.upstream.peer.served(pending.ticket);
  }

  #giveUp(parked: Parked): void {
    const error = new RpcError(RpcErrorCode.UNAVAILABLE, Messages.clientStaysAway());
    for (const key of parked.pending.keys()) this.#answer(parked, key, (id) => errorLine(id, error));
    this.#remove(parked);
    parked.call.abandon(error.message);
  }

  #remove(parked: Parked): void {
    clearTimeout(parked.timer);
    this.#parked.delete(parked.number);
  }
}
