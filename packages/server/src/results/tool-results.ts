import type { CallToolResult, ContentBlock } from '@modelcontextprotocol/server';
import { fillContent } from './fill-content.ts';

export interface ResultOptions {
  /** Content for the model in place of the JSON of the structured result: a text, or blocks. */
  readonly content?: string | readonly ContentBlock[];
  readonly _meta?: CallToolResult['_meta'];
}

/** A result whose structured content is known to the compiler. */
export type SuccessResult<Structured extends object> = CallToolResult & {
  structuredContent: Structured & { type: 'success' };
};

export type ErrorResult = CallToolResult & {
  structuredContent: { type: 'error'; message: string; code?: string };
  isError: true;
};

/** Builds the result of a call that succeeded: adds `type: 'success'`, and writes `content` where none is given. */
export function success<Structured extends object>(
  structured: Structured & { readonly type?: 'success' },
  options: ResultOptions = {},
): SuccessResult<Structured> {
  return build(
    { structuredContent: { type: 'success', ...structured } },
    options,
  ) as SuccessResult<Structured>;
}

/** Builds the result of a call that failed for a reason that the model should know. The message is sent as it is. */
export function error(message: string, code?: string, options: ResultOptions = {}): ErrorResult {
  const structuredContent = { type: 'error', message, ...(code !== undefined && { code }) };
  return build({ structuredContent, isError: true }, options) as ErrorResult;
}

function build(
  result: { structuredContent: object; isError?: true },
  { content, _meta }: ResultOptions,
): CallToolResult {
  const blocks: ContentBlock[] =
    typeof content === 'string' ? [{ type: 'text', text: content }] : [...(content ?? [])];
  return fillContent({ content: blocks, ...result, ...(_meta !== undefined && { _meta }) });
}
