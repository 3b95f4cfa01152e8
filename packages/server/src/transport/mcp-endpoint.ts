import {
  classifyInboundRequest,
  createMcpHandler,
  DEFAULT_MAX_REQUEST_BODY_SIZE,
  isJsonContentType,
  type McpHttpHandler,
  PROTOCOL_VERSION_META_KEY,
  type ServerNotifier,
} from '@modelcontextprotocol/server';
import type { Logger } from '../logger.ts';
import type { HttpExchange } from './exchange.ts';
import { createLegacySessions, type LegacySessions, type SessionLimits } from './legacy-sessions.ts';
import { refuse, type Refusal, Refusals } from './refusals.ts';
import { guardFactory, requireFactory, type ServerFactory } from './server-factory.ts';

/** Options that all ways to serve MCP over HTTP share. */
export interface HttpServingOptions extends SessionLimits {
  readonly logger?: Logger | undefined;
  /** Serving of clients from before 2026-07-28: in sessions (default), without any, or not at all. */
  readonly legacy?: 'sessions' | 'stateless' | 'reject' | undefined;
  /** Bytes of the largest request body; 4 MiB by default. */
  readonly maxBodyBytes?: number | undefined;
  /** Time between the comments that keep a stream open; 15 s by default. */
  readonly keepAliveMs?: number | undefined;
  /** Open `subscriptions/listen` streams; 1024 by default. */
  readonly maxSubscriptions?: number | undefined;
  /** Time that requests in flight get when the server closes; 5 s by default. */
  readonly closeTimeoutMs?: number | undefined;
  /** Clock of the idleness of sessions, in milliseconds. */
  readonly now?: (() => number) | undefined;
}

export interface EndpointOptions extends HttpServingOptions {
  readonly serverFactory: ServerFactory;
}

/** Serves MCP to HTTP requests, however they came. */
export interface McpEndpoint {
  /** Answers a request; resolves when it is answered, or its stream is open. */
  handle(exchange: HttpExchange): Promise<void>;
  /** Tells clients of both eras of a change. */
  readonly notify: ServerNotifier;
  /** Refuses new requests, answers those in flight, and ends streams and sessions. */
  readonly close: () => Promise<void>;
}

const KEEP_ALIVE_MS = 15_000;
/** Time that requests in flight get when the server closes. */
export const CLOSE_TIMEOUT_MS = 5000;

/** Makes the endpoint that the HTTP server, the router and the fetch handler share. */
export function createMcpEndpoint(options: EndpointOptions): McpEndpoint {
  const {
    serverFactory,
    logger,
    legacy = 'sessions',
    maxBodyBytes = DEFAULT_MAX_REQUEST_BODY_SIZE,
  } = options;
  requireFactory(serverFactory, 'serverFactory');
  const {
    keepAliveMs = KEEP_ALIVE_MS,
    maxSubscriptions,
    now = Date.now,
    closeTimeoutMs = CLOSE_TIMEOUT_MS,
  } = options;
  const reported = new WeakSet();
  const createServer = guardFactory(serverFactory, logger, reported);
  const modern = createMcpHandler(createServer, {
    legacy: legacy === 'stateless' ? 'stateless' : 'reject',
    keepAliveMs,
    maxRequestBodySize: maxBodyBytes,
    ...(maxSubscriptions !== undefined && { maxSubscriptions }),
    onerror: (error) => void (reported.has(error) || logger?.debug('A request was refused', error)),
  });
  const sessions = createLegacySessions({ ...options, createServer, keepAliveMs, now });
  const inFlight = createInFlight();
  const hasSessions = legacy === 'sessions';
  let closing: Promise<void> | undefined;

  async function serve(exchange: HttpExchange, received: { message?: unknown }): Promise<void> {
    if (exchange.method !== 'POST') return serveOther(exchange, hasSessions ? sessions : undefined);
    const type = exchange.header('content-type');
    if (!isJsonContentType(type)) return refuse(exchange, Refusals.notJson());
    if (!isUtf8Type(type)) return refuse(exchange, Refusals.notUtf8());
    const body = await exchange.readBody(maxBodyBytes);
    if (body.kind !== 'json') return refuse(exchange, bodyRefusal(body.kind, maxBodyBytes));
    const message = (received.message = body.value);
    if (closing !== undefined && !isAnswer(message))
      return refuse(exchange, Refusals.shuttingDown(), message);
    if (!hasSessions || isModern(message, exchange)) return serveModern(modern, exchange, message);
    const outcome = classify(exchange, message);
    if (outcome.kind === 'modern') return serveModern(modern, exchange, message);
    if (outcome.kind === 'legacy') return sessions.post(exchange, message);
    const { httpStatus: status, code, message: text, data } = outcome;
    return refuse(exchange, { status, code, message: text, data }, message);
  }

  async function close(): Promise<void> {
    await inFlight.drained(closeTimeoutMs);
    await Promise.all([modern.close(), sessions.closeAll()]);
  }

  return {
    async handle(exchange) {
      const done = inFlight.begin();
      const received: { message?: unknown } = {};
      try {
        await serve(exchange, received);
      } catch (error) {
        if (typeof error !== 'object' || error === null || !reported.has(error))
          logger?.error('A request failed', error);
        refuse(exchange, Refusals.internal(), received.message);
      } finally {
        done();
      }
    },
    notify: both(modern.notify, sessions.notify),
    close: () => (closing ??= close()),
  };
}

