import { RpcError } from '../errors.ts';
import { askerEdits, mayAsk, prefixQuestion } from '../protocol/asker-name.ts';
import {
  hasTooManyQuestions,
  tooManyQuestions,
  readRound,
  type Question,
} from '../protocol/input-required.ts';
import { metaEdits } from '../protocol/translate-request.ts';
import { answerEdits } from '../protocol/translate-result.ts';
import { requiredUrlQuestions } from '../protocol/url-elicitation.ts';
import type { RegistryBuilder } from '../registry/registry-builder.ts';
import type { Upstream } from '../upstream/upstream.ts';
import { findMember } from '../wire/json/members.ts';
import { decode, replaceValue, type Edit } from '../wire/json/splice.ts';
import type { Message } from '../wire/message.ts';
import type { Addressing } from './addressing.ts';
import type { Caller, ClientRequest } from './client-request.ts';
import { Rounds } from './questions/rounds.ts';
import type { SuspendedCalls } from './questions/suspended-calls.ts';
import { TAKEN, type InFlightRequest, type Translation } from './relay.ts';
import type { Target } from './resolve.ts';
import type { CallServices } from './snapshot.ts';
import { FolderTranslation } from './stages/roots-folder.ts';
import { mayEndInTask, TaskTranslation } from './tasks/task-translation.ts';
import { uriEdits } from './uri-edits.ts';

/** Returns what a request of a client and its response need on the hop to a server. */
export function translationOf(request: ClientRequest, target: Target): Translation {
  const { caller, hasFolder } = request;
  const { upstream } = target;
  const plain = new CallTranslation(request, target);
  const withTask = mayEndInTask(request, upstream) ? new TaskTranslation(plain, request, upstream) : plain;
  const asksAgain = hasFolder && caller.client.isSharedToken && upstream.era === 'modern';
  return asksAgain ? new FolderTranslation(withTask) : withTask;
}

/** Translates between a client and one server. Keeps neither the registry nor the request in memory, because a call may take long. */
class CallTranslation implements Translation {
  readonly #caller: Caller;
  readonly #upstream: Upstream;
  readonly #builder: RegistryBuilder;
  readonly #askerOf: CallServices['askerOf'];
  readonly #suspendedCalls: SuspendedCalls;
  readonly #method: string;
  readonly #addressing: Addressing | undefined;
  /** The server's own name of the target, as JSON. */
  readonly #name: string;
  /** The URI of a resource that the client and the server name differently. */
  readonly #renamed: { readonly uri: string; readonly publicUri: string } | undefined;
  #rounds: Rounds | undefined;

  constructor(
    { addressing, caller, snapshot, services, message }: ClientRequest,
    { upstream, publicUri, originalText }: Target,
  ) {
    this.#caller = caller;
    this.#upstream = upstream;
    this.#builder = snapshot.builder;
    this.#askerOf = services.askerOf;
    this.#suspendedCalls = services.suspendedCalls;
    this.#method = message.method;
    this.#addressing = addressing;
    this.#name = originalText;
    this.#renamed = publicUri === undefined ? undefined : { uri: decode(originalText), publicUri };
  }

  request(message: Message, token: number | undefined): Edit[] {
    const edits = metaEdits(message, { from: this.#caller, to: this.#upstream }, token);
    const holder = this.#addressing?.holder(message);
    if (holder !== undefined && this.#addressing !== undefined)
      edits.push(replaceValue(holder, findMember(holder, this.#addressing.key), this.#name));
    return edits;
  }

  response(response: Message, call: InFlightRequest): Edit[] | RpcError | typeof TAKEN | undefined {
    const { era, serverKey } = this.#upstream;
    const renamesUris = this.#renamed !== undefined || this.#builder.uris.sharesUris(serverKey);
    const isSameEra = era === this.#caller.era;
    const asks = isSameEra && (era === 'modern' || response.isError) && mayAsk(response);
    if (asks && response.body !== undefined) {
      if (hasTooManyQuestions(response.body, response.isError)) return tooManyQuestions();
      if (response.isError)
        this.#suspendedCalls.elicitations.began(serverKey, response.body, this.#caller.client.identity);
    }
    const asker = asks ? this.#askerOf(serverKey) : undefined;
    if (isSameEra && !renamesUris && asker === undefined) return undefined;
    const question = this.#askBack(response, call);
    if (question !== undefined) return question;
    const edits =
      asker === undefined
        ? answerEdits(response, this.#method, { from: era, to: this.#caller.era })
        : askerEdits(response, asker);
    if (edits instanceof RpcError || !renamesUris) return edits;
    return [...edits, ...uriEdits(response, (uri) => this.#publicUri(uri))];
  }

  stop(): void {
    this.#rounds?.stop();
  }

  #named(questions: readonly Question[]): readonly Question[] {
    const asker = this.#askerOf(this.#upstream.serverKey);
    return asker === undefined ? questions : questions.map((question) => prefixQuestion(question, asker));
  }

  /** Asks the client in the way of its own era, where the response is a question in that of the server's. */
  #askBack(answer: Message, call: InFlightRequest): RpcError | typeof TAKEN | undefined {
    if (call.request === undefined) return undefined;
    return this.#caller.era === 'modern'
      ? this.#elicitUrls(answer, call.request, call)
      : this.#nextRound(answer, call.request, call);
  }

  #elicitUrls(answer: Message, request: Message, call: InFlightRequest): RpcError | typeof TAKEN | undefined {
    const addresses = requiredUrlQuestions(answer);
    if (addresses === undefined || addresses instanceof RpcError) return addresses;
    const result = this.#suspendedCalls.urlElicitation(this.#named(addresses), request, this.#caller);
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
    return new Rounds(request, this.#caller, this.#upstream.peer);
  }

  #publicUri(uri: string): string | undefined {
    if (this.#renamed?.uri === uri) return this.#renamed.publicUri;
    return this.#builder.uris.sharedUri(this.#upstream.serverKey, uri);
  }
}
