import { quoted, RpcError } from '../errors.ts';
import { askerEdits, mayAsk, namedQuestion } from '../protocol/asking-server.ts';
import { asksTooMuch, canEndInRound, crowded, readRound, type Question } from '../protocol/input-required.ts';
import { metaEdits } from '../protocol/translate-request.ts';
import { answerEdits } from '../protocol/translate-result.ts';
import { addressesFirst } from '../protocol/url-elicitation.ts';
import type { RegistryBuilder } from '../registry/registry.ts';
import { now } from '../time/clock.ts';
import type { Upstream } from '../upstream/upstream.ts';
import { findMember, type Members } from '../wire/json/members.ts';
import { decode, replaceValue, type Edit } from '../wire/json/splice.ts';
import type { Message } from '../wire/message.ts';
import type { Origin, Peer } from '../wire/peer.ts';
import type { ClientRequest, Caller } from './client-request.ts';
import type { Invocation } from './history/history.ts';
import { beginCall, endCall } from './history/record-call.ts';
import { levelAskedBy } from './log-levels.ts';
import { Rounds } from './questions/rounds.ts';
import type { SuspendedCalls } from './questions/suspended-calls.ts';
import { TAKEN, type Hop, type Outcome, type InFlightRequest } from './relay.ts';
import type { Directory, Target } from './resolve.ts';
import { uriEdits } from './uri-edits.ts';

/** The member of a request that says where it goes. */
export interface Address {
  readonly holder: (message: Message) => Members | undefined;
  readonly key: 'name' | 'uri' | 'taskId';
}

/** The hop from a client to one server, and back. It keeps no registry, and the request only where it may be needed again: a call may take long. */
export class CallTranslation implements Hop {
  readonly from: Origin;
  readonly to: Peer;
  readonly caller: Caller;
  readonly request: Message | undefined;
  readonly logLevel: string | undefined;
  readonly #upstream: Upstream;
  readonly #builder: RegistryBuilder;
  readonly #askerOf: Directory['askerOf'];
  readonly #suspendedCalls: SuspendedCalls;
  readonly #trace: Directory['trace'];
  readonly #method: string;
  readonly #address: Address | undefined;
  /** What the server calls it, as JSON. */
  readonly #name: string;
  /** What the client calls the resource that it asks for, and what its server does. */
  readonly #renamed: { readonly uri: string; readonly publicUri: string } | undefined;
  readonly #began: number;
  readonly #onEnded: (() => void) | undefined;
  /** The call, for the history; other requests have none. */
  readonly #invocation: Invocation | undefined;
  #rounds: Rounds | undefined;

  constructor(
    asked: ClientRequest,
    { upstream, publicUri, originalText }: Target,
    address?: Address,
    onEnded?: () => void,
  ) {
    const { caller, directory, message } = asked;
    this.from = caller.origin;
    this.to = upstream.peer;
    this.caller = caller;
    this.logLevel = caller.era === 'modern' ? levelAskedBy(message) : undefined;
    this.request = caller.era !== upstream.era && canEndInRound(message.method) ? message : undefined;
    this.#upstream = upstream;
    this.#builder = directory.builder;
    this.#askerOf = directory.askerOf;
    this.#suspendedCalls = directory.suspendedCalls;
    this.#trace = directory.trace;
    this.#method = message.method;
    this.#address = address;
    this.#name = originalText;
    this.#onEnded = onEnded;
    this.#invocation = beginCall(asked, upstream.serverKey, originalText);
    this.#renamed = publicUri === undefined ? undefined : { uri: decode(originalText), publicUri };
    this.#began = directory.trace === undefined ? 0 : now();
  }

  get name(): string {
    return `Server '${this.#upstream.serverKey}'`;
  }

