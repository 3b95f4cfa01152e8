import type { RpcError } from '../errors.ts';
import { stringValue, valueText, readElements, type Members } from '../wire/json/members.ts';
import { objectIn, objectOf, readObject } from '../wire/json/objects.ts';
import { changeMembers, encode, lineBytes, splice } from '../wire/json/splice.ts';
import type { Message } from '../wire/message.ts';
import { modernQuestion } from './elicitation.ts';
import { hasTooManyQuestions, tooManyQuestions, type Question } from './input-required.ts';
import { Method } from './methods.ts';

/** The error of 2025-11-25 for a call that can be made only after its user has been to some addresses. */
export const URL_ELICITATION_REQUIRED = -32042;

/** Returns the visits that such an error asks for, as questions that a modern client knows, or why they are not asked; undefined for every other answer. */
export function requiredUrlQuestions({ bytes, bodyAt, isError }: Message): Question[] | RpcError | undefined {
  const error = isError ? readObject(bytes, bodyAt) : undefined;
  if (error === undefined || Number(valueText(error, 'code')) !== URL_ELICITATION_REQUIRED) return undefined;
  const data = objectIn(error, 'data');
  if (hasTooManyQuestions(error, true)) return tooManyQuestions();
  const addresses = data && elementsIn(data, 'elicitations').map(urlParams);
  const isUsable = addresses !== undefined && addresses.length > 0;
  if (!isUsable || !addresses.every((params) => params !== undefined)) return undefined;
  return addresses.map((params, index) => ({
    key: encode(`address-${index + 1}`),
    method: Method.ELICIT,
    params,
  }));
}

function elementsIn(members: Members, key: string): string[] {
  const bytes = Buffer.from(valueText(members, key) ?? '', 'latin1');
  const spans = readElements(bytes, 0) ?? [];
  return Array.from({ length: spans.length / 2 }, (_, i) =>
    bytes.toString('latin1', spans[2 * i], spans[2 * i + 1]),
  );
}

/** The server's own words, but for the mode, which goes without saying in this error. */
function urlParams(text: string): string | undefined {
  const members = objectOf(text);
  if (members === undefined || stringValue(members, 'url') === undefined) return undefined;
  const edits =
    stringValue(members, 'mode') === 'url' ? [] : changeMembers(members, ['mode'], '"mode":"url"');
  return modernQuestion(Method.ELICIT, lineBytes(splice(members.bytes, edits)).toString('latin1'));
}
