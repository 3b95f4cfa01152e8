import {
  type AuthInfo,
  bearerAuthChallengeResponse,
  getOAuthProtectedResourceMetadataUrl,
  isInitializeRequest,
  isJSONRPCErrorResponse,
  isJSONRPCNotification,
  isJSONRPCRequest,
  isJSONRPCResultResponse,
  type JSONRPCMessage,
  type JSONRPCRequest,
  OAuthError,
  OAuthErrorCode,
  type RequestId,
  type ScopeChallengeHandler,
  SUPPORTED_PROTOCOL_VERSIONS,
  type Transport,
} from '@modelcontextprotocol/server';
import {
  createEventStream,
  disconnectStream,
  type EventStream,
  keepLast,
  parseEventId,
  primeStream,
  resumeStream,
  writeMessage,
} from './event-stream.ts';
import type { HttpExchange } from './exchange.ts';
import { refuse, Refusals } from './refusals.ts';

/** A client of an era before 2026-07-28, and the connection of its server. */
export interface LegacySession {
  readonly id: string;
  readonly transport: SessionTransport;
  /** Answers a POST; resolves when all its requests are answered. */
  post(exchange: HttpExchange, body: unknown): Promise<void>;
  /** Opens the stream for what belongs to no request, or takes up a broken one. */
  get(exchange: HttpExchange): void;
  /** Sends keep-alive comments; a call that waits for long begins its stream. */
  beat(): void;
  /** True once the server has accepted the client. */
  isInitialized(): boolean;
  /** True where the client asked to be told of changes of a resource. */
  isSubscribed(uri: string): boolean;
  /** True while requests are being answered. */
  isBusy(): boolean;
  /** True while a client is connected. */
  isConnected(): boolean;
}

/** A transport that takes the checks of scopes which `McpServer` offers. */
interface SessionTransport extends Transport {
  setScopeChallengeResolver(resolver: ScopeChallengeHandler): void;
}

/** The requests of one POST. */
interface PostedCall {
  readonly exchange: HttpExchange;
  /** Ids of the requests without an answer. */
  readonly open: Set<RequestId>;
  /** Undefined as long as the answer can be one JSON text. */
  stream: EventStream | undefined;
  /** Keep-alive beats since the call came. */
  beats: number;
  readonly done: () => void;
}

/** Stream of messages that belong to no request. */
const STANDALONE = 0;
const MOST_IN_BATCH = 100;
/** Streams that broke off and wait for their client; the oldest is forgotten first. */
const MOST_BROKEN = 16;
/** Messages of the standalone stream that a client gets again if they were lost with its connection. */
const MOST_REPEATED = 16;
/** Resources that a client may be told of. */
const MOST_SUBSCRIBED = 1000;
/** Revision from which clients understand an event without a message. */
const PRIMED_SINCE = '2025-11-25';

