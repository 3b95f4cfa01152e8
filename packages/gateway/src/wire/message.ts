import { isUtf8 } from 'node:buffer';
import { textAt } from './json/latin1.ts';
import {
  findMember,
  hasEscape,
  hasAmbiguousKeys,
  keyIs,
  MOST_MEMBERS,
  objectValue,
  readMembers,
  readString,
  type Members,
} from './json/members.ts';
import { unambiguousMessage, unambiguousObject } from './json/objects.ts';
import { keyEnd, onOneLine, skipKey, skipSpace, walkLimitOf, walkValue, WHOLE } from './json/scan.ts';
import { LONGEST_TEXT, readPartialHead, type LikelyKind } from './oversized.ts';

/** One JSON-RPC message: the parts that the relay reads, and the bytes it arrived as. */
export interface Message {
  readonly kind: 'request' | 'notification' | 'response';
  readonly bytes: Buffer;
  /** The id's JSON text as it stands, one character a byte; empty for notifications. */
  readonly id: string;
  readonly idAt: number;
  /** Empty for responses. */
  readonly method: string;
  readonly params: Members | undefined;
  readonly meta: Members | undefined;
  /** Position of the result or error of a response. */
  readonly bodyAt: number;
  readonly bodyEnd: number;
  /** Members of the result or error, where it is an object. */
  readonly body: Members | undefined;
  readonly isError: boolean;
}

/** A line that is not a message: not JSON, or JSON of another shape. Arrays are left to the reader of batches. */
export interface InvalidInput {
  readonly kind: 'invalid';
  readonly reason: 'not-json' | 'not-a-message' | 'batch';
  readonly bytes: Buffer;
  /** The JSON text of its id, where it has one that can be answered under. */
  readonly id: string | undefined;
  readonly likelyKind: LikelyKind | undefined;
}

/**
 * Reads one line and validates every byte of it as a strict UTF-8 decoder and JSON parser do. The whole line is scanned,
 * because a later key may override an earlier one. `isAscii`: the line is known to be ASCII.
 */
export function readMessage(line: Buffer, isAscii = false): Message | InvalidInput {
  const isText = line[0] !== OPEN_BRACKET && (isAscii || isUtf8(line));
  const head = isText ? scanHead(line, walkLimitOf(line)) : undefined;
  return head === undefined || isAmbiguousHead(head) ? readAmbiguous(line) : shape(head);
}

/** Reads a line of valid text without ambiguous keys, within a scan budget; any other line counts as invalid. */
export function readPlain(line: Buffer, walk: number): Message | InvalidInput {
  const head = scanHead(line, walk, MOST_MEMBERS);
  return head === undefined || isAmbiguousHead(head)
    ? { ...NOT_A_MESSAGE, reason: 'not-json', bytes: line }
    : shape(head);
}

/** Reads a line with ambiguous keys, and rewrites it as a parser would understand it. */
function readAmbiguous(line: Buffer): Message | InvalidInput {
  if (isArray(line)) return { ...NOT_A_MESSAGE, reason: 'batch', bytes: line };
  if (!isUtf8(line)) return notJson(line);
  const bytes = onOneLine(line);
  const walk = walkLimitOf(bytes);
  const at = skipSpace(bytes, 0);
  if (bytes[at] === OPEN_BRACKET) return { ...NOT_A_MESSAGE, reason: 'batch', bytes };
  const top = readMembers(bytes, at, undefined, walk);
  const end = top?.end ?? walkValue(bytes, at, walk);
  if (end < 0 || skipSpace(bytes, end) !== bytes.length) return notJson(bytes);
  const plain = top && unambiguousMessage(top);
  const head = plain && scanHead(plain, walkLimitOf(plain));
  return head === undefined ? { ...NOT_A_MESSAGE, bytes, ...readPartialHead(bytes) } : shape(head);
}

function notJson(bytes: Buffer): InvalidInput {
  return { kind: 'invalid', reason: 'not-json', bytes, ...readPartialHead(bytes) };
}

/** Returns true for a text that is an array, if it is JSON. */
export function isArray(text: Buffer): boolean {
  return text[skipSpace(text, 0)] === OPEN_BRACKET;
}

const NOT_A_MESSAGE = {
  kind: 'invalid',
  reason: 'not-a-message',
  id: undefined,
  likelyKind: undefined,
} as const;