/** Serves GET and DELETE, which only sessions know. */
function serveOther(exchange: HttpExchange, sessions: LegacySessions | undefined): Promise<void> | void {
  const isOfSession = exchange.header('mcp-session-id') !== undefined && sessions !== undefined;
  if (isOfSession && exchange.method === 'GET') return sessions.get(exchange);
  if (isOfSession && exchange.method === 'DELETE') return sessions.remove(exchange);
  return refuse(exchange, Refusals.methodNotAllowed(isOfSession ? 'GET, POST, DELETE' : 'POST'));
}

async function serveModern(modern: McpHttpHandler, exchange: HttpExchange, message: unknown): Promise<void> {
  const { authInfo, request } = exchange;
  const response = await modern.fetch(request, {
    parsedBody: message,
    ...(authInfo !== undefined && { authInfo }),
  });
  const relayed = exchange.relay(response);
  // A stream of subscriptions ends with the server, which does not wait for it.
  if (!isListen(message)) await relayed;
}

function bodyRefusal(kind: 'too-large' | 'not-json' | 'consumed', limit: number): Refusal {
  if (kind === 'too-large') return Refusals.tooLarge(limit);
  return kind === 'consumed' ? Refusals.consumedBody() : Refusals.brokenJson();
}

/** JSON is UTF-8, and ASCII is a part of it. */
function isUtf8Type(type = ''): boolean {
  const [, charset] = /;\s*charset\s*=\s*"?([^\s";]*)/iu.exec(type) ?? [];
  return charset === undefined || /^(?:utf-?8|us-ascii)$/iu.test(charset);
}

/** Recognizes nearly all modern requests at a glance; the SDK's handler judges them. */
function isModern(message: unknown, exchange: HttpExchange): boolean {
  if (typeof message !== 'object' || message === null || !('method' in message)) return false;
  if (message.method === 'initialize') return false;
  const { params } = message as { params?: { _meta?: Record<string, unknown> } };
  return (
    params?._meta?.[PROTOCOL_VERSION_META_KEY] !== undefined && exchange.header('mcp-method') !== undefined
  );
}

function classify(exchange: HttpExchange, body: unknown): ReturnType<typeof classifyInboundRequest> {
  const protocolVersionHeader = exchange.header('mcp-protocol-version');
  const mcpMethodHeader = exchange.header('mcp-method');
  const mcpNameHeader = exchange.header('mcp-name');
  return classifyInboundRequest({
    httpMethod: 'POST',
    body,
    ...(protocolVersionHeader !== undefined && { protocolVersionHeader }),
    ...(mcpMethodHeader !== undefined && { mcpMethodHeader }),
    ...(mcpNameHeader !== undefined && { mcpNameHeader }),
  });
}

/** Answers of clients to questions are taken while the server closes, because calls in flight wait for them. */
function isAnswer(message: unknown): boolean {
  return typeof message === 'object' && message !== null && ('result' in message || 'error' in message);
}

function isListen(message: unknown): boolean {
  return (
    typeof message === 'object' &&
    message !== null &&
    'method' in message &&
    message.method === 'subscriptions/listen'
  );
}

function both(one: ServerNotifier, other: ServerNotifier): ServerNotifier {
  const all = [one, other];
  return {
    toolsChanged: () => all.forEach((notify) => notify.toolsChanged()),
    promptsChanged: () => all.forEach((notify) => notify.promptsChanged()),
    resourcesChanged: () => all.forEach((notify) => notify.resourcesChanged()),
    resourceUpdated: (uri) => all.forEach((notify) => notify.resourceUpdated(uri)),
  };
}

interface InFlight {
  /** Counts a request; the function that it returns ends it. */
  begin(): () => void;
  /** Resolves when no request is left, or after the time. */
  drained(timeoutMs: number): Promise<void>;
}

function createInFlight(): InFlight {
  let count = 0;
  let onZero: (() => void) | undefined;
  return {
    begin() {
      count++;
      return () => {
        if (--count === 0) onZero?.();
      };
    },
    drained: (timeoutMs) =>
      new Promise((resolve) => {
        if (count === 0) return resolve();
        const timer = setTimeout(resolve, timeoutMs);
        onZero = () => {
          clearTimeout(timer);
          resolve();
        };
      }),
  };
}
