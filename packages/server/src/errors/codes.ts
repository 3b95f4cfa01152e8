import { constants } from 'node:os';

/** Codes that every server answers with, so that a client handles errors the same way for all of them. */
export type ErrorCode =
  | 'INVALID_REQUEST'
  | 'AUTHENTICATION_REQUIRED'
  | 'FORBIDDEN'
  | 'NOT_FOUND'
  | 'RATE_LIMITED'
  | 'SERVICE_ERROR'
  | 'TIMEOUT'
  | 'CANCELLED';

const BY_STATUS: Readonly<Record<number, ErrorCode>> = {
  400: 'INVALID_REQUEST',
  401: 'AUTHENTICATION_REQUIRED',
  403: 'FORBIDDEN',
  404: 'NOT_FOUND',
  429: 'RATE_LIMITED',
};

/** Node's codes of the operating system, its resolver and its HTTP client. Others have no code for clients. */
const BY_SYSTEM: Readonly<Record<string, ErrorCode>> = {
  ENOENT: 'NOT_FOUND',
  EACCES: 'FORBIDDEN',
  EPERM: 'FORBIDDEN',
  EROFS: 'FORBIDDEN',
  ETIMEDOUT: 'TIMEOUT',
  UND_ERR_CONNECT_TIMEOUT: 'TIMEOUT',
  UND_ERR_HEADERS_TIMEOUT: 'TIMEOUT',
  UND_ERR_BODY_TIMEOUT: 'TIMEOUT',
  ABORT_ERR: 'CANCELLED',
  UND_ERR_ABORTED: 'CANCELLED',
  ECANCELED: 'CANCELLED',
  ECONNREFUSED: 'SERVICE_ERROR',
  ECONNRESET: 'SERVICE_ERROR',
  ECONNABORTED: 'SERVICE_ERROR',
  EHOSTUNREACH: 'SERVICE_ERROR',
  ENETUNREACH: 'SERVICE_ERROR',
  EPIPE: 'SERVICE_ERROR',
  EBUSY: 'SERVICE_ERROR',
  EMFILE: 'SERVICE_ERROR',
  ENFILE: 'SERVICE_ERROR',
  ENOMEM: 'SERVICE_ERROR',
  ENOSPC: 'SERVICE_ERROR',
  ENOTFOUND: 'SERVICE_ERROR',
  EAI_AGAIN: 'SERVICE_ERROR',
  UND_ERR_SOCKET: 'SERVICE_ERROR',
};

const BY_NAME: Readonly<Record<string, ErrorCode>> = { AbortError: 'CANCELLED', TimeoutError: 'TIMEOUT' };

/** Returns the code of an HTTP status that says failure; undefined for any other number. */
export function codeOfStatus(status: number): ErrorCode | undefined {
  if (!isFailure(status)) return undefined;
  return status >= 500 ? 'SERVICE_ERROR' : (BY_STATUS[status] ?? 'INVALID_REQUEST');
}

/** Returns true for a status of three digits that says failure. */
export function isFailure(status: number): boolean {
  return Number.isInteger(status) && status >= 400 && status <= 999;
}

export function codeOfSystem(code: string): ErrorCode | undefined {
  return Object.hasOwn(BY_SYSTEM, code) ? BY_SYSTEM[code] : undefined;
}

export function codeOfName(name: string): ErrorCode | undefined {
  return Object.hasOwn(BY_NAME, name) ? BY_NAME[name] : undefined;
}

/** Returns true for a code that Node or a library of it has set, and not the author of the server. */
export function isSystemCode(code: string): boolean {
  return (
    Object.hasOwn(BY_SYSTEM, code) ||
    Object.hasOwn(constants.errno, code) ||
    /^(?:UND_)?ERR_|^(?:EAI|HPE)_/u.test(code)
  );
}
