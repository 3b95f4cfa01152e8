import { RpcError, RpcErrorCode } from '../errors.ts';
import type { Account } from '../wire/account.ts';
import { answerError, errorLine, resultLine } from '../wire/answer.ts';
import { findMember, valueText } from '../wire/json/members.ts';
import { replaceValue, splice, type Edit, type Line } from '../wire/json/splice.ts';
import type { Message } from '../wire/message.ts';
import type { Origin, Pause, Recipient, Cancellable, ResponseHandler } from '../wire/peer.ts';
import type { Caller } from './client-request.ts';
import { levelAskedBy } from './log-levels.ts';

/** One hop of a request from one peer to another. */
export interface Hop {
  readonly from: Origin;
  readonly to: Recipient;
  /** The client whose request it is; a server's own question has none. */
  readonly caller?: Caller;
  /** The least level of logs that the request has asked for. */
  readonly logLevel?: string | undefined;
  /** The request, where it may be needed again: the eras differ. */
  readonly request?: Message | undefined;
  /** Bytes of a request that is kept beside `request`, to be made once more. */
  readonly repeatableBytes?: number | undefined;
  /** Who is asked, for errors. */
  readonly name: string;
  /** The edits that the request needs besides its id; `token` is the progress token of this hop, if one is wanted. */
  edits(message: Message, token: number | undefined): Edit[];
  /** The edits that the answer needs besides its id, the error to give instead, or that the hop has taken it over. */
  adapt?(answer: Message, call: InFlightRequest): Edit[] | RpcError | typeof TAKEN | undefined;
  /** Told that the server is at work. */
  progressed?(): void;
  /** Told that something other than the server's work is waited for, and that this is over. */
  paused?(rest?: Rest): void;
  resumed?(rest?: Rest): void;
  /** What is done in place of an answer that will not come, where the request may be made once more. */
  retry?(error: RpcError): (() => void) | undefined;
  /** Called off while nobody is asked for it. */
  calledOff?(): void;
  /** Told how the request ended, and the error where it is one of ours. */
  ended?(outcome: Outcome, error?: RpcError): void;
}

/** A call that is perhaps not the one which waits keeps its place at the server; only its clock stands. */
export interface Rest {
  readonly keepsPlace: boolean;
}

export type Outcome = 'result' | 'error' | 'timeout' | 'cancelled' | 'retried';

/** The answer was no end: the call goes on. */
export const TAKEN: unique symbol = Symbol('taken');

const MIB = 1024 * 1024;

/** Sends a request on under an id of its own. The answer, progress and errors find their way back to who asked. */
export function relay(message: Message, hop: Hop): InFlightRequest | undefined {
  return accept(message, hop)?.send(message);
}

/** A request that can be sent on; one that cannot is answered with why. */
export function accept(message: Message, hop: Hop): InFlightRequest | undefined {
  const refusal = refusalOf(hop);
  if (refusal === undefined) return new InFlightRequest(message, hop);
  hop.ended?.('error', refusal);
  answerError(hop.from, message.id, refusal);
  return undefined;
}

function refusalOf({ to, name }: Hop): RpcError | undefined {
  return to.gone ?? (to.isBehind ? notReading(name, to.account) : undefined);
}

function notReading(name: string, { peerBytes }: Account): RpcError {
  return new RpcError(
    RpcErrorCode.UNAVAILABLE,
    `${name} has yet to read ${Math.ceil(peerBytes / MIB)} MiB that wait for it. Send less at once or try again; if it has stopped reading, restart it.`,
  );
}

/** A request on its way, until it is answered, cancelled or lost. */
export class InFlightRequest implements ResponseHandler, Cancellable {
  readonly #hop: Hop;
  #id: string;
  #token: string | undefined;
  #caller: Caller | undefined;
  /** Where the answer goes; nobody waits for it while the client has been asked something in its place. */
  #origin: Origin | undefined;
  #request: Message | undefined;
  #logLevel: string | undefined;
  #ticket: number;
  /** The id under which it was sent on; 0 while it is not. */
  #sentId = 0;
  #kept: (() => void) | undefined;
  #onOver: (() => void) | undefined;
  /** How many questions it waits for, as far as that is known. */
  #questions = 0;

  constructor({ id, meta }: Message, hop: Hop) {
    this.#hop = hop;
    this.#id = id;
    this.#token = meta && valueText(meta, 'progressToken');
    this.#caller = hop.caller;
    this.#origin = hop.from;
    this.#request = hop.request;
    this.#logLevel = hop.logLevel;
    this.#ticket = hop.from.track(this);
  }

  get id(): string {
    return this.#id;
  }

  /** The progress token of its client, as JSON. */
  get token(): string | undefined {
    return this.#token;
  }

