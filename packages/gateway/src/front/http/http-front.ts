import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { Texts, quoted, RpcError, RpcErrorCode } from '../../errors.ts';
import type { Gateway } from '../../gateway/gateway.ts';
import { ALL_CAPABILITIES } from '../../protocol/capabilities.ts';
import { now } from '../../time/clock.ts';
import { CHAIN_HEADER, LOOP_DETECTED } from '../../upstream/gateway-chain.ts';
import { describeInvalidText } from '../../wire/describe-invalid.ts';
import { DEEPEST, isTooDeep } from '../../wire/json/scan.ts';
import { readMessage, type InvalidInput } from '../../wire/message.ts';
import { inSlice } from '../../wire/slices.ts';
import { turns, type Flow } from '../../wire/turns.ts';
import { accept } from './accept.ts';
import type { Access, Admission } from './access.ts';
import { checkPost, checkMessage, checkAcceptsEvents, readBody } from './body.ts';
import { flowOf, makeFlood, openAccount } from './connection-account.ts';
import { Heartbeat } from './heartbeat.ts';
import { LegacySessions } from './legacy/legacy-sessions.ts';
import { isModern, isModernVersion, ModernRequests } from './modern/modern-requests.ts';
import { afterEarlierRequests, pipelinedCount } from './pipeline.ts';
import { checkTarget, pathOf } from './request-target.ts';
import { closeAfterError, refuse, respondEmpty, waitsForContinue, type HttpRefusal } from './respond.ts';
import type { HttpLimits, HttpOptions } from './serve-http.ts';

const DEFAULT_MAX_BODY_SIZE = 4 * 1024 * 1024;
/** Bytes of a body from which on its client counts as a flood. */
const LARGE_BODY = 64 * 1024;
/** Elements that reading a head or a body counts as: it takes as long as so many lines. */
const STEP_ELEMENTS = 2;
/** Time for the first clients to read their lists, where all servers are remembered. */
const START_AFTER_MS = 200;
/** How long clients may take to read what was said last. */
const LAST_WRITE_MS = 500;

export const PATH = '/mcp';
/** Before the name of a group. Names are compared as they are written: a valid one needs no escapes. */
const GROUP_PATH = `${PATH}/`;
/** Clients of HTTP+SSE (2024-11-05) open their stream at the first and post their messages to the second. */
const SSE_PATH = '/sse';
const MESSAGES_PATH = '/messages';

export interface FrontOptions extends HttpOptions {
  readonly server: Server;
  readonly admission: Admission;
  readonly limits: HttpLimits;
  readonly url: string;
  readonly createId: () => string;
}

/** The gateway at an address. */
export class HttpFront {
  readonly url: string;
  /** Settles when the front has closed; rejects where the start of the servers fails. */
  readonly ended: Promise<void>;
  readonly #gateway: Gateway;
  readonly #server: Server;
  readonly #admission: Admission;
  readonly #maxBodySize: number;
  readonly #drainTime: number;
  readonly #heartbeat = new Heartbeat();
  readonly #modern: ModernRequests;
  readonly #legacy: LegacySessions;
  #end: (failure?: Error) => void = () => {};
  #startTimer: NodeJS.Timeout | undefined;
  #closing: Promise<void> | undefined;

