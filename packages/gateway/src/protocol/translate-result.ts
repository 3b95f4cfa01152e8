import { quoted, RpcError, RpcErrorCode } from '../errors.ts';
import {
  findMember,
  hasAmbiguousKeys,
  objectValue,
  stringValue,
  valueText,
  type Members,
} from '../wire/json/members.ts';
import { changeMembers, replaceValue, type Edit } from '../wire/json/splice.ts';
import type { Message } from '../wire/message.ts';
import { Meta, type Era } from './eras.ts';
import { isCacheable } from './methods.ts';
import { URL_ELICITATION_REQUIRED } from './url-elicitation.ts';

/** Codes of the legacy era that the modern one forbids, and what stands for them there. */
const MODERN_CODES: ReadonlyMap<number, RpcErrorCode> = new Map([
  // A missing resource.
  [-32002, RpcErrorCode.INVALID_PARAMS],
  // Addresses to visit first, in a way that no client could follow; otherwise they become a round.
  [URL_ELICITATION_REQUIRED, RpcErrorCode.UNAVAILABLE],
]);

/** The edits that make an answer right for a client of another era, or why it cannot be told to it. */
export function answerEdits(answer: Message, method: string, hop: { from: Era; to: Era }): Edit[] | RpcError {
  if (hop.from === hop.to) return [];
  const { body } = answer;
  if (body === undefined || hasAmbiguousKeys(body)) return [];
  if (answer.isError) return hop.to === 'modern' ? modernError(body) : [];
  return hop.to === 'modern' ? modernResult(body, method) : legacyResult(body, method);
}

function modernResult(result: Members, method: string): Edit[] {
  const add = [
    findMember(result, 'resultType') < 0 && '"resultType":"complete"',
    isCacheable(method) && findMember(result, 'ttlMs') < 0 && '"ttlMs":0,"cacheScope":"private"',
  ];
  return changeMembers(result, [], add.filter(Boolean).join(','));
}

/** Only the modern revision has kinds of results, cache hints, and servers that introduce themselves in each of them. */
function legacyResult(result: Members, method: string): Edit[] | RpcError {
  const kind = stringValue(result, 'resultType') ?? 'complete';
  if (kind !== 'complete') {
    return new RpcError(
      RpcErrorCode.UNAVAILABLE,
      `The server answered ${method} with '${quoted(kind)}', which legacy clients do not support. Connect with a client that speaks 2026-07-28.`,
    );
  }
  const hints = isCacheable(method) ? ['ttlMs', 'cacheScope'] : [];
  const meta = objectValue(result, '_meta');
  const named =
    meta !== undefined && !hasAmbiguousKeys(meta) && findMember(meta, Meta.SERVER_INFO) >= 0
      ? meta
      : undefined;
  if (named?.flat.length === 4) return changeMembers(result, ['resultType', ...hints, '_meta'], '');
  const edits = changeMembers(result, ['resultType', ...hints], '');
  return named === undefined ? edits : [...edits, ...changeMembers(named, [Meta.SERVER_INFO], '')];
}

function modernError(error: Members): Edit[] {
  const code = MODERN_CODES.get(Number(valueText(error, 'code')));
  return code === undefined ? [] : [replaceValue(error, findMember(error, 'code'), String(code))];
}