/** Positions of the members of a message; -1 for those it does not have. */
interface MessageHead {
  readonly bytes: Buffer;
  /** Bytes of a string that are walked one by one. */
  readonly walk: number;
  isAmbiguous: boolean;
  hasVersion: boolean;
  idAt: number;
  idEnd: number;
  methodAt: number;
  methodEnd: number;
  resultAt: number;
  resultEnd: number;
  errorAt: number;
  errorEnd: number;
  paramsAt: number;
  params: Members | undefined;
  meta: Members | undefined;
  body: Members | undefined;
}

const QUOTE = 0x22;
const COMMA = 0x2c;
const OPEN_BRACKET = 0x5b;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

function scanHead(bytes: Buffer, walk: number, mostMembers = WHOLE): MessageHead | undefined {
  const head: MessageHead = {
    bytes,
    walk,
    isAmbiguous: false,
    hasVersion: false,
    idAt: -1,
    idEnd: -1,
    methodAt: -1,
    methodEnd: -1,
    resultAt: -1,
    resultEnd: -1,
    errorAt: -1,
    errorEnd: -1,
    paramsAt: -1,
    params: undefined,
    meta: undefined,
    body: undefined,
  };
  let i = skipSpace(bytes, 0);
  if (bytes[i] !== OPEN_BRACE) return undefined;
  i = skipSpace(bytes, i + 1);
  for (let count = 0; count < mostMembers; count++) {
    const value = skipKey(bytes, i, walk);
    if (value < 0) return undefined;
    const end = enterMember(head, keyName(bytes, i + 1, keyEnd(bytes, i + 1, value)), value);
    if (end < 0) return undefined;
    i = skipSpace(bytes, end);
    if (bytes[i] === CLOSE_BRACE) return skipSpace(bytes, i + 1) === bytes.length ? head : undefined;
    if (bytes[i] !== COMMA) return undefined;
    i = skipSpace(bytes, i + 1);
  }
  return undefined;
}

/** Notes a member that means something to the relay; the index after its value, or -1. */
function enterMember(head: MessageHead, key: Key | undefined, value: number): number {
  const { bytes, walk } = head;
  switch (key) {
    case 'id':
      head.isAmbiguous ||= head.idAt >= 0;
      head.idAt = value;
      return (head.idEnd = walkValue(bytes, value, walk));
    case 'method':
      head.isAmbiguous ||= head.methodAt >= 0;
      head.methodAt = value;
      return (head.methodEnd = walkValue(bytes, value, walk));
    case 'params':
      head.isAmbiguous ||= head.paramsAt >= 0;
      head.paramsAt = value;
      head.params = readMembers(bytes, value, undefined, walk);
      head.meta = head.params && objectValue(head.params, '_meta');
      return head.params?.end ?? walkValue(bytes, value, walk);
    case 'result':
      head.isAmbiguous ||= head.resultAt >= 0;
      head.resultAt = value;
      return (head.resultEnd = enterBody(head, value));
    case 'error':
      head.isAmbiguous ||= head.errorAt >= 0;
      head.errorAt = value;
      return (head.errorEnd = enterBody(head, value));
    case 'jsonrpc':
      head.isAmbiguous ||= head.hasVersion;
      return readVersion(head, value);
    case 'escaped':
      head.isAmbiguous = true;
      return walkValue(bytes, value, walk);
    default:
      return walkValue(bytes, value, walk);
  }
}

function enterBody(head: MessageHead, at: number): number {
  head.body = readMembers(head.bytes, at, undefined, head.walk);
  return head.body?.end ?? walkValue(head.bytes, at, head.walk);
}

type Key = 'id' | 'error' | 'result' | 'params' | 'method' | 'jsonrpc' | 'escaped';

/** Returns the known key that stands there. */
function keyName(bytes: Buffer, start: number, end: number): Key | undefined {
  if (hasEscape(bytes, start, end)) return 'escaped';
  switch (end - start) {
    case 2:
      return keyIs(bytes, start, end, 'id') ? 'id' : undefined;
    case 5:
      return keyIs(bytes, start, end, 'error') ? 'error' : undefined;
    case 6:
      if (keyIs(bytes, start, end, 'result')) return 'result';
      if (keyIs(bytes, start, end, 'params')) return 'params';
      return keyIs(bytes, start, end, 'method') ? 'method' : undefined;
    case 7:
      return keyIs(bytes, start, end, 'jsonrpc') ? 'jsonrpc' : undefined;
    default:
      return undefined;
  }
}

