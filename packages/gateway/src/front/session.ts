import { addressingOf, BY_URI } from '../call/addressing.ts';
import { call, callTask, proceed } from '../call/call.ts';
import { ClientRequest, type Caller } from '../call/client-request.ts';
import { legacyInfoText } from '../call/history/client-names.ts';
import type { ListName } from '../call/list-change-notifier.ts';
import { listOf } from '../call/lists.ts';
import { isWanted, LOG_LEVELS } from '../call/log-levels.ts';
import { listTasks } from '../call/tasks/task-list.ts';
import { handshakeHasTasks, isTaskMethod, withoutTasks } from '../call/tasks/tasks.ts';
import { forClients, internalError, quoted, RpcError, RpcErrorCode } from '../errors.ts';
import type { Client } from '../gateway/clients.ts';
import type { Gateway } from '../gateway/gateway.ts';
import type { View } from '../gateway/view.ts';
import { canBeAsked } from '../protocol/capabilities.ts';
import type { Envelope, Era, Implementation } from '../protocol/eras.ts';
import { now } from '../time/clock.ts';
import { Repeats } from '../upstream/repeats.ts';
import type { Upstream } from '../upstream/upstream.ts';
import { answerError, notificationLine, resultLine } from '../wire/answer.ts';
import { BATCH_VERSION, visitBatch } from '../wire/batch.ts';
import { stringValue } from '../wire/json/members.ts';
import { encode, splice } from '../wire/json/splice.ts';
import type { Link, LinkHandlers } from '../wire/link.ts';
import type { Message, Unusable } from '../wire/message.ts';
import type { Oversized } from '../wire/oversized.ts';
import { Peer, type Origin, type Recipient } from '../wire/peer.ts';
import { offerOf, type Offer } from './gateway-capabilities.ts';
import { clientCapabilities, discoverResult, eraOf, initializeResult } from './initialize.ts';
import { batchRefused, refuseOversized, refuseUnusable } from './invalid-input.ts';
import { Notifications } from './notifications.ts';
import { RequestCaller, Through } from './request-caller.ts';
import { WaitingRoom } from './startup-queue.ts';
import { Subscriptions } from './subscriptions.ts';

/** Requests that the registry answers. */
const LISTS: ReadonlyMap<string, (request: ClientRequest) => void> = new Map([
  ['tools/list', listOf('tools')],
  ['resources/list', listOf('resources')],
  ['resources/templates/list', listOf('templates')],
  ['prompts/list', listOf('prompts')],
]);

/** In the modern era `subscriptions/listen` takes their place. */
const SUBSCRIBE: ReadonlySet<string> = new Set(['resources/subscribe', 'resources/unsubscribe']);

export interface SessionOptions {
  /** The servers and tools that the client sees; all, where nothing is said. */
  readonly view?: View;
  /** What clients are told that they are connected to. */
  readonly serverInfo: Implementation;
  /** Who this is, where several clients are told apart. */
  readonly identity?: string;
  /** Whether it stands for many programs. */
  readonly isSharedToken?: boolean;
  /** Whether it will stay the only one. */
  readonly isOnlyClient?: boolean;
  /** Known beforehand where the transport tells. */
  readonly era?: Era;
  /** Returns true while the client listens or waits for an answer. */
  isAttended?(): boolean;
  onMessage?(message: Message): void;
  onEnded?(): void;
}

/** One client: what it may do, what it has asked for, and where its requests go. */
export class Session implements Client {
  readonly peer: Peer;
  readonly view: View;
  readonly identity: string;
  readonly isSharedToken: boolean;
  readonly isOnlyClient: boolean;
  folder?: string | null;
  readonly #gateway: Gateway;
  readonly #options: SessionOptions;
  readonly #subscriptions: Subscriptions;
  readonly #news: Notifications;
  readonly #waitingRoom: WaitingRoom;
  #era: Era | undefined;
  #version = '';
  #capabilities = '{}';
  #infoText: string | undefined;
  #toldCapabilities = '{}';
  #canBeAsked = false;
  #hasTasks = false;
  #logLevel: string | undefined;

