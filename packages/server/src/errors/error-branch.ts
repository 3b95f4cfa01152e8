import { clientText } from './client-text.ts';
import { codeOf } from './code-of.ts';
import { messageOf, readMember, toError } from './thrown.ts';

/** The error branch of a structured result. */
export interface ErrorBranch {
  type: 'error';
  /** Text for the client, without stack, path and credentials. */
  message: string;
  /** Code that a client can act upon, such as NOT_FOUND. */
  code?: string;
}

/**
 * Turns whatever was thrown into the error branch of a structured result. `customHandler` gets an Error in every case, and
 * its branch is cleaned like ours; where it throws, the branch is made without it.
 */
export function toErrorBranch(error: unknown, customHandler?: (error: Error) => ErrorBranch): ErrorBranch {
  const custom = customHandler && handled(error, customHandler);
  const message = clientText(custom?.message ?? messageOf(error));
  const code = custom === undefined ? codeOf(error) : codeOf({ code: custom.code });
  return {
    type: 'error',
    message: message === '' ? 'Unknown error' : message,
    ...(code !== undefined && { code }),
  };
}

function handled(
  error: unknown,
  customHandler: (error: Error) => ErrorBranch,
): { message: string; code: unknown } | undefined {
  try {
    const branch: unknown = customHandler(toError(error));
    const message = readMember(branch, 'message');
    return typeof message === 'string' ? { message, code: readMember(branch, 'code') } : undefined;
  } catch {
    return undefined;
  }
}
