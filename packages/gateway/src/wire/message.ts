import { canonicalMessage } from './canonical.ts';
import {
  isOdd,
  keyEnd,
  keyIs,
  objectValue,
  readMembers,
  readString,
  skipKey,
  skipSpace,
  skipValue,
  type Members,
} from './scan.ts';

/** One JSON-RPC message: what the relay understands of it, and the bytes it arrived as. */
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
  /** Where the result or error of a response begins and ends. */
  readonly bodyAt: number;
  readonly bodyEnd: number;
  readonly isError: boolean;
}

/** A line that is no message: not JSON, or JSON of another shape. `id` is set where an answer can be addressed. */
export interface Unusable {
  readonly kind: 'unusable';
  readonly reason: 'not-json' | 'not-a-message' | 'batch';
  readonly bytes: Buffer;
  readonly id: string | undefined;
}

/** Reads one line. The whole of it is visited once: a key that comes late may change what came before. */
export function readMessage(line: Buffer): Message | Unusable {
  const head = scanHead(line);
  return head === undefined || isOddHead(head) ? readOdd(line) : shape(head);
}

/** Where the scan is not sure of the meaning, the parser decides, and the message is rewritten to mean just that. */
function readOdd(line: Buffer): Message | Unusable {
  const parsed = parse(line);
  if (parsed === undefined) return { kind: 'unusable', reason: 'not-json', bytes: line, id: undefined };
  if (Array.isArray(parsed)) return { kind: 'unusable', reason: 'batch', bytes: line, id: undefined };
  const top = readMembers(line, skipSpace(line, 0));
  const head = top && scanHead(canonicalMessage(top));
  return head === undefined ? { kind: 'unusable', reason: 'not-a-message', bytes: line, id: undefined } : shape(head);
}

function parse(line: Buffer): unknown {
  try {
    return JSON.parse(line.toString('utf8')) as unknown;
  } catch {
    return undefined;
  }
}

/** Where the members of a message stand; -1 for those it does not have. */
interface Head {
  readonly bytes: Buffer;
  isOdd: boolean;
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
}

const QUOTE = 0x22;
const COMMA = 0x2c;
const BACKSLASH = 0x5c;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

function scanHead(bytes: Buffer): Head | undefined {
  const head: Head = {
    bytes,
    isOdd: false,
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
  };
  let i = skipSpace(bytes, 0);
  if (bytes[i] !== OPEN_BRACE) return undefined;
  i = skipSpace(bytes, i + 1);
  for (;;) {
    const value = skipKey(bytes, i);
    if (value < 0) return undefined;
    const end = enterMember(head, i + 1, keyEnd(bytes, i + 1, value), value);
    if (end < 0) return undefined;
    i = skipSpace(bytes, end);
    if (bytes[i] === CLOSE_BRACE) return skipSpace(bytes, i + 1) === bytes.length ? head : undefined;
    if (bytes[i] !== COMMA) return undefined;
    i = skipSpace(bytes, i + 1);
  }
}

/** Notes a member that means something to the relay; the index after its value, or -1. */
function enterMember(head: Head, key: number, keyEnds: number, value: number): number {
  const { bytes } = head;
  switch (keyName(bytes, key, keyEnds)) {
    case 'id':
      head.isOdd ||= head.idAt >= 0;
      head.idAt = value;
      return (head.idEnd = skipValue(bytes, value));
    case 'method':
      head.isOdd ||= head.methodAt >= 0;
      head.methodAt = value;
      return (head.methodEnd = skipValue(bytes, value));
    case 'params':
      head.isOdd ||= head.paramsAt >= 0;
      head.paramsAt = value;
      head.params = readMembers(bytes, value);
      return head.params === undefined ? skipValue(bytes, value) : head.params.end;
    case 'result':
      head.isOdd ||= head.resultAt >= 0;
      head.resultAt = value;
      return (head.resultEnd = skipValue(bytes, value));
    case 'error':
      head.isOdd ||= head.errorAt >= 0;
      head.errorAt = value;
      return (head.errorEnd = skipValue(bytes, value));
    case 'jsonrpc':
      head.isOdd ||= head.hasVersion;
      head.hasVersion = isVersion2(bytes, value);
      return skipValue(bytes, value);
    case 'escaped':
      head.isOdd = true;
      return skipValue(bytes, value);
    default:
      return skipValue(bytes, value);
  }
}

/** Which of the known keys stands there: told by its length and two letters, then compared in full. */
function keyName(bytes: Buffer, start: number, end: number): string | undefined {
  for (let i = start; i < end; i++) if (bytes[i] === BACKSLASH) return 'escaped';
  const name = KEY_BY_LENGTH[end - start]?.find((candidate) => keyIs(bytes, start, end, candidate));
  return name;
}

const KEY_BY_LENGTH: readonly (readonly string[] | undefined)[] = [
  undefined,
  undefined,
  ['id'],
  undefined,
  undefined,
  ['error'],
  ['result', 'params', 'method'],
  ['jsonrpc'],
];

function isVersion2(bytes: Buffer, at: number): boolean {
  return bytes[at] === QUOTE && bytes[at + 1] === 0x32 && bytes[at + 2] === 0x2e && bytes[at + 3] === 0x30 && bytes[at + 4] === QUOTE;
}

/** Keys below the top level are read later; they must be as plain as those above. */
function isOddHead({ isOdd: isOddAbove, params }: Head): boolean {
  if (isOddAbove || params === undefined) return isOddAbove;
  const meta = objectValue(params, '_meta');
  return isOdd(params) || (meta !== undefined && isOdd(meta));
}

function shape(head: Head): Message | Unusable {
  const { bytes, idAt, methodAt, resultAt, errorAt, params } = head;
  const id = idAt < 0 ? '' : idText(bytes, idAt, head.idEnd);
  const unusable = { kind: 'unusable', reason: 'not-a-message', bytes, id: id === '' ? undefined : id } as const;
  if (!head.hasVersion || id === undefined) return unusable;
  if (methodAt >= 0) {
    const method = readString(bytes, methodAt, head.methodEnd);
    if (method === undefined || (head.paramsAt >= 0 && params === undefined)) return unusable;
    const kind = id === '' ? 'notification' : 'request';
    const meta = params && objectValue(params, '_meta');
    return { kind, bytes, id, idAt, method, params, meta, bodyAt: -1, bodyEnd: -1, isError: false };
  }
  const isError = resultAt < 0;
  if (id === '' || isError === errorAt < 0) return unusable;
  const bodyAt = isError ? errorAt : resultAt;
  const bodyEnd = isError ? head.errorEnd : head.resultEnd;
  return { kind: 'response', bytes, id, idAt, method: '', params: undefined, meta: undefined, bodyAt, bodyEnd, isError };
}

/** The text of a string or number; undefined for ids of other kinds, which nobody can be answered under. */
function idText(bytes: Buffer, at: number, end: number): string | undefined {
  const first = bytes[at] as number;
  const isStringOrNumber = first === QUOTE || first === 0x2d || (first >= 0x30 && first <= 0x39);
  return isStringOrNumber ? bytes.toString('latin1', at, end) : undefined;
}
