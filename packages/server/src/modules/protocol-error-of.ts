import { ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server';
import type { ErrorBranch } from '../errors/error-branch.ts';
import { handleToolError } from '../errors/tool-error.ts';
import type { Logger } from '../logger.ts';

/** Returns an error whose text clients may read; protocol errors are thrown on as they are. The log gets the stack. */
export function protocolErrorOf(error: unknown, logger: Logger | undefined): ProtocolError {
  const { message, code } = handleToolError(error, logger).structuredContent as ErrorBranch;
  return new ProtocolError(
    ProtocolErrorCode.InternalError,
    message,
    code === undefined ? undefined : { code },
  );
}
