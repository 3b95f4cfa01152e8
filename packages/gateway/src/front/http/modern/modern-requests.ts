import { quoted, quotedData, RpcError, RpcErrorCode } from '../../../errors.ts';
import type { FrontServices } from '../../../gateway/front-services.ts';
import type { View } from '../../../gateway/view.ts';
import { Meta, MODERN_VERSION, type Implementation } from '../../../protocol/eras.ts';
import { Method, isRemoved, namedInHeader } from '../../../protocol/methods.ts';
import { decodeHeaderValue } from '../../../protocol/param-headers.ts';
import { NO_ACCOUNT } from '../../../wire/account.ts';
import type { HttpHeaders } from '../../../wire/http/head-lines.ts';
import { findMember, stringStart, stringValue, valueText } from '../../../wire/json/members.ts';
import type { Message } from '../../../wire/message.ts';
import { Session } from '../../session.ts';
import type { Access } from '../access.ts';
import type { Heartbeat } from '../heartbeat.ts';
import { refuse, respondEmpty, type HttpRefusal } from '../respond.ts';
import type { IncomingRequest } from '../server/incoming-request.ts';
import type { OutgoingResponse } from '../server/outgoing-response.ts';
import { ModernResponse } from './modern-response.ts';
import { parameterHeaderError } from './param-header-check.ts';

export interface ModernOptions {
  readonly serverInfo: Implementation;
  readonly heartbeat: Heartbeat;
}

/** Streams that only listen may be open for ever, so there must not be any number of them. */
const MOST_LISTENERS = 1000;

/** Bytes of a name that are compared with its header. */
const LONGEST_NAME = 64 * 1024;

/** On this transport a request is called off by closing its response, and says by itself what it is about. */
const IGNORED: ReadonlySet<string> = new Set([Method.CANCELLED, Method.PROGRESS]);

/** Clients of the modern era: no sessions, every request says everything. */
export class ModernRequests {
  readonly #gateway: FrontServices;
  readonly #options: ModernOptions;
  /** All requests of one principal in one group are those of one client, though perhaps of many programs. */
  readonly #sessions = new Map<string, Session>();
  #listeners = 0;

  constructor(gateway: FrontServices, options: ModernOptions) {
    this.#gateway = gateway;
    this.#options = options;
  }

