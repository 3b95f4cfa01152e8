import { LONGEST_NOTED } from '../../config/redact.ts';
import { startOf } from '../../shorten.ts';
import { stringStart, valueText, type Members } from '../../wire/json/members.ts';
import type { Message } from '../../wire/message.ts';
import type { ErrorInfo } from './invocation.ts';

/** Enough for as many characters as are noted: an escaped one has six bytes. */
const BYTES_READ = 8 * LONGEST_NOTED;

const TOOL_FAILURE: ErrorInfo = { message: 'The tool reports a failure' };

/** Returns the error in a server's response to a call. Leaves out the text of a failed tool, because it may repeat arguments. */
export function failureIn({ body, isError }: Message): ErrorInfo | undefined {
  if (isError) return rpcError(body);
  return body !== undefined && valueText(body, 'isError') === 'true' ? TOOL_FAILURE : undefined;
}

function rpcError(error: Members | undefined): ErrorInfo {
  const message = startOf((error && stringStart(error, 'message', BYTES_READ)) ?? '', LONGEST_NOTED);
  const code = Number(error && valueText(error, 'code'));
  return Number.isNaN(code) ? { message } : { message, code };
}
