import type { AuthInfo, ServerNotifier } from '@modelcontextprotocol/server';
import { fetchExchange } from './fetch-exchange.ts';
import { createMcpEndpoint, type EndpointOptions } from './mcp-endpoint.ts';
import { type AllowedNames, createFetchAccessDecision } from './request-access.ts';

export interface McpFetchHandlerOptions extends EndpointOptions, AllowedNames {}

export interface McpFetchOptions {
  /** Result of a token check in front. */
  readonly authInfo?: AuthInfo | undefined;
  /** Body that a framework has parsed. */
  readonly parsedBody?: unknown;
}

/** Serves MCP to runtimes and frameworks that speak `Request` and `Response`. */
export interface McpFetchHandler {
  readonly fetch: (request: Request, options?: McpFetchOptions) => Promise<Response>;
  /** Tells clients that lists or resources have changed. */
  readonly notify: ServerNotifier;
  /** Answers requests in flight, and ends streams and sessions. */
  readonly close: () => Promise<void>;
}

/** Makes a handler for Hono, Bun, Deno, workers and the like; it serves MCP at whatever path it is called for. */
export function createMcpFetchHandler(options: McpFetchHandlerOptions): McpFetchHandler {
  const endpoint = createMcpEndpoint(options);
  const decide = createFetchAccessDecision(options);
  return {
    fetch(request, { authInfo, parsedBody } = {}) {
      const access = decide(request);
      const extraHeaders = access.isAllowed ? access.headers : {};
      const { exchange, response } = fetchExchange(request, { authInfo, parsedBody, extraHeaders });
      if (access.isAllowed) void endpoint.handle(exchange);
      else access.answer(exchange);
      return response;
    },
    notify: endpoint.notify,
    close: endpoint.close,
  };
}
