import { Texts, quoted, RpcError, RpcErrorCode } from '../../../errors.ts';
import type { FrontServices } from '../../../gateway/front-services.ts';
import { LEGACY_VERSIONS, type Implementation } from '../../../protocol/eras.ts';
import { Method } from '../../../protocol/methods.ts';
import type { Account } from '../../../wire/account.ts';
import { Batch, BATCH_VERSION, MOST_IN_A_BATCH } from '../../../wire/batch.ts';
import type { Message } from '../../../wire/message.ts';
import type { Access } from '../access.ts';
import type { HeartbeatListener, Heartbeat } from '../heartbeat.ts';
import { parameterOf } from '../request-target.ts';
import { refuse, respondEmpty, type HttpRefusal } from '../respond.ts';
import type { IncomingRequest } from '../server/incoming-request.ts';
import type { OutgoingResponse } from '../server/outgoing-response.ts';
import { EventBudget } from './event-store.ts';
import { LegacySession } from './legacy-session.ts';
import { SseSession } from './sse-session.ts';

export interface LegacyOptions {
  readonly serverInfo: Implementation;
  readonly heartbeat: Heartbeat;
  readonly now: () => number;
  readonly createId: () => string;
  readonly maxSessions: number;
  /** Milliseconds after which a session without a request and without a stream is ended. */
  readonly idleAfter: number;
}

/** Beats between two looks at who is idle. */
const SWEEP_EVERY = 3;

/** The query parameter by which clients of HTTP+SSE name their session. */
const SESSION_ID = 'sessionId';

/** Legacy clients: each has a session, which it names with every request. */
export class LegacySessions implements HeartbeatListener {
  readonly isAwaited = false;
  readonly #gateway: FrontServices;
  readonly #options: LegacyOptions;
  readonly #sessions = new Map<string, LegacySession | SseSession>();
  readonly #budget: EventBudget;
  #beatNumber: number | undefined;
  #beats = 0;

  constructor(gateway: FrontServices, options: LegacyOptions) {
    this.#gateway = gateway;
    this.#options = options;
    this.#budget = new EventBudget(gateway.accounts);
  }

  get size(): number {
    return this.#sessions.size;
  }

  post(message: Message, req: IncomingRequest, res: OutgoingResponse, access: Access): void {
    const isOpening = message.kind === 'request' && message.method === Method.INITIALIZE;
    if (isOpening && !req.headers.has('mcp-session-id')) return this.#open(message, res, access);
    const session = this.#find(req, access);
    if (!(session instanceof LegacySession)) refuse(res, session, message.id || undefined);
    else if (isOpening) refuse(res, badRequest('This session is already open'), message.id);
    else session.receive([message], res);
  }

  postBatch(bytes: Buffer, req: IncomingRequest, res: OutgoingResponse, access: Access): void {
    const session = this.#find(req, access);
    if (!(session instanceof LegacySession)) return refuse(res, isUnnamed(req) ? noBatches() : session);
    const messages = session.version === BATCH_VERSION ? readBatch(bytes) : noBatches();
    if (Array.isArray(messages)) session.receive(messages, res, { isBatch: true });
    else refuse(res, messages);
  }

  /** A stream that the client only listens to. */
  get(req: IncomingRequest, res: OutgoingResponse, access: Access): void {
    const session = this.#find(req, access);
    if (session instanceof LegacySession) session.listen(res);
    else refuse(res, session);
  }

  delete(req: IncomingRequest, res: OutgoingResponse, access: Access): void {
    const session = this.#find(req, access);
    if (!(session instanceof LegacySession)) return refuse(res, session);
    this.#end(session, 'The client ended its session');
    respondEmpty(res, 200);
  }

  /** Opens a session of HTTP+SSE; `path` is where its messages are posted. */
  getSse(res: OutgoingResponse, { access, path }: SseOpening): void {
    if (!this.#evictIdlest()) return refuse(res, tooMany());
    const { createId, serverInfo, heartbeat, now } = this.#options;
    const id = createId();
    const session: SseSession = new SseSession(this.#gateway, res, {
      id,
      access,
      serverInfo,
      heartbeat,
      now,
      account: this.#openAccount(() => session),
      endpoint: `${path}?${SESSION_ID}=${id}`,
      left: () => this.#end(session, 'The client has closed its stream'),
    });
    this.#add(session);
  }

  /** Takes a message of a client of HTTP+SSE; the answer goes to the client's stream. */
  postSse(message: Message, req: IncomingRequest, res: OutgoingResponse, access: Access): void {
    const id = parameterOf(req.url, SESSION_ID);
    const session = this.#sessions.get(id ?? '');
    if (id === undefined) refuse(res, badRequest(`${SESSION_ID} is missing. Open a stream with GET first`));
    else if (!(session instanceof SseSession) || session.access.principal !== access.principal)
      refuse(res, unknownStream(), message.id || undefined);
    else {
      respondEmpty(res, 202);
      session.receive(message);
    }
  }

