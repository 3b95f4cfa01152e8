/** An error of an HTTP service: its status, and the code that clients read. */
export interface HttpError extends Error {
  readonly status: number;
  readonly code: string;
}

export function createHttpError(status: number, message?: string, cause?: unknown): HttpError {
  const error = new Error(message ?? `HTTP ${status}`, cause === undefined ? undefined : { cause });
  return Object.assign(error, { status, code: 'SERVICE_ERROR' });
}
