import { readMembers, stringValue, valueText } from '../wire/members.ts';
import type { Message } from '../wire/message.ts';
import { skipSpace } from '../wire/scan.ts';
import type { ErrorInfo } from './invocation.ts';

const MARK = Buffer.from('"isError"');
/** The first letter of `true`. */
const LETTER_T = 0x74;
/** Longer results are not searched through for the sake of the history: most servers write the mark last. */
const SEARCHED_WHOLE = 64 * 1024;
const SEARCHED_END = 256;

const TOOL_FAILURE: ErrorInfo = { message: 'The tool reports a failure' };

/** What a server's answer to a call says went wrong. What a tool itself says of its failure may repeat arguments: it is left out. */
export function failureIn(answer: Message): ErrorInfo | undefined {
  if (answer.isError) return rpcError(answer);
  return mayBeFailure(answer) && isFailure(answer) ? TOOL_FAILURE : undefined;
}

function rpcError({ bytes, bodyAt }: Message): ErrorInfo {
  const error = readMembers(bytes, bodyAt);
  const message = (error && stringValue(error, 'message')) ?? '';
  const code = Number(error && valueText(error, 'code'));
  return Number.isNaN(code) ? { message } : { message, code };
}

/** A search that costs next to nothing; only what it finds is read. */
function mayBeFailure({ bytes, bodyAt }: Message): boolean {
  const from = bytes.length > SEARCHED_WHOLE ? bytes.length - SEARCHED_END : bodyAt;
  for (let at = bytes.indexOf(MARK, from); at !== -1; at = bytes.indexOf(MARK, at + 1))
    if (bytes[skipSpace(bytes, skipSpace(bytes, at + MARK.length) + 1)] === LETTER_T) return true;
  return false;
}

function isFailure({ bytes, bodyAt }: Message): boolean {
  const result = readMembers(bytes, bodyAt);
  return result !== undefined && valueText(result, 'isError') === 'true';
}
