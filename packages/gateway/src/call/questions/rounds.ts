import { quoted, LONGEST_DATA, Texts, RpcError, RpcErrorCode } from '../../errors.ts';
import { missingCapability } from '../../protocol/capabilities.ts';
import { legacyQuestion } from '../../protocol/elicitation.ts';
import { retryOf, type Question, type Round } from '../../protocol/input-required.ts';
import { Method } from '../../protocol/methods.ts';
import { requestLine } from '../../wire/answer.ts';
import { stringValue, valueText, type Members } from '../../wire/json/members.ts';
import { decode } from '../../wire/json/splice.ts';
import type { Message } from '../../wire/message.ts';
import type { Recipient } from '../../wire/peer.ts';
import type { Caller } from '../client-request.ts';
import type { InFlightRequest } from '../relay.ts';

/** A server that never has enough must not keep a client busy for ever. */
const MOST_ROUNDS = 32;
/** A server that asks nothing but to be called again is given time. */
const PAUSE_MS = 200;

/** Turns the input rounds of a modern server into requests to a legacy client. */
export class Rounds {
  readonly #message: Message;
  readonly #caller: Caller;
  readonly #recipient: Recipient;
  readonly #server: Recipient;
  /** Placeholder id that keeps the server marked busy between rounds; if the server dies, the call fails. */
  #place = 0;
  /** The ids of the questions that are open. */
  readonly #asking = new Set<number>();
  #count = 0;
  #pause: NodeJS.Timeout | undefined;

  constructor(message: Message, caller: Caller, server: Recipient) {
    this.#message = message;
    this.#caller = caller;
    this.#server = server;
    this.#recipient = caller.client.recipient(caller.origin);
  }

  /** Asks what the server wants to know, and calls it again with the answers. */
  next(round: Round, call: InFlightRequest): void {
    const refusal = this.#refusalOf(round);
    if (refusal !== undefined) return call.lost(refusal);
    const answers = new Map<string, string>();
    this.#place = this.#server.onResponse({
      answered() {},
      progressed() {},
      lost: (error) => this.#fail(error, call),
    });
    const goOn = (): void => {
      this.#server.forget(this.#place);
      call.again(retryOf(this.#message, inOrder(round, answers), round.state));
    };
    if (round.questions.length === 0) this.#pause = setTimeout(goOn, PAUSE_MS);
    for (const question of round.questions) {
      this.#ask(question, (answer) => {
        if (answer instanceof RpcError) return this.#fail(answer, call);
        answers.set(question.key, answer);
        if (answers.size === round.questions.length) goOn();
      });
    }
  }

  /** Withdraws the open questions. */
  stop(): void {
    clearTimeout(this.#pause);
    this.#server.forget(this.#place);
    for (const id of this.#asking) {
      this.#recipient.forget(id);
      if (this.#recipient.gone === undefined) this.#recipient.notify(Method.CANCELLED, { requestId: id });
    }
    this.#asking.clear();
  }

  /** There will be no further round. */
  #fail(error: RpcError, call: InFlightRequest): void {
    this.stop();
    call.lost(error);
  }

  #refusalOf({ questions }: Round): RpcError | undefined {
    if (questions.length > 0 && this.#recipient.gone !== undefined) return this.#recipient.gone;
    if (++this.#count > MOST_ROUNDS)
      return new RpcError(
        RpcErrorCode.UNAVAILABLE,
        `The server asked for input ${MOST_ROUNDS} times without returning a result, so Weir ended the call`,
      );
    const { capabilities } = this.#caller.envelope;
    for (const { method, params } of questions) {
      const lacking = missingCapability(method, params, capabilities);
      if (lacking !== undefined)
        return new RpcError(RpcErrorCode.UNAVAILABLE, Texts.clientLacks(method, lacking));
    }
    return undefined;
  }

  #ask({ method, params }: Question, done: (answer: string | RpcError) => void): void {
    const recipient = this.#recipient;
    const id = recipient.onResponse({
      answered: (answer) => {
        this.#asking.delete(id);
        done(readAnswer(method, answer));
      },
      progressed() {},
      lost: (error) => {
        this.#asking.delete(id);
        done(error);
      },
    });
    this.#asking.add(id);
    recipient.send(requestLine(id, method, legacyQuestion(method, params)));
  }
}

function inOrder({ questions }: Round, answers: ReadonlyMap<string, string>): Map<string, string> {
  return new Map(questions.map(({ key }) => [key, answers.get(key) ?? 'null']));
}

/** Returns the text of a client's answer. */
function readAnswer(method: string, answer: Message): string | RpcError {
  if (answer.isError) return refused(method, answer);
  return answer.bytes.toString('latin1', answer.bodyAt, answer.bodyEnd);
}

/** The client's own code and words: a person may have said no. */
function refused(method: string, answer: Message): RpcError {
  const error = answer.body;
  const code = Number(error && valueText(error, 'code'));
  const reason = (error && stringValue(error, 'message')) ?? '';
  return new RpcError(
    Number.isInteger(code) ? code : RpcErrorCode.UNAVAILABLE,
    `The client refused ${quoted(method)}: ${quoted(reason)}`,
    error && dataOf(error),
  );
}

function dataOf(error: Members): unknown {
  const text = valueText(error, 'data') ?? 'null';
  return text.length > LONGEST_DATA ? undefined : (decode(text) ?? undefined);
}
