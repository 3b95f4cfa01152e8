import { RpcError, RpcErrorCode } from '../errors.ts';
import { Method } from '../protocol/methods.ts';
import type { Account } from '../wire/account.ts';
import { answerError, errorLine, resultLine } from '../wire/answer.ts';
import { findMember, valueText } from '../wire/json/members.ts';
import { replaceValue, splice, type Edit, type Line } from '../wire/json/splice.ts';
import type { Message } from '../wire/message.ts';
import type { Origin, Pause, Recipient, Cancellable, ResponseHandler } from '../wire/peer.ts';
import type { Caller } from './client-request.ts';
import type { FinalStatus } from './history/invocation.ts';
import { levelAskedBy } from './log-levels.ts';

/** The way of one request from one peer to another. */
export interface Hop {
  readonly from: Origin;
  readonly to: Recipient;
  /** The key of the receiving server, for errors; undefined for a client. */
  readonly serverKey?: string;
  readonly translation: Translation;
  readonly observer?: CallObserver | undefined;
  /** The client whose request it is; a server's own question has none. */
  readonly caller?: Caller;
  /** The least log level that the request asks for. */
  readonly logLevel?: string | undefined;
  /** The request, kept where the eras differ: a later round needs it again. */
  readonly request?: Message | undefined;
  /** Sends the request anew after its server was lost. */
  readonly resend?: Resend | undefined;
}

export interface Resend {
  /** Bytes of the request, which is kept until the answer arrives. */
  readonly bytes: number;
  /** `error` is the answer where the request cannot be sent anew. */
  send(error: RpcError): void;
}

/** The changes that a request and its response need on one hop, besides their ids. */
export interface Translation {
  /** `token` is the progress token of this hop, where progress is wanted. */
  request(message: Message, token: number | undefined): Edit[];
  /** Returns the edits, the error to answer with instead, or TAKEN where the response is a question and the call goes on. */
  response?(response: Message, call: InFlightRequest): Edit[] | RpcError | typeof TAKEN | undefined;
  /** Withdraws the questions to the client that are open between two rounds. */
  stop?(): void;
}

/** Follows one call: its history record, its permit, the release of its instance, a trace. */
export interface CallObserver {
  /** Asks the server for progress also where the client does not. */
  readonly wantsProgress?: boolean;
  sent?(): void;
  answered?(response: Message): void;
  progressed?(): void;
  /** Something other than the server's work is waited for. */
  paused?(pause?: CallPause): void;
  resumed?(pause?: CallPause): void;
  /** `error` is the gateway's own, where the server gave none. */
  ended?(outcome: CallOutcome, error?: RpcError): void;
}

/** A call that may not be the one that waits keeps its place at the server; only its clock stops. */
export interface CallPause {
  readonly keepsPlace: boolean;
}

export type CallOutcome = FinalStatus | 'retried';

/** A response that did not end the call. */
export const TAKEN: unique symbol = Symbol('taken');

const MIB = 1024 * 1024;

/** Sends a request under an id of this hop. The response, progress and errors go back to its origin. */
export function relay(message: Message, hop: Hop): void {
  accept(message, hop)?.send(message);
}

/** Returns a request that can be sent; one that cannot is answered with the reason. */
export function accept(message: Message, hop: Hop): InFlightRequest | undefined {
  const refusal = refusalOf(hop);
  if (refusal === undefined) return new InFlightRequest(message, hop);
  hop.observer?.ended?.('error', refusal);
  answerError(hop.from, message.id, refusal);
  return undefined;
}

function refusalOf({ to, serverKey }: Pick<Hop, 'to' | 'serverKey'>): RpcError | undefined {
  return to.gone ?? (to.isBehind ? notReading(serverKey, to.account) : undefined);
}

function notReading(serverKey: string | undefined, { peerBytes }: Account): RpcError {
  const name = serverKey === undefined ? 'The client' : `Server '${serverKey}'`;
  return new RpcError(
    RpcErrorCode.UNAVAILABLE,
    `${name} is not reading: ${Math.ceil(peerBytes / MIB)} MiB are queued for it. Send less at once or try again; if it does not recover, restart it.`,
  );
}

/** A request between two peers, until it is answered, cancelled or lost. */
export class InFlightRequest implements ResponseHandler, Cancellable {
  readonly #hop: Hop;
  id: string;
  /** The progress token of its client, as JSON. */
  token: string | undefined;
  caller: Caller | undefined;
  /** The receiver of the answer; undefined while the client has been asked something instead. */
  origin: Origin | undefined;
  /** The request, kept where a later round needs it again. */
  request: Message | undefined;
  logLevel: string | undefined;
  #ticket: number;
  /** The id under which it was sent; 0 while no server works on it. */
  #sentId = 0;
  /** Delivers an answer that came while no request of the client waited for it. */
  #kept: (() => void) | undefined;
  #onOver: (() => void) | undefined;
  /** Number of questions that it waits for, as far as that is known. */
  #questions = 0;

  constructor({ id, meta }: Message, hop: Hop) {
    this.#hop = hop;
    this.id = id;
    this.token = meta && valueText(meta, 'progressToken');
    this.caller = hop.caller;
    this.origin = hop.from;
    this.request = hop.request;
    this.logLevel = hop.logLevel;
    this.#ticket = hop.from.track(this);
  }

  get bytes(): number {
    const kept = this.request?.bytes.length ?? this.#hop.resend?.bytes ?? 0;
    return (this.token?.length ?? 0) + kept;
  }

  /** True where it counts as one that waits for its client. */
  get awaitsClient(): boolean {
    return this.#questions > 0;
  }

  /** Higher for later requests. */
  get number(): number {
    return this.#sentId;
  }

