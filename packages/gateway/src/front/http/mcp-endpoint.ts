import { quoted, RpcError, RpcErrorCode } from '../../errors.ts';
import type { FrontServices } from '../../gateway/front-services.ts';
import type { Implementation } from '../../protocol/eras.ts';
import { now } from '../../time/clock.ts';
import { CHAIN_HEADER, LOOP_DETECTED } from '../../upstream/gateway-chain.ts';
import { describeInvalidText } from '../../wire/describe-invalid.ts';
import { DEEPEST, isTooDeep } from '../../wire/json/scan.ts';
import { readMessage, type InvalidInput } from '../../wire/message.ts';
import type { Access } from './access.ts';
import { checkAcceptsEvents, checkMessage, checkPost, readBody } from './body.ts';
import { Heartbeat } from './heartbeat.ts';
import { LegacySessions } from './legacy/legacy-sessions.ts';
import { isModern, isModernVersion, ModernRequests } from './modern/modern-requests.ts';
import { pathOf, type HttpRoute } from './request-target.ts';
import { methodNotAllowed, refuse, type HttpRefusal } from './respond.ts';
import type { HttpLimits } from './serve-http.ts';
import type { IncomingRequest } from './server/incoming-request.ts';
import type { OutgoingResponse } from './server/outgoing-response.ts';

const DEFAULT_MAX_BODY_SIZE = 4 * 1024 * 1024;

export const PATH = '/mcp';
/** Path before the name of a group. Names are compared as they are written: a valid one needs no escapes. */
const GROUP_PATH = `${PATH}/`;
/** Clients of HTTP+SSE (2024-11-05) open their stream at the first and post their messages to the second. */
export const SSE_PATH = '/sse';
const MESSAGES_PATH = '/messages';

export interface McpEndpointOptions {
  readonly serverInfo: Implementation;
  readonly limits: HttpLimits;
  /** Bytes of a request's body; 4 MiB by default. */
  readonly maxBodySize?: number;
  readonly createId: () => string;
}

/** Serves MCP over HTTP: Streamable HTTP of both eras, and HTTP+SSE. */
export class McpEndpoint {
  readonly routes: readonly HttpRoute[];
  readonly #gateway: FrontServices;
  readonly #maxBodySize: number;
  readonly #heartbeat = new Heartbeat();
  readonly #modern: ModernRequests;
  readonly #legacy: LegacySessions;
  #isClosing = false;

