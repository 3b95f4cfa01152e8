import { ProtocolError, type CallToolResult } from '@modelcontextprotocol/server';
import type { Logger } from '../logger.ts';
import { toErrorBranch } from './error-branch.ts';

/** Turns whatever a tool threw into a result for the client; throws protocol errors on. */
export function handleToolError(error: unknown, logger?: Logger): CallToolResult {
  if (ProtocolError.isInstance(error)) throw error;
  logger?.error('A tool failed', error);
  const branch = toErrorBranch(error);
  return {
    content: [{ type: 'text', text: `Error: ${branch.message}` }],
    structuredContent: { ...branch },
    isError: true,
  };
}
