import { RpcError, RpcErrorCode } from '../errors.ts';
import { KINDS, type Kind } from '../upstream/catalogue/catalogue.ts';
import { answerError, resultLine } from '../wire/answer.ts';
import { findMember, stringValue } from '../wire/json/members.ts';
import type { ClientRequest } from './client-request.ts';
import { declaresTasks } from './tasks/tasks.ts';

/** Answers a list from the registry; no server is asked. */
export function list(request: ClientRequest, kind: Kind): void {
  const { directory, caller, message } = request;
  const { origin, era, client } = caller;
  const { id, params } = message;
  const hasCursor = params !== undefined && findMember(params, 'cursor') >= 0;
  const cursor = hasCursor ? (stringValue(params, 'cursor') ?? '') : undefined;
  const hasTasks = era === 'modern' ? declaresTasks(message) : client.hasTasks === true;
  const result = directory.registry.pages[kind].result(cursor, { era, hasTasks });
  if (result !== undefined) {
    origin.answer(resultLine(id, result));
    if (kind === 'tools') directory.nameWarnings.listed(request);
    return;
  }
  const text = `Invalid cursor for ${KINDS[kind].method}. Leave it out to read the list from its beginning.`;
  answerError(origin, id, new RpcError(RpcErrorCode.INVALID_PARAMS, text));
}