  get bytes(): number {
    const kept = this.#request?.bytes.length ?? this.#hop.repeatableBytes ?? 0;
    return (this.#token?.length ?? 0) + kept;
  }

  get caller(): Caller | undefined {
    return this.#caller;
  }

  /** Undefined while its client has been asked something, and nobody waits for it. */
  get origin(): Origin | undefined {
    return this.#origin;
  }

  get logLevel(): string | undefined {
    return this.#logLevel;
  }

  get request(): Message | undefined {
    return this.#request;
  }

  /** Whether it has been taken for one that waits for its client. */
  get awaitsClient(): boolean {
    return this.#questions > 0;
  }

  /** Later ones have higher numbers. */
  get number(): number {
    return this.#sentId;
  }

  send(message: Message): this {
    const { bytes, id, idAt } = message;
    this.#sentId = this.#hop.to.onResponse(this);
    const edits = this.#hop.edits(message, this.#token === undefined ? undefined : this.#sentId);
    edits.push({ start: idAt, end: idAt + id.length, text: String(this.#sentId) });
    this.#hop.to.send(splice(bytes, edits));
    return this;
  }

  /** Sends it on once more, after its answer was taken for a question. */
  again(message: Message): void {
    const refusal = refusalOf(this.#hop);
    if (refusal === undefined) this.send(message);
    else this.lost(refusal);
  }

  answered(answer: Message): void {
    this.#sentId = 0;
    const edits = this.#hop.adapt?.(answer, this) ?? [];
    if (edits === TAKEN) return;
    if (edits instanceof RpcError) return this.lost(edits);
    const code = answer.isError ? errorCode(answer) : undefined;
    this.#finish((id) => {
      edits.push({ start: answer.idAt, end: answer.idAt + answer.id.length, text: id });
      return splice(answer.bytes, edits);
    }, code);
  }

  progressed({ bytes, params }: Message): void {
    this.#hop.progressed?.();
    if (this.#token === undefined || params === undefined) return;
    const edit = replaceValue(params, findMember(params, 'progressToken'), this.#token);
    this.#origin?.send(splice(bytes, [edit]));
  }

  suspended(pause: Pause): void {
    this.#origin?.release?.(pause);
  }

  lost(error: RpcError): void {
    this.#sentId = 0;
    const retry = this.#origin && this.#hop.retry?.(error);
    if (retry !== undefined) return this.#handOver(retry);
    this.#finish((id) => errorLine(id, error), error.code, error);
  }

  /** Ends it with a result of our own. */
  end(result: string): void {
    this.#finish((id) => resultLine(id, result));
  }

  /** Answers its client with something that is not the end; until it is taken up again nobody waits for it. */
  suspend(line: Line): void {
    const origin = this.#leave();
    this.#hop.paused?.();
    origin?.answer(line);
  }

  /** The client has come back for it with another request. */
  resume(message: Message, caller: Caller): void {
    const { id, meta } = message;
    this.#id = id;
    this.#token = meta && valueText(meta, 'progressToken');
    this.#request = message;
    this.#logLevel = levelAskedBy(message);
    this.#caller = caller;
    this.#origin = caller.origin;
    this.#ticket = caller.origin.track(this);
    this.#hop.resumed?.();
  }

  /** Its server has to be told something before it can go on. */
  pause(rest: Rest): void {
    if (!rest.keepsPlace) this.#questions++;
    this.#hop.paused?.(rest);
  }

  unpause(rest: Rest): void {
    if (!rest.keepsPlace) this.#questions--;
    this.#hop.resumed?.(rest);
  }

  /** Gives the answer that came while nobody waited for it, if one did. */
  deliver(): void {
    this.#kept?.();
  }

  /** Told once it is answered or called off. */
  onOver(listener: () => void): void {
    this.#onOver = listener;
  }

  cancel({ bytes, params }: Message): void {
    const sentId = this.#forget();
    if (params === undefined || sentId === 0) return;
    // The client's reason may be long, and is kept until the server reads it.
    if (this.#hop.to.isBehind) return this.#callOff(sentId, 'The client has cancelled it');
    const edit = replaceValue(params, findMember(params, 'requestId'), String(sentId));
    this.#hop.to.send(splice(bytes, [edit]));
  }

  abandon(reason: string): void {
    this.#callOff(this.#forget(), reason);
  }

  /** Calls it off on our own account; whoever waits for it is told why. */
  revoke(error: RpcError, outcome: 'timeout' | 'cancelled'): void {
    this.#callOff(this.#withdraw(), error.message);
    const origin = this.#leave();
    this.#over(outcome, error);
    origin?.answer(errorLine(this.#id, error), error.code);
  }

  #callOff(sentId: number, reason: string): void {
    if (sentId !== 0) this.#hop.to.notify('notifications/cancelled', { requestId: sentId, reason });
  }

  #forget(): number {
    const sentId = this.#withdraw();
    this.#leave();
    this.#over('cancelled');
    return sentId;
  }

  #withdraw(): number {
    const sentId = this.#sentId;
    this.#sentId = 0;
    if (sentId === 0) this.#hop.calledOff?.();
    else this.#hop.to.forget(sentId);
    return sentId;
  }

  /** Somebody else sees to the answer. */
  #handOver(retry: () => void): void {
    this.#leave();
    this.#over('retried');
    retry();
  }

  /** Answers at once, or when its client has come back. */
  #finish(line: (id: string) => Line, code?: number, error?: RpcError): void {
    if (this.#origin === undefined) {
      this.#kept = () => this.#finish(line, code, error);
      return;
    }
    const origin = this.#leave();
    this.#over(code === undefined ? 'result' : 'error', error);
    origin?.answer(line(this.#id), code);
  }

  #over(outcome: Outcome, error?: RpcError): void {
    this.#hop.ended?.(outcome, error);
    this.#onOver?.();
  }

  #leave(): Origin | undefined {
    const origin = this.#origin;
    this.#origin = undefined;
    origin?.untrack(this.#ticket);
    return origin;
  }
}

function errorCode({ body }: Message): number {
  return Number(body && valueText(body, 'code'));
}
