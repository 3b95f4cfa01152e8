import { randomUUID } from 'node:crypto';
import {
  CLIENT_CAPABILITIES_META_KEY,
  inputRequired,
  type CallToolResult,
  type ClientCapabilities,
  type InputRequiredResult,
  type ServerContext,
} from '@modelcontextprotocol/server';

export type AuthResult = CallToolResult & {
  structuredContent: { type: 'auth_required'; authUrl: string; message: string };
};

/** Part of a handler's `extra` that `requestAuth` uses. */
export interface AuthContext {
  readonly mcpReq: Pick<ServerContext['mcpReq'], 'envelope' | 'inputResponses' | 'elicitInput' | 'signal'>;
}

/** A login that a user has to make. */
export interface AuthRequest {
  readonly message: string;
  readonly authUrl: string;
  /** Name of the question among those of the handler; `sign-in` by default. */
  readonly key?: string;
  /** State that a client of 2026-07-28 sends back with the answer. Seal it: see `createRequestStateCodec` of the SDK. */
  readonly requestState?: string;
}

/** Builds the result that asks for a login. Throws for an `authUrl` that a user cannot safely open. */
export function buildAuthResponse(message: string, authUrl: string): AuthResult {
  checkAuthUrl(authUrl);
  return {
    content: [{ type: 'text', text: message }],
    structuredContent: { type: 'auth_required', authUrl, message },
  };
}

/**
 * Asks the client to open the address of a login, where the client can do that, and answers with `buildAuthResponse`
 * otherwise. A handler returns what it gets. A client of 2026-07-28 calls again once the user has answered; if there is still
 * no login then, it gets the result, so that it is asked once a call.
 */
export async function requestAuth(
  extra: AuthContext,
  request: AuthRequest,
): Promise<AuthResult | InputRequiredResult> {
  const { message, authUrl, key = 'sign-in', requestState } = request;
  const result = buildAuthResponse(message, authUrl);
  const { envelope, inputResponses } = extra.mcpReq;
  if (envelope === undefined) {
    await elicit(extra, request);
    return result;
  }
  if (!canOpenUrls(envelope) || Object.hasOwn(inputResponses ?? {}, key)) return result;
  return inputRequired({
    inputRequests: { [key]: inputRequired.elicitUrl({ message, url: authUrl }) },
    ...(requestState !== undefined && { requestState }),
  });
}

function canOpenUrls(envelope: object): boolean {
  const capabilities = (envelope as Record<string, ClientCapabilities | undefined>)[
    CLIENT_CAPABILITIES_META_KEY
  ];
  return capabilities?.elicitation?.url !== undefined;
}

/** Asks a client of 2025-11-25. Its answer says that the page was opened, not that the login is done. */
async function elicit({ mcpReq }: AuthContext, { message, authUrl }: AuthRequest): Promise<void> {
  try {
    await mcpReq.elicitInput(
      { mode: 'url', message, url: authUrl, elicitationId: randomUUID() },
      { signal: mcpReq.signal },
    );
  } catch (error) {
    // A client that cannot open addresses, or does not answer, gets the address in the result.
    if (mcpReq.signal.aborted) throw error;
  }
}

/** The address is not repeated in the error: it may hold a password. */
function checkAuthUrl(authUrl: string): void {
  const url = URL.canParse(authUrl) ? new URL(authUrl) : undefined;
  const isSafe = url?.protocol === 'https:' || (url?.protocol === 'http:' && isLoopback(url.hostname));
  if (url === undefined || !isSafe || /[\s\p{Cc}]/u.test(authUrl))
    throw new TypeError('authUrl must be an https URL; http is allowed for a loopback address only');
  if (url.username !== '' || url.password !== '')
    throw new TypeError('authUrl must have no user name and no password in it');
}

function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127(?:\.\d{1,3}){3}$/u.test(hostname);
}
