import { stringValue, valueText, type Members } from '../wire/members.ts';
import type { Message } from '../wire/message.ts';
import type { ErrorInfo } from './invocation.ts';

const TOOL_FAILURE: ErrorInfo = { message: 'The tool reports a failure' };

/** What a server's answer to a call says went wrong. What a tool itself says of its failure may repeat arguments: it is left out. */
export function failureIn({ body, isError }: Message): ErrorInfo | undefined {
  if (isError) return rpcError(body);
  return body !== undefined && valueText(body, 'isError') === 'true' ? TOOL_FAILURE : undefined;
}

function rpcError(error: Members | undefined): ErrorInfo {
  const message = (error && stringValue(error, 'message')) ?? '';
  const code = Number(error && valueText(error, 'code'));
  return Number.isNaN(code) ? { message } : { message, code };
}
