import { isOdd, objectValue, readMembers, stringValue, valueText, type Members } from '../wire/members.ts';
import { readMessage, type Message } from '../wire/message.ts';
import { changeMembers, encode, lineBytes, splice } from '../wire/splice.ts';

/** What a server wants to know before it can answer; `key` and `params` are JSON texts. */
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

/** The members with which a call is made again. */
const RETRY_MEMBERS = ['inputResponses', 'requestState'];

/** The requests that may end in a round. */
const ROUND_METHODS: ReadonlySet<string> = new Set(['tools/call', 'prompts/get', 'resources/read']);

export function canEndInRound(method: string): boolean {
  return ROUND_METHODS.has(method);
}

export function readRound(answer: Message): Round | undefined {
  const result = answer.isError ? undefined : readMembers(answer.bytes, answer.bodyAt);
  if (result === undefined || isOdd(result) || stringValue(result, 'resultType') !== 'input_required')
    return undefined;
  const requests = objectValue(result, 'inputRequests');
  return {
    questions: requests === undefined ? [] : [...entries(requests)].map(readQuestion),
    state: valueText(result, 'requestState'),
  };
}

/** The other direction: the result that asks a modern client. */
export function roundResult({ questions, state }: Round): string {
  const requests = questions.map(
    ({ key, method, params }) => `${key}:{"method":${encode(method)},"params":${params}}`,
  );
  const members = [
    '"resultType":"input_required"',
    `"inputRequests":{${requests.join(',')}}`,
    ...(state === undefined ? [] : [`"requestState":${state}`]),
  ];
  return `{${members.join(',')}}`;
}

/** The same request once more, with what was asked for. */
export function retryOf(
  message: Message,
  responses: ReadonlyMap<string, string>,
  state: string | undefined,
): Message {
  const texts = Array.from(responses, ([key, value]) => `${key}:${value}`);
  const members = [`"inputResponses":{${texts.join(',')}}`, ...(state === undefined ? [] : [`"requestState":${state}`])];
  return changed(message, members.join(','));
}

/** The other direction: what a modern client has answered, by question, and the request without it. */
export function readRetry(message: Message): { responses: Map<string, string>; state: string } | undefined {
  const state = message.params && stringValue(message.params, 'requestState');
  if (message.params === undefined || state === undefined) return undefined;
  const responses = objectValue(message.params, 'inputResponses');
  return { responses: new Map(responses && entries(responses)), state };
}

export function firstTryOf(message: Message): Message {
  return changed(message, '');
}

function changed(message: Message, add: string): Message {
  if (message.params === undefined) return message;
  const bytes = lineBytes(splice(message.bytes, changeMembers(message.params, RETRY_MEMBERS, add)));
  const again = readMessage(bytes);
  return again.kind === 'unusable' ? message : again;
}

function* entries({ bytes, flat }: Members): Generator<[string, string]> {
  for (let m = 0; m < flat.length; m += 4) {
    const key = bytes.toString('latin1', (flat[m] as number) - 1, (flat[m + 1] as number) + 1);
    yield [key, bytes.toString('latin1', flat[m + 2], flat[m + 3])];
  }
}

function readQuestion([key, text]: [string, string]): Question {
  const members = readMembers(Buffer.from(text, 'latin1'), 0);
  return {
    key,
    method: (members && stringValue(members, 'method')) ?? '',
    params: (members && valueText(members, 'params')) ?? '{}',
  };
}
