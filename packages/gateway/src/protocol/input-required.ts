import { Texts, RpcError, RpcErrorCode } from '../errors.ts';
import {
  findMember,
  hasMoreThan,
  hasAmbiguousKeys,
  objectValue,
  readMembers,
  stringValue,
  valueText,
  type Members,
} from '../wire/json/members.ts';
import { entriesOf, objectIn, objectOf, readObject } from '../wire/json/objects.ts';
import { changeMembers, encode, lineBytes, splice, type Edit } from '../wire/json/splice.ts';
import { readMessage, type Message } from '../wire/message.ts';
import { capabilityFor } from './methods.ts';

/** A question that a server needs answered first; `key` and `params` are JSON texts. */
export interface Question {
  readonly key: string;
  readonly method: string;
  readonly params: string;
}

/** A modern server's way to ask: the call ends with questions, and is made again with the answers and the state. */
export interface Round {
  readonly questions: readonly Question[];
  /** JSON text, to be returned as it is. */
  readonly state: string | undefined;
}

/** Answers of a modern client, by the text of the question's key. */
export interface Retry {
  readonly responses: ReadonlyMap<string, string>;
  /** Empty where it is not a string, which matches no state that was given out. */
  readonly state: string | undefined;
}

/** Questions that a client is asked at once; a person answers them one by one. */
const MOST_QUESTIONS = 32;

const OPEN_BRACE = 0x7b;

/** The members with which a call is made again. */
const RETRY_MEMBERS = ['inputResponses', 'requestState'];

/** Returns the round that an answer asks for, an error where it is malformed, or undefined for a final answer. */
export function readRound(answer: Message): Round | RpcError | undefined {
  const result = answer.isError ? undefined : readObject(answer.bytes, answer.bodyAt);
  if (result === undefined || stringValue(result, 'resultType') !== 'input_required') return undefined;
  const requests = objectIn(result, 'inputRequests');
  const questions = requests === undefined ? [] : entriesOf(requests).map(readQuestion);
  const state = valueText(result, 'requestState');
  const isComplete = findMember(result, 'inputRequests') < 0 ? state !== undefined : requests !== undefined;
  if (!isComplete || !questions.every(isQuestion))
    return new RpcError(RpcErrorCode.UNAVAILABLE, Texts.invalidInputRequest());
  return questions.length > MOST_QUESTIONS ? tooManyQuestions() : { questions, state };
}

/** Returns true where an answer that asks back, or the params of a notification about a task, ask for too much. */
export function hasTooManyQuestions(holder: Members, isError: boolean): boolean {
  if (isError) {
    const data = objectIn(holder, 'data');
    return data !== undefined && hasMoreThan(MOST_QUESTIONS, data, 'elicitations');
  }
  const object = readObject(holder.bytes, holder.at);
  const m = object === undefined ? -1 : findMember(object, 'inputRequests');
  if (object === undefined || m < 0) return false;
  const start = object.flat[m + 2] as number;
  // Of an object with far too many members nothing is read.
  const count = readMembers(object.bytes, start)?.flat.length ?? Infinity;
  return object.bytes[start] === OPEN_BRACE && count / 4 > MOST_QUESTIONS;
}

/** The error in place of an answer that asks for too much. */
export function tooManyQuestions(): RpcError {
  return new RpcError(
    RpcErrorCode.UNAVAILABLE,
    `The server asked more than ${MOST_QUESTIONS} questions at once, the maximum`,
  );
}

/** The other direction: the result that asks a modern client. */
export function roundResult({ questions, state }: Round): string {
  const members = [
    '"resultType":"input_required"',
    `"inputRequests":{${questions.map(questionText).join(',')}}`,
    ...(state === undefined ? [] : [`"requestState":${state}`]),
  ];
  return `{${members.join(',')}}`;
}

/** The edits by which a round of a modern server asks one thing more; none where its answer does not require input. */
export function addQuestion({ isError, body }: Message, question: Question): Edit[] {
  if (isError || body === undefined || hasAmbiguousKeys(body)) return [];
  if (stringValue(body, 'resultType') !== 'input_required') return [];
  const requests = objectValue(body, 'inputRequests');
  const text = questionText(question);
  return requests === undefined
    ? changeMembers(body, ['inputRequests'], `"inputRequests":{${text}}`)
    : changeMembers(requests, [], text);
}

/** The other direction: what a client has answered, without the answer to that. */
export function withoutAnswer(message: Message, { key }: Question): Message {
  const { params } = message;
  const responses = params && objectIn(params, 'inputResponses');
  const others = (responses === undefined ? [] : entriesOf(responses)).filter(([other]) => other !== key);
  return retryOf(message, new Map(others), params && valueText(params, 'requestState'));
}

function questionText({ key, method, params }: Question): string {
  return `${key}:{"method":${encode(method)},"params":${params}}`;
}

/** The same request once more, with what was asked for. */
export function retryOf(
  message: Message,
  responses: ReadonlyMap<string, string>,
  state: string | undefined,
): Message {
  const texts = Array.from(responses, ([key, value]) => `${key}:${value}`);
  const members = [
    ...(texts.length === 0 ? [] : [`"inputResponses":{${texts.join(',')}}`]),
    ...(state === undefined ? [] : [`"requestState":${state}`]),
  ];
  return changed(message, members.join(','));
}

export function isRetry({ params }: Message): boolean {
  return params !== undefined && RETRY_MEMBERS.some((key) => findMember(params, key) >= 0);
}

/** The other direction: what a modern client has answered. Skips values that are not objects, because they cannot be answers. */
export function readRetry({ params }: Message): Retry {
  const responses = params && objectIn(params, 'inputResponses');
  const answers = responses === undefined ? [] : entriesOf(responses).filter(([, text]) => text[0] === '{');
  const hasState = params !== undefined && findMember(params, 'requestState') >= 0;
  const state = hasState ? (stringValue(params, 'requestState') ?? '') : undefined;
  return { responses: new Map(answers), state };
}

/** The request without what was asked for, as a legacy server knows it. */
export function withoutRetryMembers(message: Message): Message {
  return changed(message, '');
}

function changed(message: Message, add: string): Message {
  if (message.params === undefined) return message;
  const bytes = lineBytes(splice(message.bytes, changeMembers(message.params, RETRY_MEMBERS, add)));
  const again = readMessage(bytes);
  return again.kind === 'invalid' ? message : again;
}

function readQuestion([key, text]: [string, string]): Question {
  const members = objectOf(text);
  return {
    key,
    method: (members && stringValue(members, 'method')) ?? '',
    params: (members && valueText(members, 'params')) ?? '{}',
  };
}

function isQuestion({ method, params }: Question): boolean {
  return capabilityFor(method) !== undefined && params.startsWith('{');
}
