import { lackingFor } from '../bridge/capabilities.ts';
import { retryOf, type Question, type Round } from '../bridge/rounds.ts';
import { Messages, RpcError, RpcErrorCode } from '../errors.ts';
import { requestLine } from '../wire/answer.ts';
import { readMembers, stringValue, valueText } from '../wire/members.ts';
import type { Message } from '../wire/message.ts';
import type { Recipient } from '../wire/peer.ts';
import type { Caller } from './caller.ts';
import type { Relayed } from './relay.ts';

/** A server that never has enough must not keep a client busy for ever. */
const MOST_ROUNDS = 32;
/** A server that asks nothing but to be called again is given time. */
const PAUSE_MS = 200;

/** Leads a client of the earlier revisions through the rounds of a modern server: each question is a request to it. */
export class Rounds {
  readonly #message: Message;
  readonly #caller: Caller;
  readonly #recipient: Recipient;
  #asking: number[] = [];
  #count = 0;
  #pause: NodeJS.Timeout | undefined;

  constructor(message: Message, caller: Caller) {
    this.#message = message;
    this.#caller = caller;
    this.#recipient = caller.client.recipient(caller.origin);
  }

  /** Asks what the server wants to know, and calls it again with the answers. */
  next(round: Round, call: Relayed): void {
    const refusal = this.#refusalOf(round);
    if (refusal !== undefined) return call.lost(refusal);
    const answers = round.questions.map((question) => this.#ask(question));
    Promise.all(answers.length === 0 ? [this.#wait()] : answers).then(
      (texts) => call.again(retryOf(this.#message, responses(round, texts), round.state)),
      (error: unknown) => {
        this.stop();
        call.lost(error as RpcError);
      },
    );
  }

  /** Nobody waits for the answers any more. */
  stop(): void {
    clearTimeout(this.#pause);
    for (const id of this.#asking) {
      this.#recipient.forget(id);
      this.#recipient.notify('notifications/cancelled', { requestId: id });
    }
    this.#asking = [];
  }

  #refusalOf({ questions }: Round): RpcError | undefined {
    if (++this.#count > MOST_ROUNDS)
      return new RpcError(RpcErrorCode.UNAVAILABLE, Messages.tooManyRounds(MOST_ROUNDS));
    const { capabilities } = this.#caller.envelope;
    for (const { method, params } of questions) {
      const lacking = lackingFor(method, params, capabilities);
      if (lacking !== undefined)
        return new RpcError(RpcErrorCode.UNAVAILABLE, Messages.clientLacks(method, lacking));
    }
    return undefined;
  }

  #ask({ method, params }: Question): Promise<string> {
    const recipient = this.#recipient;
    return new Promise((resolve, reject) => {
      const id = recipient.expect({
        answered: (answer) => {
          this.#asking = this.#asking.filter((asked) => asked !== id);
          if (answer.isError) reject(refused(method, answer));
          else resolve(answer.bytes.toString('latin1', answer.bodyAt, answer.bodyEnd));
        },
        progressed() {},
        lost: reject,
      });
      this.#asking.push(id);
      recipient.send(requestLine(id, method, params));
    });
  }

  #wait(): Promise<string> {
    return new Promise((resolve) => {
      this.#pause = setTimeout(resolve, PAUSE_MS, '');
    });
  }
}

function responses({ questions }: Round, texts: readonly string[]): Map<string, string> {
  return new Map(questions.map(({ key }, index) => [key, texts[index] ?? 'null']));
}

/** The client's own code and words: a person may have said no. */
function refused(method: string, answer: Message): RpcError {
  const error = readMembers(answer.bytes, answer.bodyAt);
  const code = Number(error && valueText(error, 'code'));
  const reason = (error && stringValue(error, 'message')) ?? '';
  return new RpcError(Number.isInteger(code) ? code : RpcErrorCode.UNAVAILABLE, Messages.clientRefused(method, reason));
}