/** Serves one session on its own transport: JSON where one answer is all there is to send, a stream otherwise. */
export function createLegacySession(id: string): LegacySession {
  const calls = new Map<RequestId, PostedCall>();
  const streams = new Map<number, EventStream>();
  const subscribed = new Set<string>();
  const headers = { 'Mcp-Session-Id': id };
  let streamCount = STANDALONE;
  let supported: readonly string[] = SUPPORTED_PROTOCOL_VERSIONS;
  let version = '';
  let findChallenge: ScopeChallengeHandler | undefined;
  let isClosed = false;

  const transport: SessionTransport = {
    sessionId: id,
    start: () => Promise.resolve(),
    setProtocolVersion: (negotiated) => void (version = negotiated),
    setSupportedProtocolVersions: (versions) => void (supported = versions),
    setScopeChallengeResolver: (resolver) => void (findChallenge = resolver),
    async send(message, options) {
      if (isJSONRPCResultResponse(message) || isJSONRPCErrorResponse(message)) return settle(message);
      const related = options?.relatedRequestId;
      const call = related === undefined ? undefined : calls.get(related);
      if (call !== undefined) writeMessage(streamOf(call), message);
      // A message of a call that is over has no stream left, and must not go to another one.
      else if (related === undefined) sendStandalone(message);
    },
    async close() {
      if (isClosed) return;
      isClosed = true;
      for (const call of new Set(calls.values())) end(call);
      calls.clear();
      for (const stream of streams.values()) disconnectStream(stream);
      streams.clear();
      transport.onclose?.();
    },
  };

  function sendStandalone(message: JSONRPCMessage): void {
    const stream = streams.get(STANDALONE);
    if (stream !== undefined) writeMessage(stream, message);
    if (stream?.sink !== undefined) keepLast(stream, MOST_REPEATED);
  }

  function settle(message: JSONRPCMessage & { id?: RequestId | undefined }): void {
    const call = message.id === undefined ? undefined : calls.get(message.id);
    if (message.id === undefined || call === undefined) return;
    calls.delete(message.id);
    call.open.delete(message.id);
    if (call.stream === undefined && call.open.size === 0)
      call.exchange.answer(200, JSON.stringify(message), headers);
    else writeMessage(streamOf(call), message);
    if (call.open.size === 0) finish(call);
  }

  function finish(call: PostedCall): void {
    const { stream } = call;
    if (stream !== undefined) {
      stream.isComplete = true;
      // Only a client that was away comes back for the end of it.
      if (stream.sink !== undefined) streams.delete(stream.number);
      disconnectStream(stream);
      forgetBroken();
    }
    call.done();
  }

  /** Ends a call without an answer, because the session ends. */
  function end(call: PostedCall): void {
    if (call.stream === undefined) refuse(call.exchange, Refusals.sessionNotFound());
    call.done();
  }

  function forgetBroken(): void {
    const broken = [...streams.values()].filter(
      ({ number, isComplete }) => isComplete && number !== STANDALONE,
    );
    for (const { number } of broken.slice(0, -MOST_BROKEN)) streams.delete(number);
  }

  /** Begins the stream of a call with the first message that is not its answer. */
  function streamOf(call: PostedCall): EventStream {
    if (call.stream !== undefined) return call.stream;
    const stream = createEventStream(++streamCount);
    call.stream = stream;
    streams.set(stream.number, stream);
    connect(stream, call.exchange);
    if (version >= PRIMED_SINCE) primeStream(stream);
    return stream;
  }

  function connect(stream: EventStream, exchange: HttpExchange, seen = 0): void {
    const sink = exchange.stream(headers);
    exchange.onGone(() => {
      if (stream.sink === sink) stream.sink = undefined;
    });
    resumeStream(stream, sink, seen);
  }

  /** Aborts a call whose client has left before anything was sent, because it has no id to come back with. */
  function abandon(call: PostedCall): void {
    if (call.stream !== undefined) return;
    for (const requestId of call.open) {
      calls.delete(requestId);
      const reason = 'The client disconnected';
      transport.onmessage?.({
        jsonrpc: '2.0',
        method: 'notifications/cancelled',
        params: { requestId, reason },
      });
    }
    call.done();
  }

  /** Ends a request that its client has cancelled, because the SDK sends no answer to it. */
  function cancel(message: JSONRPCMessage): void {
    if (!isJSONRPCNotification(message) || message.method !== 'notifications/cancelled') return;
    const { requestId } = (message.params ?? {}) as { requestId?: RequestId };
    const call = requestId === undefined ? undefined : calls.get(requestId);
    if (requestId === undefined || call === undefined) return;
    calls.delete(requestId);
    call.open.delete(requestId);
    if (call.open.size > 0) return;
    if (call.stream === undefined) call.exchange.stream(headers).end();
    finish(call);
  }

  async function post(exchange: HttpExchange, body: unknown): Promise<void> {
    const messages = (Array.isArray(body) ? body : [body]) as JSONRPCMessage[];
    const requests = messages.filter(isJSONRPCRequest);
    const refusal = refusalOf(exchange, messages, requests);
    if (refusal !== undefined) return refuse(exchange, refusal, body);
    const challenge = findChallenge && (await challengeOf(requests, exchange.authInfo, findChallenge));
    if (challenge !== undefined) return exchange.relay(challenge);
    if (isClosed) return refuse(exchange, Refusals.sessionNotFound(), body);
    // Another request with the same id may have come meanwhile.
    if (requests.some((request) => calls.has(request.id)))
      return refuse(exchange, Refusals.duplicateId(), body);
    for (const request of requests) noteSubscription(request);
    if (requests.length > 0) return deliver(exchange, messages, requests);
    for (const message of messages) {
      transport.onmessage?.(message, extraOf(exchange));
      cancel(message);
    }
    exchange.answer(202);
  }

  function refusalOf(exchange: HttpExchange, messages: JSONRPCMessage[], requests: JSONRPCRequest[]) {
    if (messages.length > MOST_IN_BATCH) return Refusals.batchTooLong(MOST_IN_BATCH);
    const isOpening = requests.some((request) => isInitializeRequest(request));
    if (isOpening && messages.length > 1) return Refusals.initializeInBatch();
    if (isOpening && version !== '') return Refusals.alreadyInitialized();
    if (new Set(requests.map((request) => request.id)).size < requests.length) return Refusals.duplicateId();
    return isOpening ? undefined : versionRefusal(exchange);
  }

  function noteSubscription({ method, params }: JSONRPCRequest): void {
    const uri = params?.['uri'];
    if (typeof uri !== 'string') return;
    if (method === 'resources/unsubscribe') subscribed.delete(uri);
    if (method === 'resources/subscribe' && subscribed.size < MOST_SUBSCRIBED) subscribed.add(uri);
  }

  function versionRefusal(exchange: HttpExchange) {
    const named = exchange.header('mcp-protocol-version');
    return named === undefined || supported.includes(named)
      ? undefined
      : Refusals.unsupportedVersion(named, supported);
  }

  function deliver(
    exchange: HttpExchange,
    messages: JSONRPCMessage[],
    requests: JSONRPCRequest[],
  ): Promise<void> {
    return new Promise((done) => {
      const open = new Set(requests.map((request) => request.id));
      const call: PostedCall = { exchange, open, stream: undefined, beats: 0, done };
      for (const { id: requestId } of requests) calls.set(requestId, call);
      exchange.onGone(() => abandon(call));
      const extra = extraOf(exchange);
      const closeSSEStream = (): void => disconnectStream(streamOf(call));
      const closeStandaloneSSEStream = (): void => {
        const stream = streams.get(STANDALONE);
        if (stream !== undefined) disconnectStream(stream);
      };
      const controls = version >= PRIMED_SINCE && { closeSSEStream, closeStandaloneSSEStream };
      for (const message of messages)
        transport.onmessage?.(message, isJSONRPCRequest(message) ? { ...extra, ...controls } : extra);
    });
  }

  function get(exchange: HttpExchange): void {
    const refusal = versionRefusal(exchange);
    if (refusal !== undefined) return refuse(exchange, refusal);
    const lastEventId = exchange.header('last-event-id');
    if (lastEventId !== undefined) return resume(exchange, lastEventId);
    const stream = streams.get(STANDALONE) ?? createEventStream(STANDALONE);
    if (stream.sink !== undefined) return refuse(exchange, Refusals.streamIsOpen());
    streams.set(STANDALONE, stream);
    connect(stream, exchange, stream.last);
  }

  function resume(exchange: HttpExchange, lastEventId: string): void {
    const seen = parseEventId(lastEventId);
    const stream = seen && streams.get(seen.number);
    if (stream === undefined) return refuse(exchange, Refusals.nothingToResume());
    connect(stream, exchange, seen?.count);
    if (!stream.isComplete) return;
    disconnectStream(stream);
    streams.delete(stream.number);
  }

  function beat(): void {
    for (const { sink } of streams.values()) sink?.write(': keepalive\n\n');
    for (const call of calls.values()) if (call.stream === undefined && ++call.beats > 1) streamOf(call);
  }

  return {
    id,
    transport,
    post,
    get,
    beat,
    isInitialized: () => version !== '',
    isSubscribed: (uri) => subscribed.has(uri),
    isBusy: () => calls.size > 0,
    isConnected: () => [...streams.values()].some(({ sink }) => sink !== undefined),
  };
}

