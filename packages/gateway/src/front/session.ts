import type { ListName } from '../call/list-change-notifier.ts';
import { isWanted } from '../call/log-levels.ts';
import { internalError, RpcError, RpcErrorCode } from '../errors.ts';
import type { Client } from '../gateway/clients.ts';
import type { FrontServices } from '../gateway/front-services.ts';
import type { View } from '../gateway/view.ts';
import type { Envelope, Era, Implementation } from '../protocol/eras.ts';
import { listChanged, Method } from '../protocol/methods.ts';
import type { Upstream } from '../upstream/upstream.ts';
import { answerError, notificationLine, resultLine } from '../wire/answer.ts';
import { BATCH_VERSION } from '../wire/batch.ts';
import { encode, splice } from '../wire/json/splice.ts';
import type { Link, LinkHandlers } from '../wire/link.ts';
import type { Message } from '../wire/message.ts';
import { Peer, type Origin, type Recipient } from '../wire/peer.ts';
import { ClientProfile } from './client-profile.ts';
import { answer, Dispatcher } from './dispatch.ts';
import { Handshake } from './handshake.ts';
import { eraOf } from './initialize.ts';
import { InvalidInputHandler } from './invalid-input.ts';
import { Notifications } from './notifications.ts';
import { RequestCaller, RequestRecipient } from './request-caller.ts';
import { StartupQueue } from './startup-queue.ts';
import { Subscriptions } from './subscriptions/subscriptions.ts';

export interface SessionOptions {
  /** Servers and tools that the client sees; all by default. */
  readonly view?: View;
  /** Name and version of the gateway. */
  readonly serverInfo: Implementation;
  /** Identity that owns tasks and state; one for each client where there are several. */
  readonly identity?: string;
  /** True where many programs share one token. */
  readonly isSharedToken?: boolean;
  /** True where no other client can connect. */
  readonly isOnlyClient?: boolean;
  /** Era, where the transport decides it. */
  readonly era?: Era;
  /** Returns true while the client listens or waits for an answer. */
  isAttended?(): boolean;
  onMessage?(message: Message): void;
  onEnded?(): void;
}

/** One client: takes its messages, and sends it answers and notifications. */
export class Session implements Client {
  readonly peer: Peer;
  readonly origin: Origin;
  readonly client: this = this;
  readonly view: View;
  readonly identity: string;
  readonly isSharedToken: boolean;
  readonly isOnlyClient: boolean;
  folder?: string | null;
  readonly #gateway: FrontServices;
  readonly #options: SessionOptions;
  readonly #profile: ClientProfile;
  readonly #subscriptions: Subscriptions;
  readonly #notifications: Notifications;
  readonly #startupQueue: StartupQueue;
  readonly #handshake: Handshake;
  readonly #dispatcher: Dispatcher;
  readonly #invalidInput: InvalidInputHandler;