  close(reason: string): void {
    for (const session of this.#sessions.values()) this.#end(session, reason);
  }

  beat(): void {
    if (++this.#beats % SWEEP_EVERY !== 0) return;
    const oldest = this.#options.now() - this.#options.idleAfter;
    for (const session of this.#sessions.values()) {
      session.sweep();
      if (session.usedAt < oldest) this.#end(session, 'The session was idle for too long');
    }
  }

  #open(message: Message, res: OutgoingResponse, access: Access): void {
    if (!this.#evictIdlest()) return refuse(res, tooMany(), message.id);
    const { createId, serverInfo, heartbeat, now } = this.#options;
    const id = createId();
    const session: LegacySession = new LegacySession(this.#gateway, {
      id,
      access,
      serverInfo,
      heartbeat,
      budget: this.#budget,
      now,
      account: this.#openAccount(() => session),
    });
    this.#add(session);
    session.receive([message], res, { headers: ['Mcp-Session-Id', id] });
  }

  /** Opens the account of a session, which outlives the connections that carry it. */
  #openAccount(session: () => LegacySession | SseSession): Account {
    return this.#gateway.accounts.open((reason) => {
      this.#gateway.log.warn(Texts.clientDisconnected(reason));
      this.#end(session(), `The client ${reason}`);
    });
  }

  #add(session: LegacySession | SseSession): void {
    this.#sessions.set(session.id, session);
    this.#beatNumber ??= this.#options.heartbeat.add(this);
  }

  /** Evicts the session that was idle longest; its client, if it is still there, opens another. */
  #evictIdlest(): boolean {
    if (this.#sessions.size < this.#options.maxSessions) return true;
    let idlest: LegacySession | SseSession | undefined;
    for (const session of this.#sessions.values()) {
      if (!session.isAttended && session.usedAt < (idlest?.usedAt ?? Infinity)) idlest = session;
    }
    if (idlest !== undefined) this.#end(idlest, 'Weir ended the session to make room for a newer one');
    return idlest !== undefined;
  }

  #find(req: IncomingRequest, { principal, view }: Access): LegacySession | HttpRefusal {
    const id = req.headers.get('mcp-session-id');
    const version = req.headers.get('mcp-protocol-version');
    if (id === undefined) return badRequest('Mcp-Session-Id is missing. Send initialize first');
    const session = this.#sessions.get(id);
    // A session of another principal or group is answered like one that does not exist.
    if (!(session instanceof LegacySession)) return unknownSession();
    if (session.access.principal !== principal || session.access.view !== view) return unknownSession();
    if (version !== undefined && !LEGACY_VERSIONS.includes(version)) return unknownVersion(version);
    return session;
  }

  #end(session: LegacySession | SseSession, reason: string): void {
    if (!this.#sessions.delete(session.id)) return;
    session.end(reason);
    if (this.#sessions.size > 0 || this.#beatNumber === undefined) return;
    this.#options.heartbeat.remove(this.#beatNumber);
    this.#beatNumber = undefined;
  }
}

/** Principal of a stream, and the path that its messages are posted to. */
interface SseOpening {
  readonly access: Access;
  readonly path: string;
}

function isUnnamed({ headers }: IncomingRequest): boolean {
  return !headers.has('mcp-session-id');
}

function readBatch(bytes: Buffer): Message[] | HttpRefusal {
  const batch = Batch.open(bytes);
  if (batch === undefined) return badRequest(`A batch is an array of 1 to ${MOST_IN_A_BATCH} messages`);
  const messages: Message[] = [];
  for (let message = batch.next(); message !== undefined; message = batch.next()) {
    if (message.kind === 'invalid')
      return badRequest('The batch contains something that is not a JSON-RPC 2.0 message');
    if (message.method === Method.INITIALIZE) return badRequest('initialize cannot be part of a batch');
    messages.push(message);
  }
  return messages;
}

function badRequest(text: string): HttpRefusal {
  return { status: 400, error: new RpcError(RpcErrorCode.INVALID_REQUEST, `${text}.`) };
}

function noBatches(): HttpRefusal {
  return badRequest(Texts.batchRefused());
}

function unknownSession(): HttpRefusal {
  const text =
    'Session not found. It may have ended: send initialize without Mcp-Session-Id to open another.';
  return { status: 404, error: new RpcError(RpcErrorCode.UNAVAILABLE, text) };
}

function unknownStream(): HttpRefusal {
  const text = 'Session not found. A session ends with its stream: open another with GET.';
  return { status: 404, error: new RpcError(RpcErrorCode.UNAVAILABLE, text) };
}

function unknownVersion(version: string): HttpRefusal {
  return badRequest(
    `MCP-Protocol-Version '${quoted(version)}' is not supported: use one of ${LEGACY_VERSIONS.join(', ')}`,
  );
}

function tooMany(): HttpRefusal {
  const text = 'Too many sessions are open. End unused ones with DELETE, and try again.';
  return { status: 503, error: new RpcError(RpcErrorCode.UNAVAILABLE, text), headers: ['Retry-After', '10'] };
}
