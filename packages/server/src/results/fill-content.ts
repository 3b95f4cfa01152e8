import type { CallToolResult } from '@modelcontextprotocol/server';

/** Returns the result with text in `content` where the handler has left it out; the given result stays as it is. */
export function fillContent(result: CallToolResult): CallToolResult {
  if (result.content.length > 0 || result.structuredContent === undefined) return result;
  return { ...result, content: [{ type: 'text', text: JSON.stringify(result.structuredContent) }] };
}