  constructor(gateway: FrontServices, options: McpEndpointOptions) {
    const { serverInfo, limits, createId, maxBodySize } = options;
    this.#gateway = gateway;
    this.#maxBodySize = maxBodySize ?? DEFAULT_MAX_BODY_SIZE;
    const heartbeat = this.#heartbeat;
    this.#modern = new ModernRequests(gateway, { serverInfo, heartbeat });
    this.#legacy = new LegacySessions(gateway, {
      serverInfo,
      heartbeat,
      now,
      createId,
      maxSessions: limits.maxSessions,
      idleAfter: limits.sessionIdle,
    });
    this.routes = [
      this.#route(PATH, (req, res, access) => this.#handleMcp(req, res, access)),
      this.#route(GROUP_PATH, (req, res, access) => this.#handleMcp(req, res, access)),
      this.#route(SSE_PATH, (req, res, access) => this.#openSse(req, res, access)),
      this.#route(MESSAGES_PATH, (req, res, access) => this.#postSse(req, res, access)),
    ];
  }

  /** Open sessions, and streams and requests in flight. */
  get load(): { readonly sessions: number; readonly underWay: number } {
    return { sessions: this.#legacy.size, underWay: this.#heartbeat.size };
  }

  /** Number of requests whose client waits for an answer. */
  get awaited(): number {
    return this.#heartbeat.all().filter(({ isAwaited }) => isAwaited).length;
  }

  /** Refuses further requests; those in flight go on. */
  refuseNew(): void {
    this.#isClosing = true;
  }

  /** Ends all sessions, streams and requests. */
  close(): void {
    this.#modern.close(STOPPING);
    this.#legacy.close(STOPPING);
    this.#heartbeat.stop();
  }

  #route(path: string, handle: Handler): HttpRoute {
    return {
      path,
      needsToken: true,
      handle: (req, res, principal) => {
        if (this.#isClosing) return refuse(res, stopping());
        if (this.#refusesGateway(req, res)) return;
        const group = path === GROUP_PATH ? pathOf(req.url).slice(path.length) : undefined;
        const view = this.#gateway.findView(group);
        if (view === undefined) refuse(res, noGroup(group ?? ''));
        else handle(req, res, { principal, view });
      },
    };
  }

  /** Refuses a client that is a gateway and leads back here; names in a header all gateways that lead back to any other one. */
  #refusesGateway(req: IncomingRequest, res: OutgoingResponse): boolean {
    const before = req.headers.get(CHAIN_HEADER);
    if (before === undefined) return false;
    const { chain } = this.#gateway;
    const error = chain.refuse(before);
    if (error === undefined) res.addHeader(CHAIN_HEADER, chain.reach);
    else refuse(res, { status: LOOP_DETECTED, error });
    return error !== undefined;
  }

  #handleMcp(req: IncomingRequest, res: OutgoingResponse, access: Access): void {
    if (req.method === 'POST') return this.#post(req, res, access);
    const isModernClient = isModernVersion(req.headers.get('mcp-protocol-version'));
    if (isModernClient || (req.method !== 'GET' && req.method !== 'DELETE'))
      return refuse(res, methodNotAllowed(req.method, isModernClient ? 'POST' : 'POST, GET, DELETE'));
    if (req.method === 'DELETE') return this.#legacy.delete(req, res, access);
    const refusal = checkAcceptsEvents(req);
    if (refusal !== undefined) return refuse(res, refusal);
    this.#legacy.get(req, res, access);
  }

  #post(req: IncomingRequest, res: OutgoingResponse, access: Access): void {
    const refusal = checkPost(req);
    if (refusal !== undefined) return refuse(res, refusal);
    this.#readBody(res, (body) => this.#receive(body, req, res, access));
  }

  #receive(body: Buffer, req: IncomingRequest, res: OutgoingResponse, access: Access): void {
    const message = readMessage(body);
    if (message.kind !== 'invalid') {
      if (isModern(message, req)) this.#modern.post(message, req, res, access);
      else this.#legacy.post(message, req, res, access);
    } else if (message.reason === 'batch') this.#legacy.postBatch(message.bytes, req, res, access);
    else refuseBody(message, res);
  }

  #openSse(req: IncomingRequest, res: OutgoingResponse, access: Access): void {
    const refusal = req.method === 'GET' ? checkAcceptsEvents(req) : methodNotAllowed(req.method, 'GET');
    if (refusal !== undefined) refuse(res, refusal);
    else this.#legacy.getSse(res, { access, path: MESSAGES_PATH });
  }

  #postSse(req: IncomingRequest, res: OutgoingResponse, access: Access): void {
    const refusal = req.method === 'POST' ? checkMessage(req) : methodNotAllowed(req.method, 'POST');
    if (refusal !== undefined) return refuse(res, refusal);
    this.#readBody(res, (body) => {
      const message = readMessage(body);
      if (message.kind === 'invalid') refuseBody(message, res);
      else this.#legacy.postSse(message, req, res, access);
    });
  }

  #readBody(res: OutgoingResponse, receive: (body: Buffer) => void): void {
    readBody(res, this.#maxBodySize, {
      take: (size, work) => res.connection.workOnBody(size, work),
      read: receive,
      refused: (why) => refuse(res, why),
    });
  }
}

type Handler = (req: IncomingRequest, res: OutgoingResponse, access: Access) => void;

/** The names of other groups are left out: a client need not know them. */
function noGroup(group: string): HttpRefusal {
  const text = `There is no group '${quoted(group)}' in the config of this gateway. Check the end of the URL, or use ${PATH} for all servers.`;
  return { status: 404, error: new RpcError(RpcErrorCode.UNAVAILABLE, text) };
}

function refuseBody(body: InvalidInput, res: OutgoingResponse): void {
  const isJson = body.reason !== 'not-json';
  const code = isJson ? RpcErrorCode.INVALID_REQUEST : RpcErrorCode.PARSE_ERROR;
  const text = isJson ? 'The body is not a JSON-RPC 2.0 message.' : describeNotJson(body.bytes);
  const refusal = { status: 400, error: new RpcError(code, text) };
  refuse(res, refusal, body.likelyKind === 'request' ? body.id : undefined);
}

function describeNotJson(bytes: Buffer): string {
  if (isTooDeep(bytes)) return `The body is nested deeper than ${DEEPEST} levels. Send a flatter one.`;
  const problem = describeInvalidText(bytes);
  return problem === undefined ? 'The body is not JSON.' : `The body is not JSON: it contains ${problem}.`;
}

const STOPPING = 'The gateway is shutting down. Call again when it is back.';

function stopping(): HttpRefusal {
  const error = new RpcError(RpcErrorCode.UNAVAILABLE, STOPPING);
  return { status: 503, error, headers: ['Retry-After', '2'] };
}