function readVersion(head: MessageHead, at: number): number {
  const end = walkValue(head.bytes, at, head.walk);
  head.hasVersion = keyIs(head.bytes, at, end, '"2.0"') || readString(head.bytes, at, end) === '2.0';
  return end;
}

/** Returns true for ambiguous keys at the top level and in the objects below it that the relay reads. */
function isAmbiguousHead({
  isAmbiguous: isTopAmbiguous,
  methodAt,
  resultAt,
  errorAt,
  params,
  meta,
}: MessageHead): boolean {
  if (isTopAmbiguous || (methodAt >= 0 && (resultAt >= 0 || errorAt >= 0))) return true;
  if (params === undefined) return false;
  return hasAmbiguousKeys(params) || isAmbiguousObject(meta) || isAmbiguousObject(objectValue(params, 'ref'));
}

function isAmbiguousObject(members: Members | undefined): boolean {
  return members !== undefined && hasAmbiguousKeys(members);
}

function shape(head: MessageHead): Message | InvalidInput {
  const id = head.idAt < 0 ? '' : idText(head.bytes, head.idAt, head.idEnd);
  const message =
    !head.hasVersion || id === undefined
      ? undefined
      : head.methodAt < 0
        ? response(head, id)
        : request(head, id);
  return message ?? invalid(head, id);
}

function request(
  { bytes, idAt, methodAt, methodEnd, paramsAt, params, meta }: MessageHead,
  id: string,
): Message | undefined {
  const method = readString(bytes, methodAt, methodEnd);
  if (method === undefined || (paramsAt >= 0 && params === undefined)) return undefined;
  const kind = id === '' ? 'notification' : 'request';
  return {
    kind,
    bytes,
    id,
    idAt,
    method,
    params,
    meta,
    bodyAt: -1,
    bodyEnd: -1,
    body: undefined,
    isError: false,
  };
}

function response(
  { bytes, idAt, resultAt, resultEnd, errorAt, errorEnd, body }: MessageHead,
  id: string,
): Message | undefined {
  const isError = resultAt < 0;
  if (id === '' || isError === errorAt < 0 || (isError && !isErrorObject(body))) return undefined;
  const bodyAt = isError ? errorAt : resultAt;
  const bodyEnd = isError ? errorEnd : resultEnd;
  return {
    kind: 'response',
    bytes,
    id,
    idAt,
    method: '',
    params: undefined,
    meta: undefined,
    bodyAt,
    bodyEnd,
    body,
    isError,
  };
}

function invalid(head: MessageHead, text: string | undefined): InvalidInput {
  const id = text === '' ? undefined : text;
  return { ...NOT_A_MESSAGE, bytes: head.bytes, id, likelyKind: likelyKindOf(head, id) };
}

/** A log line in JSON may have an id, too; only with the version it counts as an answer without a result. */
function likelyKindOf(
  { methodAt, resultAt, errorAt, hasVersion }: MessageHead,
  id: string | undefined,
): LikelyKind | undefined {
  if (methodAt >= 0) return 'request';
  return resultAt >= 0 || errorAt >= 0 || (hasVersion && id !== undefined) ? 'response' : undefined;
}

/** Requires code and message, because clients drop an error without them and then wait for ever. */
function isErrorObject(read: Members | undefined): boolean {
  const error = read !== undefined && hasAmbiguousKeys(read) ? readMembers(unambiguousObject(read), 0) : read;
  return error !== undefined && isNumber(firstByte(error, 'code')) && firstByte(error, 'message') === QUOTE;
}

function firstByte(members: Members, key: string): number | undefined {
  const m = findMember(members, key);
  return m < 0 ? undefined : members.bytes[members.flat[m + 2] as number];
}

/** Returns the text of a string or number; undefined for ids of other kinds and for very long ones, which are kept and repeated. */
function idText(bytes: Buffer, at: number, end: number): string | undefined {
  const first = bytes[at];
  if (end - at > LONGEST_TEXT) return undefined;
  return first === QUOTE || isNumber(first) ? textAt(bytes, at, end) : undefined;
}

function isNumber(first: number | undefined): boolean {
  return first !== undefined && (first === 0x2d || (first >= 0x30 && first <= 0x39));
}