  #warnings: Repeats | undefined;

  constructor(gateway: Gateway, openLink: (handlers: LinkHandlers) => Link, options: SessionOptions) {
    this.#gateway = gateway;
    this.#options = options;
    this.view = options.view ?? gateway.view();
    this.identity = options.identity ?? 'stdio';
    this.isSharedToken = options.isSharedToken ?? false;
    this.isOnlyClient = options.isOnlyClient ?? false;
    this.#era = options.era;
    this.peer = new Peer(
      openLink({
        message: (message) => this.receive(message),
        unusable: (line) => this.#unusable(line),
        takesBatches: () => this.#version === BATCH_VERSION,
        oversized: (line) => this.#oversized(line),
        ended: () => options.onEnded?.(),
        failed: (error) => this.#failed(error),
        full: (full) => gateway.holdServers(full),
      }),
      (error) => this.#logMistake(error),
    );
    this.#subscriptions = new Subscriptions(this.peer.account, (error) => this.#logMistake(error));
    this.#news = new Notifications(this, gateway, this.#subscriptions);
    this.#waitingRoom = new WaitingRoom(this.peer);
    gateway.server.attach(this);
    gateway.settled.then(
      () => this.#goOn(),
      (error: unknown) => this.#refuseAll(error as Error),
    );
  }

  get origin(): Origin {
    return this.peer;
  }

  get client(): this {
    return this;
  }

  get canBeAsked(): boolean {
    return this.#canBeAsked;
  }

  get infoText(): string | undefined {
    return this.#infoText;
  }

  get hasTasks(): boolean {
    return this.#hasTasks;
  }

  get logLevel(): string | undefined {
    return this.#logLevel;
  }

  /** What the handshake settled on; empty before. */
  get version(): string {
    return this.#version;
  }

  get era(): Era {
    return this.#era ?? 'legacy';
  }

  get envelope(): Envelope {
    return {
      clientInfo: this.#gateway.clientInfo,
      capabilities: this.#toldCapabilities,
      logLevel: this.#logLevel === undefined ? undefined : encode(this.#logLevel),
    };
  }

  /** Requests that will be answered and are not yet; a subscription lasts as long as its client. */
  get inFlight(): number {
    return this.peer.trackedCount - this.#subscriptions.size;
  }

  get hasSpoken(): boolean {
    return this.#era !== undefined && (this.#version !== '' || !this.#isLegacyOnly);
  }

