import { canonicalMessage } from './canonical.ts';
import { findMember, isOdd, objectValue, readMembers, readString, skipSpace, stringValue, type Members } from './scan.ts';

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

export function readMessage(line: Buffer): Message | Unusable {
  const top = readMembers(line, skipSpace(line, 0));
  if (top === undefined || isOdd(top) || skipSpace(line, top.end) !== line.length) return readOdd(line);
  const params = objectValue(top, 'params');
  const meta = params && objectValue(params, '_meta');
  if ((params && isOdd(params)) || (meta && isOdd(meta))) return readOdd(line);
  return shape(top, params, meta);
}

/** Where the scan is not sure of the meaning, the parser decides, and the message is rewritten to mean just that. */
function readOdd(line: Buffer): Message | Unusable {
  const parsed = parse(line);
  if (parsed === undefined) return { kind: 'unusable', reason: 'not-json', bytes: line, id: undefined };
  if (Array.isArray(parsed)) return { kind: 'unusable', reason: 'batch', bytes: line, id: undefined };
  const top = readMembers(line, skipSpace(line, 0));
  if (top === undefined) return { kind: 'unusable', reason: 'not-a-message', bytes: line, id: undefined };
  return readCanonical(canonicalMessage(top));
}

function readCanonical(line: Buffer): Message | Unusable {
  const top = readMembers(line, 0) as Members;
  const params = objectValue(top, 'params');
  return shape(top, params, params && objectValue(params, '_meta'));
}

function parse(line: Buffer): unknown {
  try {
    return JSON.parse(line.toString('utf8')) as unknown;
  } catch {
    return undefined;
  }
}

function shape(top: Members, params: Members | undefined, meta: Members | undefined): Message | Unusable {
  const { bytes, flat } = top;
  const idMember = findMember(top, 'id');
  const idAt = idMember < 0 ? -1 : (flat[idMember + 2] as number);
  const id = idMember < 0 ? '' : idText(bytes, idAt, flat[idMember + 3] as number);
  const methodMember = findMember(top, 'method');
  const common = { bytes, id: id ?? '', idAt, params, meta };
  if (hasVersion(top) && id !== undefined) {
    if (methodMember >= 0) {
      const method = readString(bytes, flat[methodMember + 2] as number, flat[methodMember + 3] as number);
      if (method !== undefined && isObjectOrAbsent(top, params)) {
        const kind = id === '' ? 'notification' : 'request';
        return { kind, ...common, method, bodyAt: -1, bodyEnd: -1, isError: false };
      }
    } else if (id !== '') {
      const result = findMember(top, 'result');
      const error = findMember(top, 'error');
      const body = result < 0 ? error : result;
      if (result < 0 !== error < 0) {
        const bodyAt = flat[body + 2] as number;
        return { kind: 'response', ...common, method: '', bodyAt, bodyEnd: flat[body + 3] as number, isError: result < 0 };
      }
    }
  }
  return { kind: 'unusable', reason: 'not-a-message', bytes, id: id === '' ? undefined : id };
}

/** The text of a string or number; undefined for ids of other kinds, which nobody can be answered under. */
function idText(bytes: Buffer, at: number, end: number): string | undefined {
  const first = bytes[at] as number;
  const isStringOrNumber = first === 0x22 || first === 0x2d || (first >= 0x30 && first <= 0x39);
  return isStringOrNumber ? bytes.toString('latin1', at, end) : undefined;
}

function hasVersion(top: Members): boolean {
  return stringValue(top, 'jsonrpc') === '2.0';
}

function isObjectOrAbsent(top: Members, params: Members | undefined): boolean {
  return params !== undefined || findMember(top, 'params') < 0;
}
