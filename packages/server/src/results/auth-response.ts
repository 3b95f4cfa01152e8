import type { CallToolResult } from '@modelcontextprotocol/server';

export function buildAuthResponse(message: string, authUrl: string): CallToolResult {
  return {
    content: [{ type: 'text', text: message }],
    structuredContent: { type: 'auth_required', authUrl, message },
  };
}