  constructor(gateway: Gateway, options: FrontOptions) {
    const { serverInfo, limits, createId } = options;
    this.url = options.url;
    this.#gateway = gateway;
    this.#server = options.server;
    this.#admission = options.admission;
    this.#maxBodySize = options.maxBodySize ?? DEFAULT_MAX_BODY_SIZE;
    this.#drainTime = limits.drain;
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
    this.ended = new Promise((resolve, reject) => {
      this.#end = (failure) => (failure === undefined ? resolve() : reject(failure));
    });
    this.ended.catch(() => {});
    this.#server.on('error', (error) => gateway.log.error(`The HTTP server: ${error.message}`));
    accept(this.#server, (connection) =>
      openAccount(connection, gateway.accounts, (reason) => gateway.log.warn(Texts.clientEnded(reason))),
    );
    const serve = (req: IncomingMessage, res: ServerResponse): void =>
      afterEarlierRequests(req, res, () => this.#inTurn(res, () => this.#handle(req, res)));
    // A client that waits for 100 before it sends its body is admitted or refused first.
    this.#server.on('request', serve).on('checkContinue', serve);
    this.#open();
  }

  /** What there is at this moment, for those who look after it. */
  get load(): { readonly sessions: number; readonly underWay: number } {
    return { sessions: this.#legacy.size, underWay: this.#heartbeat.size };
  }

  /** How many requests somebody waits for. */
  get awaited(): number {
    return this.#heartbeat.all().filter(({ isAwaited }) => isAwaited).length;
  }

  /** How long the end waits for answers under way, in milliseconds. */
  get drainTime(): number {
    return this.#drainTime;
  }

  /** Answers what is under way, if that takes not too long, and ends the servers. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  /** Where all servers are remembered, they are spawned a little later: that would hold up the first lists. */
  #open(): void {
    // One of many clients can do each of these, and who cannot is told so when it is asked.
    this.#gateway.open(ALL_CAPABILITIES);
    if (!this.#gateway.isSettled) this.#start();
    else this.#startTimer = setTimeout(() => this.#start(), START_AFTER_MS);
  }

  #start(): void {
    this.#gateway.start().catch((error: unknown) => {
      this.#closing ??= this.#close(error as Error);
    });
  }

  async #close(failure?: Error): Promise<void> {
    clearTimeout(this.#startTimer);
    const closed = new Promise((resolve) => this.#server.close(resolve));
    await this.#drain();
    const reason = 'The gateway is being stopped. Call again when it is back.';
    this.#modern.close(reason);
    this.#legacy.close(reason);
    this.#heartbeat.stop();
    this.#server.closeIdleConnections();
    await Promise.race([closed, sleep(LAST_WRITE_MS)]);
    this.#server.closeAllConnections();
    await this.#gateway.close();
    this.#end(failure);
  }

  async #drain(): Promise<void> {
    const deadline = now() + this.#drainTime;
    while (this.awaited > 0 && now() < deadline) await sleep(20);
  }

  /** Works on a request in this turn of the event loop or in a later one; not at all where its client has left. */
  #inTurn(res: ServerResponse, work: () => void): void {
    const flow = flowOf(res.req.socket);
    if (turns.hasRoom(flow)) this.#work(res, flow, 0, work);
    else turns.wait(flow, () => this.#work(res, flow, 0, work));
  }

  /** The same for its body, which most often comes with the head and is worked on with it. */
  #bodyInTurn(res: ServerResponse, bytes: number, work: () => void): void {
    const { socket } = res.req;
    if (bytes > LARGE_BODY || pipelinedCount(socket) > 0) makeFlood(socket);
    const flow = flowOf(socket);
    if (turns.canContinue(flow)) this.#work(res, flow, bytes, work);
    else turns.wait(flow, () => this.#work(res, flow, bytes, work));
  }

  /** Works on one request, as one slice. */
  #work(res: ServerResponse, flow: Flow, bytes: number, work: () => void): void {
    if (res.destroyed) return;
    try {
      inSlice('request', flow, work, STEP_ELEMENTS, bytes);
    } catch (error) {
      closeAfterError(res, error as Error, this.#gateway.log);
    }
  }

  #handle(req: IncomingMessage, res: ServerResponse): void {
    const misplaced = checkTarget(req) ?? this.#admission.checkHostAndOrigin(req);
    if (misplaced !== undefined) return refuse(req, res, misplaced);
    const path = pathOf(req.url ?? '');
    const isGroup = path.startsWith(GROUP_PATH);
    if (!isGroup && path !== PATH && path !== SSE_PATH && path !== MESSAGES_PATH)
      return this.#handleOther(path, req, res);
    const principal = this.#admission.identify(req);
    if (typeof principal !== 'string') return refuse(req, res, principal);
    if (this.#closing !== undefined) return refuse(req, res, stopping());
    if (this.#refusesGateway(req, res)) return;
    const group = isGroup ? path.slice(GROUP_PATH.length) : undefined;
    const view = this.#gateway.findView(group);
    if (view === undefined) return refuse(req, res, noGroup(group ?? ''));
    const access = { principal, view };
    if (path === SSE_PATH) this.#openSse(req, res, access);
    else if (path === MESSAGES_PATH) this.#postSse(req, res, access);
    else if (req.method === 'POST') this.#post(req, res, access);
    else this.#withoutBody(req, res, access);
  }

  /** Refuses a client that is a gateway and leads back here; tells any other gateway where it would lead back. */
  #refusesGateway(req: IncomingMessage, res: ServerResponse): boolean {
    const before = req.headers[CHAIN_HEADER]?.toString();
    if (before === undefined) return false;
    const { chain } = this.#gateway;
    const error = chain.refuse(before);
    if (error === undefined) res.setHeader(CHAIN_HEADER, chain.reach);
    else refuse(req, res, { status: LOOP_DETECTED, error });
    return error !== undefined;
  }

  #post(req: IncomingMessage, res: ServerResponse, access: Access): void {
    const refusal = checkPost(req);
    if (refusal !== undefined) return refuse(req, res, refusal);
    this.#read(req, res, (body) => this.#receive(body, req, res, access));
  }

  #read(req: IncomingMessage, res: ServerResponse, receive: (body: Buffer) => void): void {
    if (waitsForContinue(req)) res.writeContinue();
    readBody(req, this.#maxBodySize, {
      take: (size, work) => this.#bodyInTurn(res, size, work),
      read: receive,
      refused: (why) => refuse(req, res, why),
    });
  }

  #openSse(req: IncomingMessage, res: ServerResponse, access: Access): void {
    const refusal = req.method === 'GET' ? checkAcceptsEvents(req) : notAllowed(req.method, 'GET');
    if (refusal !== undefined) refuse(req, res, refusal);
    else this.#legacy.getSse(req, res, { access, path: MESSAGES_PATH });
  }

  #postSse(req: IncomingMessage, res: ServerResponse, access: Access): void {
    const refusal = req.method === 'POST' ? checkMessage(req) : notAllowed(req.method, 'POST');
    if (refusal !== undefined) return refuse(req, res, refusal);
    this.#read(req, res, (body) => {
      const message = readMessage(body);
      if (message.kind === 'invalid') this.#refuseBody(message, req, res);
      else this.#legacy.postSse(message, req, res, access);
    });
  }

  #receive(body: Buffer, req: IncomingMessage, res: ServerResponse, access: Access): void {
    const message = readMessage(body);
    if (message.kind === 'invalid') this.#invalid(message, req, res, access);
    else if (isModern(message, req)) this.#modern.post(message, req, res, access);
    else this.#legacy.post(message, req, res, access);
  }

  #invalid(body: InvalidInput, req: IncomingMessage, res: ServerResponse, access: Access): void {
    if (body.reason === 'batch') this.#legacy.postBatch(body.bytes, req, res, access);
    else this.#refuseBody(body, req, res);
  }

  #refuseBody(body: InvalidInput, req: IncomingMessage, res: ServerResponse): void {
    const isJson = body.reason !== 'not-json';
    const code = isJson ? RpcErrorCode.INVALID_REQUEST : RpcErrorCode.PARSE_ERROR;
    const error = new RpcError(
      code,
      isJson ? 'The body is no JSON-RPC 2.0 message.' : describeNotJson(body.bytes),
    );
    refuse(req, res, { status: 400, error }, body.likelyKind === 'request' ? body.id : undefined);
  }

  #withoutBody(req: IncomingMessage, res: ServerResponse, access: Access): void {
    const isModernClient = isModernVersion(req.headers['mcp-protocol-version']);
    if (isModernClient || (req.method !== 'GET' && req.method !== 'DELETE'))
      return refuse(req, res, notAllowed(req.method, isModernClient ? 'POST' : 'POST, GET, DELETE'));
    if (req.method === 'DELETE') return this.#legacy.delete(req, res, access);
    const refusal = checkAcceptsEvents(req);
    if (refusal !== undefined) return refuse(req, res, refusal);
    this.#legacy.get(req, res, access);
  }

  /** Whether we live, and whether all servers have been tried; whoever asks needs no token. */
  #handleOther(path: string, req: IncomingMessage, res: ServerResponse): void {
    const isHealth = path === '/healthz';
    if (!isHealth && path !== '/readyz') return refuse(req, res, notFound(path));
    if (req.method !== 'GET' && req.method !== 'HEAD')
      return refuse(req, res, notAllowed(req.method, 'GET, HEAD'));
    const isReady = this.#gateway.isTried && this.#closing === undefined;
    respondEmpty(res, isHealth || isReady ? 200 : 503);
  }
}