  send(message: Message): void {
    const { to, translation, observer } = this.#hop;
    const { bytes, id, idAt } = message;
    this.#sentId = to.onResponse(this);
    observer?.sent?.();
    const hearsProgress = this.token !== undefined || observer?.wantsProgress === true;
    const edits = translation.request(message, hearsProgress ? this.#sentId : undefined);
    edits.push({ start: idAt, end: idAt + id.length, text: String(this.#sentId) });
    to.send(splice(bytes, edits));
  }

  /** Sends the next round, after the last response was taken for a question. */
  again(message: Message): void {
    const refusal = refusalOf(this.#hop);
    if (refusal !== undefined) return this.lost(refusal);
    this.#hop.observer?.resumed?.();
    this.send(message);
  }

  answered(response: Message): void {
    const { translation, observer } = this.#hop;
    this.#sentId = 0;
    observer?.answered?.(response);
    const edits = translation.response?.(response, this) ?? [];
    if (edits === TAKEN) return observer?.paused?.();
    if (edits instanceof RpcError) return this.lost(edits);
    const code = response.isError ? errorCode(response) : undefined;
    this.#finish((id) => {
      edits.push({ start: response.idAt, end: response.idAt + response.id.length, text: id });
      return splice(response.bytes, edits);
    }, code);
  }

  progressed({ bytes, params }: Message): void {
    this.#hop.observer?.progressed?.();
    if (this.token === undefined || params === undefined) return;
    const edit = replaceValue(params, findMember(params, 'progressToken'), this.token);
    this.origin?.send(splice(bytes, [edit]));
  }

  suspended(pause: Pause): void {
    this.origin?.release?.(pause);
  }

  lost(error: RpcError): void {
    this.#sentId = 0;
    const { resend, to } = this.#hop;
    if (resend === undefined || this.origin === undefined || to.gone === undefined)
      return this.#finish((id) => errorLine(id, error), error.code, error);
    this.#leave();
    this.#over('retried');
    resend.send(error);
  }

  /** Ends it with a result of the gateway's own. */
  end(result: string): void {
    this.#finish((id) => resultLine(id, result));
  }

  /** Answers the client with something that is not the end; the call waits until the client comes back. */
  suspend(line: Line): void {
    const origin = this.#leave();
    this.#hop.observer?.paused?.();
    origin?.answer(line);
  }

  /** Goes on under another request, with which the client has come back. */
  resume(message: Message, caller: Caller): void {
    const { id, meta } = message;
    this.id = id;
    this.token = meta && valueText(meta, 'progressToken');
    this.request = message;
    this.logLevel = levelAskedBy(message);
    this.caller = caller;
    this.origin = caller.origin;
    this.#ticket = caller.origin.track(this);
    this.#hop.observer?.resumed?.();
  }

  /** Counts a question whose answer its server needs first. */
  pause(pause: CallPause): void {
    if (!pause.keepsPlace) this.#questions++;
    this.#hop.observer?.paused?.(pause);
  }

  unpause(pause: CallPause): void {
    if (!pause.keepsPlace) this.#questions--;
    this.#hop.observer?.resumed?.(pause);
  }

  /** Gives the answer that came while the client was away, if one did. */
  deliver(): void {
    this.#kept?.();
  }

  /** Calls `listener` once it is answered or cancelled. */
  onOver(listener: () => void): void {
    this.#onOver = listener;
  }

  cancel({ bytes, params }: Message): void {
    this.#abort((sentId) => {
      if (params === undefined) return;
      // The client's reason may be long, and is kept until the server reads it.
      if (this.#hop.to.isBehind) return this.#tellCancelled(sentId, 'The client cancelled the request');
      const edit = replaceValue(params, findMember(params, 'requestId'), String(sentId));
      this.#hop.to.send(splice(bytes, [edit]));
    });
  }

  abandon(reason: string): void {
    this.#abort((sentId) => this.#tellCancelled(sentId, reason));
  }

  /** Ends it without an answer. Writes the cancellation before the permit is free, because the next call must not overtake it. */
  #abort(tell: (sentId: number) => void): void {
    const sentId = this.#withdraw();
    this.#leave();
    if (sentId !== 0) tell(sentId);
    this.#over('cancelled');
  }

  /** Cancels it on the gateway's own account; the client gets the error. */
  revoke(error: RpcError, outcome: 'timeout' | 'cancelled'): void {
    const sentId = this.#withdraw();
    if (sentId !== 0) this.#tellCancelled(sentId, error.message);
    const origin = this.#leave();
    this.#over(outcome, error);
    origin?.answer(errorLine(this.id, error), error.code);
  }

  #tellCancelled(sentId: number, reason: string): void {
    this.#hop.to.notify(Method.CANCELLED, { requestId: sentId, reason });
  }

  #withdraw(): number {
    const sentId = this.#sentId;
    this.#sentId = 0;
    if (sentId === 0) this.#hop.translation.stop?.();
    else this.#hop.to.forget(sentId);
    return sentId;
  }

  /** Answers at once, or when its client has come back. */
  #finish(line: (id: string) => Line, code?: number, error?: RpcError): void {
    if (this.origin === undefined) {
      this.#kept = () => this.#finish(line, code, error);
      return;
    }
    const origin = this.#leave();
    this.#over(code === undefined ? 'success' : 'error', error);
    origin?.answer(line(this.id), code);
  }

  #over(outcome: CallOutcome, error?: RpcError): void {
    this.#hop.observer?.ended?.(outcome, error);
    this.#onOver?.();
  }

  #leave(): Origin | undefined {
    const origin = this.origin;
    this.origin = undefined;
    origin?.untrack(this.#ticket);
    return origin;
  }
}

function errorCode({ body }: Message): number {
  return Number(body && valueText(body, 'code'));
}