function extraOf({ authInfo, request }: HttpExchange): { request: Request; authInfo?: AuthInfo } {
  return { request, ...(authInfo !== undefined && { authInfo }) };
}

/** Returns the answer that asks for more scopes, where a tool requires them. */
async function challengeOf(
  requests: readonly JSONRPCRequest[],
  authInfo: AuthInfo | undefined,
  find: ScopeChallengeHandler,
): Promise<Response | undefined> {
  for (const request of requests) {
    const challenge = await find({ request, ...(authInfo !== undefined && { authInfo }) });
    if (challenge === undefined) continue;
    const error = new OAuthError(
      OAuthErrorCode.InsufficientScope,
      challenge.errorDescription ?? 'Insufficient scope',
    );
    const resourceMetadataUrl = metadataUrlOf(authInfo);
    return bearerAuthChallengeResponse(error, {
      requiredScopes: [...challenge.scopes],
      ...(resourceMetadataUrl !== undefined && { resourceMetadataUrl }),
    });
  }
  return undefined;
}

function metadataUrlOf(authInfo: AuthInfo | undefined): string | undefined {
  if (authInfo?.resourceMetadataUrl !== undefined) return authInfo.resourceMetadataUrl;
  const resource = authInfo?.resource;
  return resource?.protocol === 'https:' || resource?.protocol === 'http:'
    ? getOAuthProtectedResourceMetadataUrl(resource)
    : undefined;
}