  constructor(gateway: FrontServices, openLink: (handlers: LinkHandlers) => Link, options: SessionOptions) {
    this.#gateway = gateway;
    this.#options = options;
    this.view = options.view ?? gateway.view();
    this.identity = options.identity ?? 'stdio';
    this.isSharedToken = options.isSharedToken ?? false;
    this.isOnlyClient = options.isOnlyClient ?? false;
    const profile = new ClientProfile(options.era);
    const takesBatches = (): boolean => profile.version === BATCH_VERSION;
    this.#profile = profile;
    this.peer = new Peer(
      openLink({
        message: (message) => this.receive(message),
        invalid: (line) => this.#invalidInput.refuse(line),
        takesBatches,
        oversized: (line) => this.#invalidInput.refuseOversized(line, gateway.maxMessageSize),
        ended: () => options.onEnded?.(),
        failed: (error) => this.#closeAfterError(error),
        full: (full) => gateway.holdServers(full),
      }),
      (error) => this.#logInternalError(error),
    );
    this.origin = this.peer;
    this.#subscriptions = new Subscriptions(this.peer.account, (error) => this.#logInternalError(error));
    this.#notifications = new Notifications(this, gateway, this.#subscriptions);
    this.#handshake = new Handshake(gateway, this.view, profile, options.serverInfo);
    this.#dispatcher = new Dispatcher(gateway, this.view, profile, this.#subscriptions);
    this.#invalidInput = new InvalidInputHandler(this.peer, gateway.log, takesBatches);
    gateway.clients.attach(this);
    this.#startupQueue = new StartupQueue({
      peer: this.peer,
      ready: gateway.lifecycle.ready,
      dispatch: (message, caller) => this.#dispatcher.dispatch(message, caller),
      failed: (error, message, origin) => this.#failed(error, message, origin),
    });
  }

  get canBeAsked(): boolean {
    return this.#profile.canBeAsked;
  }

  get infoText(): string | undefined {
    return this.#profile.infoText;
  }

  get hasTasks(): boolean {
    return this.#profile.hasTasks;
  }

  get logLevel(): string | undefined {
    return this.#profile.logLevel;
  }

  /** Protocol revision that the handshake settled on; empty before. */
  get version(): string {
    return this.#profile.version;
  }

  get era(): Era {
    return this.#profile.era;
  }

  get envelope(): Envelope {
    return this.#profile.envelope(this.#gateway.clientInfo);
  }

  /** Number of requests without an answer; subscriptions are left out, because they stay open. */
  get inFlight(): number {
    return this.peer.trackedCount - this.#subscriptions.listen.size;
  }

  get hasSpoken(): boolean {
    return this.#profile.isKnown;
  }

  isAttended(): boolean | undefined {
    return this.#options.isAttended?.();
  }

  listsChanged(lists: ReadonlySet<ListName>): void {
    if (!this.#profile.isKnown) return;
    if (this.era === 'modern') return this.#subscriptions.listen.listsChanged(lists);
    for (const list of lists) this.peer.send(notificationLine(listChanged(list)));
  }

  alert(text: string): void {
    if (!this.#profile.isKnown || this.era === 'modern' || !isWanted('error', this.#profile.logLevel)) return;
    const params = encode({ level: 'error', logger: 'weir', data: text });
    this.peer.send(notificationLine(Method.LOG_MESSAGE, params));
  }

  returned(upstream: Upstream): void {
    this.#subscriptions.renew(upstream);
  }

  follows(upstream: Pick<Upstream, 'serverKey'>): boolean {
    return this.#subscriptions.follows(upstream);
  }

  recipient(origin: Origin = this.peer): Recipient {
    return origin === this.peer ? this.peer : new RequestRecipient(this.peer, origin);
  }

  notified(server: Upstream, message: Message, related?: number): void {
    if (this.#profile.isKnown && this.view.hasServer(server.serverKey))
      this.#notifications.deliver(server, message, related);
  }

  close(): void {
    this.#subscriptions.close();
    this.#gateway.clients.detach(this);
  }

  /** Cancels the requests of a client that has left, and fails those that servers sent to it. */
  end(reason: string): void {
    this.close();
    this.peer.fail(new RpcError(RpcErrorCode.UNAVAILABLE, reason));
  }

  /** Takes a message of the client; `origin` gets the answer to a request. */
  receive(message: Message, origin: Origin = this.peer): void {
    try {
      if (!this.peer.take(message)) {
        if (message.kind === 'request') this.#request(message, origin);
        else if (message.kind === 'notification') this.#notification(message);
      }
    } catch (error) {
      this.#failed(error as Error, message, origin);
    }
    // Called last, because starting servers would delay the answer.
    this.#options.onMessage?.(message);
  }

  #request(message: Message, origin: Origin): void {
    const { id, method } = message;
    const { refusal } = this.#gateway.chain;
    if (refusal !== undefined) return answer(origin, id, refusal);
    if (method === Method.DISCOVER) return this.#handshake.discover(message, origin);
    const era = eraOf(message, this.#profile.settledEra);
    if (era instanceof RpcError) return answer(origin, id, era);
    if (this.#profile.settledEra === undefined) {
      this.#profile.settleEra(era, message);
      this.#gateway.lifecycle.declareCapabilities(this.#profile.capabilities);
    }
    if (method === Method.INITIALIZE) return this.#handshake.initialize(message, origin);
    if (method === Method.PING && era === 'legacy') return origin.answer(resultLine(id, '{}'));
    const caller = origin === this.peer ? this : new RequestCaller(this, origin);
    if (this.#gateway.lifecycle.isReady) return this.#dispatcher.dispatch(message, caller);
    this.#startupQueue.add(message, caller);
  }

  #notification(message: Message): void {
    if (message.method === Method.INITIALIZED) return;
    if (message.method !== Method.ROOTS_CHANGED && this.#gateway.serverCount > 1) return;
    this.#gateway.tellServers(this, () => splice(message.bytes, []));
  }

  /** Answers a request whose handling has thrown; the error stays in the log. */
  #failed(error: Error, message: Message, origin: Origin): void {
    this.#logInternalError(error);
    if (message.kind === 'request') answerError(origin, message.id, internalError());
  }

  /** Closes the connection of a client whose input caused an internal error. */
  #closeAfterError(error: Error): void {
    this.#logInternalError(error);
    this.peer.account.exceed('sent a message that caused an internal error of Weir');
  }

  #logInternalError(error: Error): void {
    const details = error.stack ?? error.message;
    this.#gateway.log.error(`Internal error while handling a client's message: ${details}`);
  }
}