  /** The transport cannot carry the modern era: a client that asks for it must not be told that it could. */
  get #isLegacyOnly(): boolean {
    return this.#options.era === 'legacy';
  }

  isAttended(): boolean | undefined {
    return this.#options.isAttended?.();
  }

  listsChanged(lists: ReadonlySet<ListName>): void {
    if (!this.hasSpoken) return;
    if (this.era === 'modern') return this.#subscriptions.listsChanged(lists);
    for (const list of lists) this.peer.send(notificationLine(`notifications/${list}/list_changed`));
  }

  alert(text: string): void {
    if (!this.hasSpoken || this.era === 'modern' || !isWanted('error', this.#logLevel)) return;
    const params = encode({ level: 'error', logger: 'weir', data: text });
    this.peer.send(notificationLine('notifications/message', params));
  }

  returned(upstream: Upstream): void {
    this.#subscriptions.renew(upstream);
  }

  follows(upstream: Pick<Upstream, 'serverKey'>): boolean {
    return this.#subscriptions.follows(upstream);
  }

  recipient(origin: Origin = this.peer): Recipient {
    return origin === this.peer ? this.peer : new Through(this.peer, origin);
  }

  notified(server: Upstream, told: Message, related?: number): void {
    if (this.hasSpoken && this.view.hasServer(server.serverKey)) this.#news.tell(server, told, related);
  }

  close(): void {
    this.#subscriptions.close();
    this.#gateway.server.detach(this);
  }

  /** The client is gone: what it asked for is called off, and what it was asked gets no answer. */
  end(reason: string): void {
    this.close();
    this.peer.fail(new RpcError(RpcErrorCode.UNAVAILABLE, reason));
  }

  /** Takes a message of the client's; `origin` is where a request is answered. */
  receive(message: Message, origin: Origin = this.peer): void {
    try {
      if (!this.peer.take(message)) {
        if (message.kind === 'request') this.#request(message, origin);
        else if (message.kind === 'notification') this.#notification(message);
      }
    } catch (error) {
      this.#logMistake(error as Error);
      if (message.kind === 'request') answerError(origin, message.id, internalError());
    }
    // Only now: what it sets in motion must not hold up the answer.
    this.#options.onMessage?.(message);
  }

  #request(message: Message, origin: Origin): void {
    const { id, method } = message;
    const { refusal } = this.#gateway.chain;
    if (refusal !== undefined) return answer(origin, id, refusal);
    if (method === 'server/discover') {
      if (this.#isLegacyOnly) return answer(origin, id, unknown(method));
      this.#gateway.recall(clientCapabilities(message));
      return answer(origin, id, discoverResult(message, this.#offer('modern')));
    }
    const era = eraOf(message, this.#era);
    if (era instanceof RpcError) return answer(origin, id, era);
    if (this.#era === undefined) this.#open(era, message);
    if (method === 'initialize') return this.#initialize(message, origin);
    if (method === 'ping' && era === 'legacy') return origin.answer(resultLine(id, '{}'));
    const caller = origin === this.peer ? this : new RequestCaller(this, origin);
    if (this.#gateway.isSettled) return this.#dispatch(message, caller);
    this.#waitingRoom.enter(message, caller);
  }

  /** The first request settles the era of the connection and what its client can do. */
  #open(era: Era, message: Message): void {
    this.#era = era;
    this.#learn(clientCapabilities(message));
    this.#gateway.open(this.#capabilities);
  }

  #learn(capabilities: string): void {
    this.#capabilities = capabilities;
    this.#canBeAsked = canBeAsked(capabilities);
    this.#toldCapabilities = this.#era === 'legacy' ? withoutTasks(capabilities) : capabilities;
  }

  #initialize(message: Message, origin: Origin): void {
    const { version, result } = initializeResult(message, this.#offer('legacy'));
    this.#version = version;
    if (this.#era === 'legacy') this.#learn(clientCapabilities(message));
    this.#infoText = legacyInfoText(message);
    this.#hasTasks = handshakeHasTasks(version, this.#capabilities);
    origin.answer(resultLine(message.id, result));
    // Clients ask for the tools next: they are put together while the answer travels.
    if (this.#gateway.isSettled) setImmediate(() => this.#prepareTools());
  }

  #prepareTools(): void {
    const { tools } = this.view.registry.pages;
    tools.result(undefined, { era: 'legacy', hasTasks: this.hasTasks });
  }

  #offer(era: Era): Offer {
    return offerOf(this.view, this.#gateway, era, this.#options.serverInfo);
  }

  #dispatch(message: Message, caller: Caller): void {
    const request = new ClientRequest(this.view.directory, caller, message);
    const addressing = addressingOf(message);
    if (addressing !== undefined) return call(request, addressing);
    const list = LISTS.get(message.method);
    if (list !== undefined) return list(request);
    const isModern = this.era === 'modern';
    if (isModern && message.method === 'subscriptions/listen') return this.#subscriptions.listen(request);
    if (!isModern && message.method === 'logging/setLevel') return this.#setLevel(message, caller.origin);
    if (!isModern && SUBSCRIBE.has(message.method)) return this.#subscribe(request);
    if (isTaskMethod(message.method, this.era) && this.#gateway.serverCount !== 1)
      return message.method === 'tasks/list' ? listTasks(request) : callTask(request);
    this.#unknown(request);
  }

  /** A method that the gateway does not know may be known to the server, where there is only one. */
  #unknown(request: ClientRequest): void {
    const { directory, caller, message } = request;
    const [only, ...others] = directory.registry.upstreams.values();
    const isAlone = only !== undefined && others.length === 0 && this.#gateway.serverCount === 1;
    // A task comes of a tool; all else belongs to whole servers.
    if (isAlone && (this.view.isWhole(only.serverKey) || isTaskMethod(message.method, this.era)))
      return proceed(request, { upstream: only, originalText: '' });
    answer(caller.origin, message.id, unknown(message.method));
  }

  #setLevel({ id, params }: Message, origin: Origin): void {
    const level = (params && stringValue(params, 'level')) ?? '';
    if (!LOG_LEVELS.includes(level)) return answer(origin, id, unknownLevel());
    this.#logLevel = level;
    this.#gateway.logLevelChanged();
    answer(origin, id, '{}');
  }

  #subscribe(request: ClientRequest): void {
    const { caller, message, directory } = request;
    const followed = this.#subscriptions.follow(message, directory);
    if (followed === false) return call(request, BY_URI);
    answer(caller.origin, message.id, followed === true ? '{}' : followed);
  }

  #notification(message: Message): void {
    if (message.method === 'notifications/initialized') return;
    if (message.method !== 'notifications/roots/list_changed' && this.#gateway.serverCount > 1) return;
    this.#gateway.tellServers(this, () => splice(message.bytes, []));
  }

  /** Refuses each request of a batch where the revision knows no batches, so that none is waited for. */
  #unusable(line: Unusable): void {
    const isRefusedBatch = line.reason === 'batch' && this.#version !== BATCH_VERSION;
    if (!isRefusedBatch || !visitBatch(line.bytes, (part) => this.#refusePart(part)))
      refuseUnusable(this.peer, line, (text) => this.#warn(text));
  }

  #oversized(line: Oversized): void {
    const { maxMessageSize } = this.#gateway;
    refuseOversized(this.peer, line, { maxMessageSize, warn: (text) => this.#warn(text) });
  }

  /** Warns of what the client sent; the same warning is held back for a while. */
  #warn(text: string): void {
    this.#warnings ??= new Repeats(now);
    const said = this.#warnings.say(text);
    if (said !== undefined) this.#gateway.log.warn(said);
  }

  #refusePart(part: Message | Unusable): void {
    if (part.kind === 'unusable') refuseUnusable(this.peer, part, (text) => this.#warn(text));
    else if (part.kind === 'request') answerError(this.peer, part.id, batchRefused());
  }

  /** Hangs up on a client whose lines the gateway failed to work off. */
  #failed(error: Error): void {
    this.#logMistake(error);
    this.peer.account.exceed("sent what could not be worked off through a mistake of Weir's own");
  }

  #logMistake(error: Error): void {
    this.#gateway.log.error(
      `A client's message has failed through a mistake of Weir's own: ${error.stack ?? error.message}`,
    );
  }

  #goOn(): void {
    for (const { message, caller } of this.#waitingRoom.callIn()) this.#dispatch(message, caller);
  }

  #refuseAll(reason: Error): void {
    const error = new RpcError(RpcErrorCode.UNAVAILABLE, forClients(reason));
    for (const { message, caller } of this.#waitingRoom.callIn())
      answerError(caller.origin, message.id, error);
  }
}

function answer(origin: Origin, id: string, result: string | RpcError): void {
  if (result instanceof RpcError) answerError(origin, id, result);
  else origin.answer(resultLine(id, result));
}

function unknown(method: string): RpcError {
  return new RpcError(RpcErrorCode.METHOD_NOT_FOUND, `Method not found: ${quoted(method)}`);
}

function unknownLevel(): RpcError {
  return new RpcError(
    RpcErrorCode.INVALID_PARAMS,
    `logging/setLevel needs a "level" out of ${LOG_LEVELS.join(', ')}`,
  );
}
