import { callEdits, callNamed } from '../call/addressee.ts';
import { isWanted } from '../call/log-levels.ts';
import { callsOf } from '../call/questions/ask.ts';
import { isOver, taskIdOf } from '../call/tasks/tasks.ts';
import { uriEdit } from '../call/uri-edits.ts';
import { RpcError } from '../errors.ts';
import type { FrontServices } from '../gateway/front-services.ts';
import { roundEdits } from '../protocol/asker-name.ts';
import { Meta } from '../protocol/eras.ts';
import { hasTooManyQuestions, tooManyQuestions } from '../protocol/input-required.ts';
import { Method, isTaskNotification } from '../protocol/methods.ts';
import type { Upstream } from '../upstream/upstream.ts';
import { stringValue } from '../wire/json/members.ts';
import { changeMembers, splice, type Edit } from '../wire/json/splice.ts';
import type { Message } from '../wire/message.ts';
import type { Session } from './session.ts';
import type { Subscriptions } from './subscriptions/subscriptions.ts';

/** Delivers notifications of servers to one client. */
export class Notifications {
  readonly #session: Session;
  readonly #gateway: FrontServices;
  readonly #subscriptions: Subscriptions;

  constructor(session: Session, gateway: FrontServices, subscriptions: Subscriptions) {
    this.#session = session;
    this.#gateway = gateway;
    this.#subscriptions = subscriptions;
  }

  /** `related` is the id of the request that it is about, where that is known. */
  deliver(server: Upstream, told: Message, related: number | undefined): void {
    const message = this.#gateway.calls.tasks.publicMessage(server, told);
    if (message.method === Method.RESOURCE_UPDATED) return this.#resourceUpdated(server, message);
    if (message.method === Method.LOG_MESSAGE) return this.#logged(server, message, related);
    if (isTaskNotification(message.method)) return this.#taskChanged(server, message);
    // Between the gateway and a modern server.
    if (message.method === Method.LISTEN_ACKNOWLEDGED) return;
    this.#other(server, message, related);
  }

  /** Sends a notification about a call to where the call came from; `clients.notified` has chosen this client for the rest. */
  #other(server: Upstream, message: Message, related: number | undefined): void {
    const { era, peer } = this.#session;
    const call = callNamed(server, message, related);
    if (server.era !== era || (call !== undefined && call.caller?.client !== this.#session)) return;
    const edits = call === undefined ? [] : callEdits(message, call);
    (call?.origin ?? peer).send(splice(message.bytes, edits));
  }

  #resourceUpdated(server: Upstream, message: Message): void {
    const { params, meta, bytes } = message;
    const { era, peer } = this.#session;
    const uri = params && stringValue(params, 'uri');
    if (params === undefined || uri === undefined || !this.#session.view.isWhole(server.serverKey)) return;
    const sharedUri = this.#gateway.builder.uris.sharedUri(server.serverKey, uri);
    if (era === 'modern')
      return this.#subscriptions.listen.resourceChanged({ upstream: server, uri }, message, sharedUri);
    if (!this.#mayReceive(server, uri)) return;
    const edits = uriEdit(
      params,
      (found) => this.#subscriptions.legacy.followedAs(server, found) ?? sharedUri,
    );
    if (meta !== undefined) edits.push(...changeMembers(meta, [Meta.SUBSCRIPTION_ID], ''));
    peer.send(splice(bytes, edits));
  }

  /** Returns false for a resource that only another client follows. */
  #mayReceive(server: Upstream, uri: string): boolean {
    const isOnlyClient = server.sharing !== 'shared' || this.#gateway.clients.clients.size === 1;
    return isOnlyClient || this.#subscriptions.legacy.followsUri(server, uri);
  }

  /** News of a task are for the client it was made for; a modern one has to have asked for them. */
  #taskChanged(server: Upstream, message: Message): void {
    const { era, identity, peer } = this.#session;
    if (server.era !== era) return;
    const { builder, calls, clients } = this.#gateway;
    const { tasks } = calls;
    const publicUri = (uri: string): string | undefined => builder.uris.sharedUri(server.serverKey, uri);
    if (era === 'modern') {
      const edits = this.#askerEdits(server, message);
      if (!(edits instanceof RpcError))
        this.#subscriptions.listen.taskChanged(server, message, { publicUri, edits });
      return;
    }
    const owner = tasks.ownerOf(taskIdOf(message) ?? '');
    const isMine = owner === undefined ? clients.clients.size === 1 : owner === identity;
    if (!isMine) return;
    peer.send(splice(message.bytes, []));
    if (message.params !== undefined && isOver(message.params)) tasks.over(taskIdOf(message) ?? '');
  }

  /** A task may wait for what a person is asked. */
  #askerEdits({ serverKey }: Upstream, { params }: Message): Edit[] | RpcError {
    if (params !== undefined && hasTooManyQuestions(params, false)) return tooManyQuestions();
    const asker = this.#gateway.calls.askerOf(serverKey);
    return asker === undefined || params === undefined ? [] : roundEdits(params, asker);
  }

  /** A log is about the calls under way, if any; a modern client hears only what it has asked for with one of them. */
  #logged(server: Upstream, message: Message, related: number | undefined): void {
    const { era, logLevel: wanted, peer } = this.#session;
    const level = message.params && stringValue(message.params, 'level');
    const calls = callsOf(server, related);
    const own = calls.filter(({ caller }) => caller?.client === this.#session);
    if (related !== undefined && own.length < calls.length) return;
    const line = splice(message.bytes, []);
    if (era === 'legacy') {
      if (isWanted(level, wanted)) (own.at(-1)?.origin ?? peer).send(line);
      return;
    }
    const asking = own.filter(({ logLevel }) => logLevel !== undefined && isWanted(level, logLevel));
    for (const origin of new Set(asking.map((call) => call.origin))) origin?.send(line);
  }
}