  edits(message: Message, token: number | undefined): Edit[] {
    this.#invocation?.started();
    const edits = metaEdits(message, { from: this.caller, to: this.#upstream }, token);
    const holder = this.#address?.holder(message);
    if (holder !== undefined && this.#address !== undefined)
      edits.push(replaceValue(holder, findMember(holder, this.#address.key), this.#name));
    return edits;
  }

  adapt(answer: Message, call: InFlightRequest): Edit[] | RpcError | typeof TAKEN | undefined {
    this.#invocation?.answered(answer);
    const { era, serverKey } = this.#upstream;
    const renamesUris = this.#renamed !== undefined || this.#builder.uris.sharesUris(serverKey);
    const isSameEra = era === this.caller.era;
    const asks = isSameEra && (era === 'modern' || answer.isError) && mayAsk(answer);
    if (asks && answer.body !== undefined) {
      if (asksTooMuch(answer.body, answer.isError)) return crowded();
      if (answer.isError)
        this.#suspendedCalls.elicitations.began(serverKey, answer.body, this.caller.client.identity);
    }
    const asker = asks ? this.#askerOf(serverKey) : undefined;
    const isNamed = asker !== undefined;
    if (isSameEra && !renamesUris && !isNamed) return undefined;
    const question = this.#askBack(answer, call);
    if (question !== undefined) return question;
    const edits = isNamed
      ? askerEdits(answer, asker)
      : answerEdits(answer, this.#method, { from: era, to: this.caller.era });
    if (edits instanceof RpcError || !renamesUris) return edits;
    return [...edits, ...uriEdits(answer, (uri) => this.#publicUri(uri))];
  }

  #named(questions: readonly Question[]): readonly Question[] {
    const asker = this.#askerOf(this.#upstream.serverKey);
    return asker === undefined ? questions : questions.map((question) => namedQuestion(question, asker));
  }

  calledOff(): void {
    this.#rounds?.stop();
  }

  /** An answer may be a question in the way of the server's era; the client is asked in that of its own. */
  #askBack(answer: Message, call: InFlightRequest): RpcError | typeof TAKEN | undefined {
    if (call.request === undefined) return undefined;
    return this.caller.era === 'modern'
      ? this.#elicitUrls(answer, call.request, call)
      : this.#nextRound(answer, call.request, call);
  }

  #elicitUrls(answer: Message, request: Message, call: InFlightRequest): RpcError | typeof TAKEN | undefined {
    const addresses = addressesFirst(answer);
    if (addresses === undefined || addresses instanceof RpcError) return addresses;
    const result = this.#suspendedCalls.urlElicitation(this.#named(addresses), request, this.caller);
    if (result instanceof RpcError) return result;
    call.end(result);
    return TAKEN;
  }

  #nextRound(answer: Message, request: Message, call: InFlightRequest): RpcError | typeof TAKEN | undefined {
    const round = readRound(answer);
    if (round === undefined || round instanceof RpcError) return round;
    this.#rounds ??= this.#beginRounds(request, call);
    this.#rounds.next({ ...round, questions: this.#named(round.questions) }, call);
    return TAKEN;
  }

  #beginRounds(request: Message, call: InFlightRequest): Rounds {
    this.#suspendedCalls.inRounds.add(call);
    call.onOver(() => this.#suspendedCalls.inRounds.delete(call));
    return new Rounds(request, this.caller, this.to);
  }

  #publicUri(uri: string): string | undefined {
    if (this.#renamed?.uri === uri) return this.#renamed.publicUri;
    return this.#builder.uris.sharedUri(this.#upstream.serverKey, uri);
  }

  ended(outcome: Outcome, error?: RpcError): void {
    this.#onEnded?.();
    endCall(this.#invocation, outcome, error);
    if (this.#trace === undefined) return;
    const name = quoted(Buffer.from(this.#name, 'latin1').toString('utf8'));
    const milliseconds = (now() - this.#began).toFixed(1);
    const where = `on '${this.#upstream.serverKey}'`;
    this.#trace(
      `${`${quoted(this.#method)} ${name}`.trimEnd()} ${where}: ${outcome} after ${milliseconds} ms`,
    );
  }
}
