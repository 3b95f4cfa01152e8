import { randomUUID } from 'node:crypto';
import { inspect } from 'node:util';
import type { CallToolResult } from '@modelcontextprotocol/server';
import type { Logger } from '../logger.ts';
import { hideSecrets, plain } from './client-text.ts';
import { toErrorBranch } from './error-branch.ts';
import { isProtocolError } from './protocol-error.ts';

/** A result that says so in its type: a tool with an output schema may return it as it is. */
export type ToolFailure = CallToolResult & { isError: true };

/** Characters of one error in the log. */
const LONGEST_LOGGED = 32_768;

/**
 * Turns whatever a tool threw into a result for the client, and throws a protocol error on. The log gets the whole error
 * under an id that the client's text repeats; without a logger there is no id.
 */
export function handleToolError(error: unknown, logger?: Logger): ToolFailure {
  if (isProtocolError(error)) throw error;
  const { message, ...branch } = toErrorBranch(error);
  const id = logger && logged(error, logger);
  const text = id === undefined ? message : `${message} (error id: ${id})`;
  return {
    content: [{ type: 'text', text: `Error: ${text}` }],
    structuredContent: { ...branch, message: text },
    isError: true,
  };
}

/** Returns the id under which the log has the error; undefined where the logger failed. */
function logged(error: unknown, logger: Logger): string | undefined {
  const id = randomUUID().slice(0, 8);
  try {
    // One text: some loggers leave out further arguments. Indented, so that no line of it passes for another record.
    logger.error(`A tool failed (error id: ${id}): ${whole(error).replaceAll('\n', '\n    ')}`);
    return id;
  } catch {
    return undefined;
  }
}

/** Stack, causes and members. Credentials stay out of the log, too: HTTP libraries keep whole requests in their errors. */
function whole(error: unknown): string {
  // More is read than is kept, so that no secret is cut in two before it is hidden.
  return hideSecrets(plain(inspected(error).slice(0, 2 * LONGEST_LOGGED))).slice(0, LONGEST_LOGGED);
}

function inspected(error: unknown): string {
  try {
    return inspect(error, { depth: 5, maxArrayLength: 50, maxStringLength: 4096, breakLength: 120 });
  } catch {
    return 'an error that cannot be read';
  }
}