  post(message: Message, req: IncomingRequest, res: OutgoingResponse, access: Access): void {
    if (message.kind === 'response') return refuse(res, noResponses());
    const refusal =
      message.kind === 'request' ? checkRequest(message, req, access.view) : checkNotification(message, req);
    if (refusal !== undefined) return refuse(res, refusal, message.id || undefined);
    if (message.kind === 'notification') return this.#notified(message, res, access);
    if (message.method === Method.LISTEN && !this.#countListener(res))
      return refuse(res, tooMany(), message.id);
    this.#sessionOf(access).receive(message, new ModernResponse(message, res, this.#options.heartbeat));
  }

  close(reason: string): void {
    for (const session of this.#sessions.values()) session.close();
    const error = new RpcError(RpcErrorCode.UNAVAILABLE, reason);
    for (const beating of this.#options.heartbeat.all())
      if (beating instanceof ModernResponse) beating.stop(error);
  }

  #notified(message: Message, res: OutgoingResponse, access: Access): void {
    if (!IGNORED.has(message.method)) this.#sessionOf(access).receive(message);
    respondEmpty(res, 202);
  }

  #countListener(res: OutgoingResponse): boolean {
    if (this.#listeners >= MOST_LISTENERS) return false;
    this.#listeners++;
    res.onClose(() => this.#listeners--);
    return true;
  }

  #sessionOf({ principal, view }: Access): Session {
    // In each group a principal is a client of its own: what one was given is of no use to the other.
    const identity = view.group === undefined ? principal : `${principal} ${view.group.name}`;
    const known = this.#sessions.get(identity);
    if (known !== undefined) return known;
    const { serverInfo } = this.#options;
    const session = new Session(this.#gateway, () => NO_LINK, {
      serverInfo,
      view,
      identity,
      isSharedToken: true,
      era: 'modern',
    });
    this.#sessions.set(identity, session);
    return session;
  }
}

/** In this era nothing is sent but in answer to a request. */
const NO_LINK = { account: NO_ACCOUNT, send() {}, pause() {}, resume() {}, backlog: 0, close() {} } as const;

/** Returns the reason why a request cannot be served: it must say what it is, and its headers must say the same. */
function checkRequest(message: Message, { headers }: IncomingRequest, view: View): HttpRefusal | undefined {
  const refusal =
    checkEnvelope(message, headers) ?? checkMethod(message, headers, true) ?? checkName(message, headers);
  if (refusal !== undefined) return refusal;
  const fault = parameterHeaderError(message, headers, view.snapshot);
  return fault === undefined ? undefined : headerMismatch(fault);
}

/** A notification need not say anything about itself, but nothing wrong either. */
function checkNotification(message: Message, { headers }: IncomingRequest): HttpRefusal | undefined {
  const claimed = (message.meta && stringValue(message.meta, Meta.PROTOCOL_VERSION)) ?? MODERN_VERSION;
  const version = headers.get('mcp-protocol-version') ?? claimed;
  if (version !== claimed) return mismatch('MCP-Protocol-Version', version, claimed);
  return claimed === MODERN_VERSION ? checkMethod(message, headers, false) : unsupported(claimed);
}

function checkEnvelope({ meta }: Message, headers: HttpHeaders): HttpRefusal | undefined {
  const claimed = meta && stringValue(meta, Meta.PROTOCOL_VERSION);
  const version = headers.get('mcp-protocol-version');
  if (claimed === undefined)
    return version === undefined || version === MODERN_VERSION
      ? incomplete(Meta.PROTOCOL_VERSION)
      : unsupported(version);
  if (version !== claimed) return mismatch('MCP-Protocol-Version', version, claimed);
  if (claimed !== MODERN_VERSION) return unsupported(claimed);
  const capabilities = meta && valueText(meta, Meta.CLIENT_CAPABILITIES);
  return capabilities?.startsWith('{') === true ? undefined : incomplete(Meta.CLIENT_CAPABILITIES);
}

function checkMethod(
  { method, kind }: Message,
  headers: HttpHeaders,
  isNeeded: boolean,
): HttpRefusal | undefined {
  const named = headers.get('mcp-method');
  if (named !== method && (isNeeded || named !== undefined) && named?.trim() !== method)
    return mismatch('Mcp-Method', named, method);
  return kind === 'request' && isRemoved(method) ? unknownMethod(method) : undefined;
}

/** Compares Mcp-Name with the body. A body without a name passes, because its server reports that. */
function checkName({ method, params }: Message, headers: HttpHeaders): HttpRefusal | undefined {
  const key = namedInHeader(method);
  // No header is longer, and the text of a long name would take as much memory again.
  const value = key === undefined ? undefined : params && stringStart(params, key, LONGEST_NAME);
  const named = headers.get('mcp-name');
  if (value === undefined || named === value) return undefined;
  const text = named?.trim();
  return text !== undefined && decodeHeaderValue(text) === value
    ? undefined
    : mismatch('Mcp-Name', named, value);
}

/** Returns true for a modern message, by its `_meta` or else by its header. */
export function isModern({ meta }: Message, { headers }: IncomingRequest): boolean {
  if (meta !== undefined && findMember(meta, Meta.PROTOCOL_VERSION) >= 0) return true;
  return isModernVersion(headers.get('mcp-protocol-version'));
}

/** All revisions are dates, and those that come will be later ones. */
export function isModernVersion(version: string | undefined): boolean {
  return version !== undefined && version >= MODERN_VERSION;
}

function mismatch(header: string, sent: string | undefined, meant: string): HttpRefusal {
  const what = sent === undefined ? 'is missing' : `says '${quoted(sent)}'`;
  return headerMismatch(`${header} ${what}, and the body says '${quoted(meant)}'`);
}

function headerMismatch(what: string): HttpRefusal {
  const text = `Header mismatch: ${what}. Header and body must agree.`;
  return { status: 400, error: new RpcError(RpcErrorCode.HEADER_MISMATCH, text) };
}

function unsupported(requested: string): HttpRefusal {
  const text = `Unsupported protocol version: ${quoted(requested)}. Use ${MODERN_VERSION}, or open a session with initialize.`;
  const data = { supported: [MODERN_VERSION], requested: quotedData(requested) };
  return { status: 400, error: new RpcError(RpcErrorCode.UNSUPPORTED_VERSION, text, data) };
}

function incomplete(key: string): HttpRefusal {
  const text = `Every request needs "${key}" in its _meta.`;
  return { status: 400, error: new RpcError(RpcErrorCode.INVALID_PARAMS, text) };
}

function unknownMethod(method: string): HttpRefusal {
  return {
    status: 404,
    error: new RpcError(RpcErrorCode.METHOD_NOT_FOUND, `Method not found: ${quoted(method)}`),
  };
}

function noResponses(): HttpRefusal {
  const text = 'The modern era has no posted answers: repeat the request with "inputResponses".';
  return { status: 400, error: new RpcError(RpcErrorCode.INVALID_REQUEST, text) };
}

function tooMany(): HttpRefusal {
  const text = `More than ${MOST_LISTENERS} subscriptions are open. End some of them.`;
  return { status: 503, error: new RpcError(RpcErrorCode.UNAVAILABLE, text), headers: ['Retry-After', '10'] };
}
