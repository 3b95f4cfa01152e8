import { addressingOf, BY_URI } from '../call/addressing.ts';
import { call, callTask, proceed } from '../call/call.ts';
import { ClientRequest, type Caller } from '../call/client-request.ts';
import { LOG_LEVELS } from '../call/log-levels.ts';
import { listTasks } from '../call/tasks/task-list.ts';
import { declaresTasks } from '../call/tasks/tasks.ts';
import { quoted, RpcError, RpcErrorCode } from '../errors.ts';
import type { FrontServices } from '../gateway/front-services.ts';
import type { View } from '../gateway/view.ts';
import { isTaskMethod, listedBy, Method } from '../protocol/methods.ts';
import { KINDS, type Kind } from '../upstream/catalogue/catalogue.ts';
import { answerError, resultLine } from '../wire/answer.ts';
import { findMember, stringValue } from '../wire/json/members.ts';
import type { Message } from '../wire/message.ts';
import type { Origin } from '../wire/peer.ts';
import type { ClientProfile } from './client-profile.ts';
import type { Subscriptions } from './subscriptions/subscriptions.ts';

/** Passes each request of one client to its handler: a call, a list, a subscription, the log level, a task. */
export class Dispatcher {
  readonly #gateway: FrontServices;
  readonly #view: View;
  readonly #profile: ClientProfile;
  readonly #subscriptions: Subscriptions;

  constructor(gateway: FrontServices, view: View, profile: ClientProfile, subscriptions: Subscriptions) {
    this.#gateway = gateway;
    this.#view = view;
    this.#profile = profile;
    this.#subscriptions = subscriptions;
  }

  dispatch(message: Message, caller: Caller): void {
    const request = new ClientRequest(this.#view.snapshot, caller, message);
    const addressing = addressingOf(message);
    if (addressing !== undefined) return call(request, addressing);
    const kind = listedBy(message.method);
    if (kind !== undefined) return list(request, kind);
    const { era } = this.#profile;
    if (era === 'modern' && message.method === Method.LISTEN) return this.#subscriptions.listen.open(request);
    if (era === 'legacy') {
      if (message.method === Method.SET_LOG_LEVEL) return this.#setLogLevel(message, caller.origin);
      if (message.method === Method.SUBSCRIBE || message.method === Method.UNSUBSCRIBE)
        return this.#subscribe(request);
    }
    if (isTaskMethod(message.method, era) && this.#gateway.serverCount !== 1)
      return message.method === Method.LIST_TASKS ? listTasks(request) : callTask(request);
    this.#forwardUnknown(request);
  }

  #setLogLevel({ id, params }: Message, origin: Origin): void {
    const level = (params && stringValue(params, 'level')) ?? '';
    if (!LOG_LEVELS.includes(level)) return answer(origin, id, unknownLevel());
    this.#profile.logLevel = level;
    this.#gateway.logLevelChanged();
    answer(origin, id, '{}');
  }

  #subscribe(request: ClientRequest): void {
    const { caller, message, snapshot } = request;
    const followed = this.#subscriptions.legacy.request(message, snapshot);
    if (followed === false) return call(request, BY_URI);
    answer(caller.origin, message.id, followed === true ? '{}' : followed);
  }

  /** Forwards a method that MCP does not define where there is only one server, which may know it. */
  #forwardUnknown(request: ClientRequest): void {
    const { snapshot, caller, message } = request;
    const [only, ...others] = snapshot.registry.upstreams.values();
    const isAlone = only !== undefined && others.length === 0 && this.#gateway.serverCount === 1;
    // A tool may be seen without its server, and a task comes from a tool; other methods need the whole server.
    if (isAlone && (this.#view.isWhole(only.serverKey) || isTaskMethod(message.method, this.#profile.era)))
      return proceed(request, { upstream: only, originalText: '' });
    answer(caller.origin, message.id, methodNotFound(message.method));
  }
}

/** Answers a list from the registry; no server is asked. */
function list(request: ClientRequest, kind: Kind): void {
  const { caller, message, services, snapshot } = request;
  const { origin, era, client } = caller;
  const { id, params } = message;
  const hasCursor = params !== undefined && findMember(params, 'cursor') >= 0;
  const cursor = hasCursor ? (stringValue(params, 'cursor') ?? '') : undefined;
  const hasTasks = era === 'modern' ? declaresTasks(message) : client.hasTasks === true;
  const result = snapshot.registry.pages[kind].result(cursor, { era, hasTasks });
  if (result === undefined) return answerError(origin, id, invalidCursor(kind));
  origin.answer(resultLine(id, result));
  if (kind === 'tools') services.nameWarnings.listed(request);
}

function invalidCursor(kind: Kind): RpcError {
  const text = `Invalid cursor for ${KINDS[kind].method}. Leave it out to read the list from its beginning.`;
  return new RpcError(RpcErrorCode.INVALID_PARAMS, text);
}

/** Answers with a result of the gateway's own, as JSON, or with an error. */
export function answer(origin: Origin, id: string, result: string | RpcError): void {
  if (result instanceof RpcError) answerError(origin, id, result);
  else origin.answer(resultLine(id, result));
}

export function methodNotFound(method: string): RpcError {
  return new RpcError(RpcErrorCode.METHOD_NOT_FOUND, `Method not found: ${quoted(method)}`);
}

function unknownLevel(): RpcError {
  return new RpcError(
    RpcErrorCode.INVALID_PARAMS,
    `${Method.SET_LOG_LEVEL} needs a "level" out of ${LOG_LEVELS.join(', ')}`,
  );
}
