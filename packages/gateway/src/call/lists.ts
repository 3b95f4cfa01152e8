import { RpcError, RpcErrorCode } from '../errors.ts';
import { KINDS, type Kind } from '../upstream/catalogue.ts';
import { answerError, resultLine } from '../wire/answer.ts';
import { findMember, stringValue } from '../wire/members.ts';
import type { Call } from './call.ts';

/** Answers a list from the registry; no server is asked. */
export function listOf(kind: Kind): Call {
  return ({ directory, caller: { origin, era }, message: { id, params } }) => {
    const hasCursor = params !== undefined && findMember(params, 'cursor') >= 0;
    const cursor = hasCursor ? (stringValue(params, 'cursor') ?? '') : undefined;
    const result = directory.registry.pages[kind].result(cursor, era);
    if (result !== undefined) return origin.answer(resultLine(id, result));
    const text = `Invalid cursor for ${KINDS[kind].method}. Leave it out to read the list from its beginning.`;
    answerError(origin, id, new RpcError(RpcErrorCode.INVALID_PARAMS, text));
  };
}
