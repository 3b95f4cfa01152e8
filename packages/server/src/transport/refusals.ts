import type { HeaderValues, HttpExchange } from './exchange.ts';

/** An answer that refuses a request: an HTTP status and a JSON-RPC error. */
export interface Refusal {
  readonly status: number;
  readonly code: number;
  readonly message: string;
  readonly data?: unknown;
  readonly headers?: HeaderValues;
}

const SERVER_ERROR = -32_000;
const SESSION_NOT_FOUND = -32_001;
const INVALID_REQUEST = -32_600;
const INTERNAL_ERROR = -32_603;
const PARSE_ERROR = -32_700;

/** Every refusal that does not come from the SDK, in one place. */
export const Refusals = {
  methodNotAllowed: (allow: string): Refusal => ({
    ...refusal(405, SERVER_ERROR, `Method not allowed: use ${allow}`),
    headers: { Allow: allow },
  }),
  notJson: (): Refusal =>
    refusal(415, SERVER_ERROR, 'Unsupported Media Type: Content-Type must be application/json'),
  notUtf8: (): Refusal =>
    refusal(415, SERVER_ERROR, 'Unsupported Media Type: the charset of a request must be utf-8'),
  notAcceptable: (types: string): Refusal =>
    refusal(406, SERVER_ERROR, `Not Acceptable: Accept must list ${types}`),
  tooLarge: (limit: number): Refusal => ({
    ...refusal(413, SERVER_ERROR, `Payload Too Large: Request body must not exceed ${limit} bytes`),
    headers: { Connection: 'close' },
  }),
  brokenJson: (): Refusal =>
    refusal(400, PARSE_ERROR, 'Parse error: the request body is not valid JSON in UTF-8'),
  consumedBody: (): Refusal =>
    refusal(
      400,
      PARSE_ERROR,
      'Parse error: the request body was read before it reached the MCP endpoint. Mount the endpoint before other body readers, or let express.json() read it',
    ),
  shuttingDown: (): Refusal => ({
    ...refusal(503, SERVER_ERROR, 'The server is shutting down'),
    headers: { Connection: 'close' },
  }),
  tooManySessions: (): Refusal => ({
    ...refusal(503, SERVER_ERROR, 'All sessions of this server are busy: try again later'),
    headers: { 'Retry-After': '5' },
  }),
  internal: (): Refusal => refusal(500, INTERNAL_ERROR, 'Internal server error'),
  noSession: (): Refusal =>
    refusal(
      400,
      SERVER_ERROR,
      'Bad Request: send initialize first, then its Mcp-Session-Id with every request',
    ),
  sessionNotFound: (): Refusal =>
    refusal(404, SESSION_NOT_FOUND, 'Session not found: it ended or expired. Send initialize for a new one'),
  alreadyInitialized: (): Refusal =>
    refusal(400, INVALID_REQUEST, 'Invalid Request: the session is already initialized'),
  duplicateId: (): Refusal =>
    refusal(400, INVALID_REQUEST, 'Invalid Request: a request with this id is still being answered'),
  initializeInBatch: (): Refusal =>
    refusal(400, INVALID_REQUEST, 'Invalid Request: initialize must stand alone'),
  batchTooLong: (most: number): Refusal =>
    refusal(400, INVALID_REQUEST, `Invalid Request: a batch must not have more than ${most} messages`),
  unsupportedVersion: (version: string, supported: readonly string[]): Refusal =>
    refusal(
      400,
      SERVER_ERROR,
      `Bad Request: Unsupported protocol version: ${version.slice(0, 40)} (supported versions: ${supported.join(', ')})`,
    ),
  streamIsOpen: (): Refusal =>
    refusal(409, SERVER_ERROR, 'Conflict: Only one SSE stream is allowed per session'),
  nothingToResume: (): Refusal =>
    refusal(400, SERVER_ERROR, 'Bad Request: there is nothing to resume after this Last-Event-ID'),
  twoHosts: (): Refusal => refusal(400, SERVER_ERROR, 'Bad Request: a request must have one Host header'),
  foreign: (header: string, value: string | undefined, remedy: string): Refusal =>
    refusal(
      403,
      SERVER_ERROR,
      value === undefined
        ? `The ${header} header is missing`
        : `${header} '${value.slice(0, 100)}' is not allowed: ${remedy}`,
    ),
} as const;

/** Answers with a refusal; `body` is the message that is refused. */
export function refuse(
  exchange: HttpExchange,
  { status, code, message, data, headers }: Refusal,
  body?: unknown,
): void {
  const error = { code, message, ...(data !== undefined && { data }) };
  exchange.answer(status, JSON.stringify({ jsonrpc: '2.0', error, id: idOf(body) }), headers);
}

/** The id of a request; an answer to anything else has none. */
function idOf(body: unknown): string | number | null {
  if (typeof body !== 'object' || body === null || !('method' in body) || !('id' in body)) return null;
  const { method, id } = body;
  return typeof method === 'string' && (typeof id === 'string' || typeof id === 'number') ? id : null;
}

function refusal(status: number, code: number, message: string): Refusal {
  return { status, code, message };
}
