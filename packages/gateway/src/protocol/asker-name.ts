// A host's dialog names only the gateway, so that each question to a person begins with the name of the server that asks.
import { Texts, RpcError, RpcErrorCode } from '../errors.ts';
import {
  findMember,
  hasAmbiguousKeys,
  objectValue,
  readElements,
  readMembers,
  stringValue,
  valueText,
  type Members,
} from '../wire/json/members.ts';
import { objectOf, readObject } from '../wire/json/objects.ts';
import { encode, lineBytes, splice, type Edit } from '../wire/json/splice.ts';
import { readMessage, type Message } from '../wire/message.ts';
import type { Question } from './input-required.ts';
import { Method } from './methods.ts';
import { URL_ELICITATION_REQUIRED } from './url-elicitation.ts';

const QUOTE = 0x22;

/** The request of a legacy server with the server's name before its message. */
export function prefixRequest(message: Message, asker: string): Message {
  const { method, params, bytes } = message;
  const edits = method === Method.ELICIT && params !== undefined ? messageEdits(params, asker) : [];
  const named = edits.length === 0 ? message : readMessage(lineBytes(splice(bytes, edits)));
  return named.kind === 'invalid' ? message : named;
}

/** The same for a question of a round. */
export function prefixQuestion(question: Question, asker: string): Question {
  const params = question.method === Method.ELICIT ? objectOf(question.params) : undefined;
  const edits = params === undefined ? [] : messageEdits(params, asker);
  if (params === undefined || edits.length === 0) return question;
  return { ...question, params: lineBytes(splice(params.bytes, edits)).toString('latin1') };
}

/** Returns true where an answer within one era may ask something: input required (sampling and roots too), a waiting task, or required URLs. */
export function mayAsk({ isError, body }: Message): boolean {
  if (body === undefined) return false;
  if (isError) return hasAmbiguousKeys(body) || Number(valueText(body, 'code')) === URL_ELICITATION_REQUIRED;
  return hasAmbiguousKeys(body) || findMember(body, 'inputRequests') >= 0;
}

/** The edits that put the server's name before each message of such an answer, or why that cannot be done. */
export function askerEdits({ isError, body }: Message, asker: string): Edit[] | RpcError {
  if (body === undefined) return [];
  return isError ? prefixAll(urlElicitationsIn(body), asker) : roundEdits(body, asker);
}

/** The same for the object that has the `inputRequests`: a result, or the params of a notification about a task. */
export function roundEdits(holder: Members, asker: string): Edit[] | RpcError {
  return prefixAll(inputRequestsIn(holder), asker);
}

function prefixAll(asking: Elicitations | undefined, asker: string): Edit[] | RpcError {
  if (asking === undefined) return [];
  // With ambiguous keys the client might read another message than the one that gets the name.
  if ([...asking.around, ...asking.params].some(hasAmbiguousKeys))
    return new RpcError(RpcErrorCode.UNAVAILABLE, Texts.invalidInputRequest());
  return asking.params.flatMap((params) => messageEdits(params, asker));
}

/** The params of what a person is asked, and the objects that they stand in. */
interface Elicitations {
  readonly around: readonly Members[];
  readonly params: readonly Members[];
}

function inputRequestsIn(body: Members): Elicitations | undefined {
  const result = readObject(body.bytes, body.at);
  const requests = result && objectValue(result, 'inputRequests');
  if (requests === undefined) return undefined;
  const questions = objectsAt(requests.bytes, valuesOf(requests));
  const elicitations = questions.filter((question) => stringValue(question, 'method') === Method.ELICIT);
  const params = elicitations.flatMap((question) => objectValue(question, 'params') ?? []);
  return { around: [body, requests, ...questions], params };
}

function urlElicitationsIn(body: Members): Elicitations | undefined {
  const error = readObject(body.bytes, body.at);
  if (error === undefined || Number(valueText(error, 'code')) !== URL_ELICITATION_REQUIRED) return undefined;
  const data = objectValue(error, 'data');
  if (data === undefined) return undefined;
  const m = findMember(data, 'elicitations');
  const spans = (m >= 0 && readElements(data.bytes, data.flat[m + 2] as number)) || [];
  const starts = spans.filter((_, index) => index % 2 === 0);
  return { around: [body, data], params: objectsAt(data.bytes, starts) };
}

/** Returns the positions of an object's values. */
function valuesOf({ flat }: Members): number[] {
  return flat.filter((_, index) => index % 4 === 2);
}

function objectsAt(bytes: Buffer, starts: readonly number[]): Members[] {
  return starts.flatMap((start) => readMembers(bytes, start) ?? []);
}

/** Nothing that a server writes can stand before its name. */
function messageEdits(params: Members, asker: string): Edit[] {
  const m = findMember(params, 'message');
  const start = m < 0 ? -1 : (params.flat[m + 2] as number);
  if (params.bytes[start] !== QUOTE) return [];
  return [{ start: start + 1, end: start + 1, text: encode(`${asker}: `).slice(1, -1) }];
}
