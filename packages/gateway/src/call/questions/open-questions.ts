import type { RpcError } from '../../errors.ts';
import { modernQuestion } from '../../protocol/elicitation.ts';
import type { Question } from '../../protocol/input-required.ts';
import type { Upstream } from '../../upstream/upstream.ts';
import { errorLine, resultLine } from '../../wire/answer.ts';
import { encode, type Line } from '../../wire/json/splice.ts';
import type { Message } from '../../wire/message.ts';
import type { Peer } from '../../wire/peer.ts';

interface Open extends Question {
  readonly peer: Peer;
  /** The server's id for its question, as JSON. */
  readonly id: string;
  readonly ticket: number;
  /** Called when the question is answered or withdrawn. */
  over(): void;
}

/** Unanswered questions of a server during one call. */
export class OpenQuestions {
  readonly #open = new Map<string, Open>();
  readonly #emptied: () => void;
  #last = 0;

  /** `emptied` is called each time the last of them is answered or withdrawn. */
  constructor(emptied: () => void) {
    this.#emptied = emptied;
  }

  get size(): number {
    return this.#open.size;
  }

  all(): Question[] {
    return [...this.#open.values()];
  }

  add({ peer }: Upstream, { id, method, bytes, params }: Message, over: () => void): void {
    const key = encode(`question-${++this.#last}`);
    const text = params === undefined ? '{}' : bytes.toString('latin1', params.at, params.end);
    // A server that takes its question back, or dies, wants no answer.
    const withdraw = (): void => void this.#close(key);
    const ticket = peer.track({ id, cancel: withdraw, abandon: withdraw });
    this.#open.set(key, { key, method, params: modernQuestion(method, text), peer, id, ticket, over });
  }

  /** Sends an answer to the server; drops one whose question is closed. */
  answer(key: string, result: string): void {
    this.#reply(key, (id) => resultLine(id, result));
  }

  refuseAll(error: RpcError): void {
    for (const key of this.#open.keys()) this.#reply(key, (id) => errorLine(id, error));
  }

  #reply(key: string, line: (id: string) => Line): void {
    const question = this.#close(key);
    question?.peer.send(line(question.id));
  }

  #close(key: string): Open | undefined {
    const question = this.#open.get(key);
    if (question === undefined) return undefined;
    this.#open.delete(key);
    question.peer.untrack(question.ticket);
    question.over();
    if (this.size === 0) this.#emptied();
    return question;
  }
}
