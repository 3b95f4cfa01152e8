import { codeOfStatus, type ErrorCode } from './codes.ts';

/** An error of an HTTP service: its status, and the code that clients read. */
export interface HttpError extends Error {
  readonly status: number;
  readonly code: ErrorCode;
}

const MESSAGES: Readonly<Partial<Record<ErrorCode, string>>> = {
  INVALID_REQUEST: 'The request is not valid',
  AUTHENTICATION_REQUIRED: 'Authentication is required',
  FORBIDDEN: 'Access is forbidden',
  NOT_FOUND: 'Not found',
  RATE_LIMITED: 'Too many requests',
  SERVICE_ERROR: 'The service failed',
};

/** Creates an error for a response of an HTTP service; throws a RangeError for a status that says no failure. */
export function createHttpError(status: number, message?: string, cause?: unknown): HttpError {
  const code = codeOfStatus(status);
  if (code === undefined)
    throw new RangeError(
      `createHttpError takes a status from 400 to 999, which says failure; it was given ${String(status)}`,
    );
  const text = message ?? `${MESSAGES[code]} (HTTP ${status})`;
  const error = new Error(text, cause === undefined ? undefined : { cause });
  error.name = 'HttpError';
  return Object.assign(error, { status, code });
}