function describeNotJson(bytes: Buffer): string {
  if (isTooDeep(bytes)) return `The body is nested deeper than ${DEEPEST} levels. Send something flatter.`;
  const fault = describeInvalidText(bytes);
  return fault === undefined ? 'The body is no JSON.' : `The body is no JSON: it holds ${fault}.`;
}

function stopping(): HttpRefusal {
  const error = new RpcError(
    RpcErrorCode.UNAVAILABLE,
    'The gateway is being stopped. Call again when it is back.',
  );
  return { status: 503, error, headers: ['Retry-After', '2', 'Connection', 'close'] };
}

function notAllowed(method: string | undefined, allowed: string): HttpRefusal {
  const error = new RpcError(
    RpcErrorCode.INVALID_REQUEST,
    `${method ?? ''} is not allowed here, but ${allowed}.`,
  );
  return { status: 405, error, headers: ['Allow', allowed] };
}

function notFound(path: string): HttpRefusal {
  const error = new RpcError(
    RpcErrorCode.UNAVAILABLE,
    `There is nothing at ${quoted(path)}. MCP is spoken at ${PATH}, and HTTP+SSE at ${SSE_PATH}.`,
  );
  return { status: 404, error };
}

/** The names of other groups are left out: a client need not know them. */
function noGroup(group: string): HttpRefusal {
  const text = `There is no group '${quoted(group)}' in the config of this gateway. Check the end of the URL, or use ${PATH} for all servers.`;
  return { status: 404, error: new RpcError(RpcErrorCode.UNAVAILABLE, text) };
}

function sleep(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
