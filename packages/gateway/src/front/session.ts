import { callTool, complete, getPrompt, useResource, type Call } from '../call/call.ts';
import type { Asked } from '../call/caller.ts';
import { listOf } from '../call/lists.ts';
import type { ListName } from '../call/notices.ts';
import { Passage } from '../call/passage.ts';
import { ask } from '../call/question.ts';
import { relay } from '../call/relay.ts';
import { uriEdit } from '../call/uri-edits.ts';
import { Messages, RpcError, RpcErrorCode } from '../errors.ts';
import type { Client, Gateway } from '../gateway.ts';
import type { ChildServer } from '../upstream/child-server.ts';
import { errorLine, notificationLine, resultLine } from '../wire/answer.ts';
import { Meta, type Envelope, type Era, type Implementation } from '../wire/era.ts';
import type { Link, LinkHandlers } from '../wire/link.ts';
import { readElements, stringValue } from '../wire/members.ts';
import { readMessage, type Message, type Unusable } from '../wire/message.ts';
import type { Glimpse, Oversized } from '../wire/oversized.ts';
import { Peer } from '../wire/peer.ts';
import { skipSpace } from '../wire/scan.ts';
import { changeMembers, encode, splice } from '../wire/splice.ts';
import { clientCapabilities, discoverResult, eraOf, initializeResult } from './opening.ts';
import { Subscriptions } from './subscriptions.ts';
import { WaitingRoom } from './waiting-room.ts';

/** Requests that one server answers, or the registry. */
const CALLS: ReadonlyMap<string, Call> = new Map([
  ['tools/call', callTool],
  ['tools/list', listOf('tools')],
  ['resources/read', useResource],
  ['resources/list', listOf('resources')],
  ['resources/templates/list', listOf('templates')],
  ['prompts/get', getPrompt],
  ['prompts/list', listOf('prompts')],
  ['completion/complete', complete],
]);

const LOG_LEVELS: readonly string[] = [
  'debug',
  'info',
  'notice',
  'warning',
  'error',
  'critical',
  'alert',
  'emergency',
];

/** In the modern era `subscriptions/listen` takes their place. */
const SUBSCRIBE: ReadonlySet<string> = new Set(['resources/subscribe', 'resources/unsubscribe']);

/** The one revision with batches. */
const BATCH_VERSION = '2025-03-26';

export interface SessionOptions {
  /** What clients are told that they are connected to. */
  readonly serverInfo: Implementation;
  /** A message came that is more than a probe. */
  onOpened?(): void;
  onMessage?(message: Message): void;
  onEnded?(): void;
}

/** One client: what it may do, what it has asked for, and where its requests go. */
export class Session implements Client {
  readonly peer: Peer;
  readonly #gateway: Gateway;
  readonly #options: SessionOptions;
  readonly #subscriptions: Subscriptions;
  readonly #waitingRoom: WaitingRoom;
  #era: Era | undefined;
  #version = '';
  #capabilities = '{}';
  #logLevel: string | undefined;

  constructor(gateway: Gateway, openLink: (handlers: LinkHandlers) => Link, options: SessionOptions) {
    this.#gateway = gateway;
    this.#options = options;
    this.peer = new Peer(
      openLink({
        message: (message) => this.#receive(message),
        unusable: (line) => this.#unusable(line),
        oversized: (line) => this.#oversized(line),
        ended: () => options.onEnded?.(),
        full: (full) => gateway.holdServers(full),
      }),
    );
    this.#subscriptions = new Subscriptions(this.peer);
    this.#waitingRoom = new WaitingRoom(this.peer);
    gateway.server.attach(this);
    gateway.settled.then(
      () => this.#goOn(),
      (error: unknown) => this.#refuseAll(error as Error),
    );
  }

  get era(): Era {
    return this.#era ?? 'legacy';
  }

  get envelope(): Envelope {
    return {
      clientInfo: this.#gateway.clientInfo,
      capabilities: this.#capabilities,
      logLevel: this.#logLevel,
    };
  }

  /** Requests that will be answered and are not yet; a subscription lasts as long as its client. */
  get inFlight(): number {
    return this.peer.serving - this.#subscriptions.size;
  }

  listsChanged(lists: ReadonlySet<ListName>): void {
    if (this.era === 'modern') return this.#subscriptions.listsChanged(lists);
    for (const list of lists) this.peer.send(notificationLine(`notifications/${list}/list_changed`));
  }

  notified(child: ChildServer, message: Message): void {
    if (message.method === 'notifications/resources/updated') return this.#resourceUpdated(child, message);
    // Between the gateway and a modern server; and a modern client hears no log that it has not asked for.
    if (message.method === 'notifications/subscriptions/acknowledged') return;
    if (message.method === 'notifications/message' && this.era === 'modern' && child.era === 'legacy') return;
    this.peer.send(splice(message.bytes, []));
  }

  asked(child: ChildServer, message: Message): void {
    ask(child, this, message);
  }

  close(): void {
    this.#subscriptions.close();
    this.#gateway.server.detach(this);
  }

  #receive(message: Message): void {
    if (!this.peer.take(message)) {
      if (message.kind === 'request') this.#request(message);
      else if (message.kind === 'notification') this.#notification(message);
    }
    // Only now: what it sets in motion must not hold up the answer.
    this.#options.onMessage?.(message);
  }

  #request(message: Message): void {
    const { id, method } = message;
    if (method === 'server/discover')
      return this.#answer(id, discoverResult(message, this.#options.serverInfo));
    const era = eraOf(message, this.#era);
    if (era instanceof RpcError) return this.#answer(id, era);
    if (this.#era === undefined) this.#open(era, message);
    if (method === 'initialize') return this.#initialize(message);
    if (method === 'ping' && era === 'legacy') return this.peer.send(resultLine(id, '{}'));
    if (this.#gateway.isSettled) return this.#dispatch(message);
    this.#waitingRoom.enter(message);
  }

  #answer(id: string, result: string | RpcError): void {
    this.peer.send(result instanceof RpcError ? errorLine(id, result) : resultLine(id, result));
  }

  /** The first request settles the era of the connection and what its client can do. */
  #open(era: Era, message: Message): void {
    this.#era = era;
    this.#capabilities = clientCapabilities(message);
    this.#gateway.open(this.#capabilities);
  }

  #initialize(message: Message): void {
    const { version, result } = initializeResult(message, this.#options.serverInfo);
    this.#version = version;
    this.peer.send(resultLine(message.id, result));
  }

  #dispatch(message: Message): void {
    const call = CALLS.get(message.method);
    if (call !== undefined) return call(this.#asked(message));
    const isModern = this.era === 'modern';
    if (isModern && message.method === 'subscriptions/listen')
      return this.#subscriptions.listen(message, this.#gateway.directory);
    if (!isModern && message.method === 'logging/setLevel') return this.#setLevel(message);
    if (!isModern && SUBSCRIBE.has(message.method)) return this.#subscribe(message);
    this.#unknown(message);
  }

  #asked(message: Message): Asked {
    return { directory: this.#gateway.directory, caller: this, message };
  }

  /** A method that the gateway does not know may be known to the server, where there is only one. */
  #unknown(message: Message): void {
    const [only, ...others] = this.#gateway.directory.registry.upstreams.values();
    if (only !== undefined && others.length === 0 && this.#gateway.children.size === 1) {
      return relay(message, new Passage(this.#asked(message), { client: only, originalText: '' }));
    }
    this.#answer(
      message.id,
      new RpcError(RpcErrorCode.METHOD_NOT_FOUND, `Method not found: ${message.method}`),
    );
  }

  #setLevel({ id, params }: Message): void {
    const level = (params && stringValue(params, 'level')) ?? '';
    if (!LOG_LEVELS.includes(level)) return this.#answer(id, unknownLevel());
    this.#logLevel = encode(level);
    this.#gateway.setLogLevel(this.#logLevel);
    this.#answer(id, '{}');
  }

  #subscribe(message: Message): void {
    if (this.#subscriptions.follow(message, this.#gateway.directory)) return this.#answer(message.id, '{}');
    useResource(this.#asked(message));
  }

  #notification(message: Message): void {
    if (message.method === 'notifications/initialized') return;
    const { upstreams } = this.#gateway.directory.registry;
    if (message.method !== 'notifications/roots/list_changed' && this.#gateway.children.size > 1) return;
    for (const { era, peer } of upstreams.values())
      if (era === this.era) peer.send(splice(message.bytes, []));
  }

  #resourceUpdated(child: ChildServer, message: Message): void {
    const { params, meta, bytes } = message;
    const uri = params && stringValue(params, 'uri');
    if (params === undefined || uri === undefined) return;
    const sharedUri = this.#gateway.directory.builder.sharedUri(child.serverKey, uri);
    if (this.era === 'modern')
      return this.#subscriptions.updated({ upstream: child, uri }, message, sharedUri);
    const edits = uriEdit(params, (found) => this.#subscriptions.followedAs(child, found) ?? sharedUri);
    if (meta !== undefined) edits.push(...changeMembers(meta, [Meta.SUBSCRIPTION_ID], ''));
    this.peer.send(splice(bytes, edits));
  }

  #unusable({ bytes, id, meant, reason }: Unusable): void {
    if (reason === 'batch') return this.#batch(bytes);
    this.#gateway.log.warn(`The client sent a line that is no message (${reason})`);
    const isJson = reason !== 'not-json';
    const code = isJson ? RpcErrorCode.INVALID_REQUEST : RpcErrorCode.PARSE_ERROR;
    this.#refuse({ id, meant }, new RpcError(code, isJson ? 'Not a JSON-RPC 2.0 message' : 'Not JSON'));
  }

  /** One revision allowed several messages in an array; they are answered one by one. The others refuse each. */
  #batch(bytes: Buffer): void {
    const spans = readElements(bytes, skipSpace(bytes, 0)) ?? [];
    for (let s = 0; s < spans.length; s += 2) {
      const message = readMessage(bytes.subarray(spans[s], spans[s + 1]));
      if (message.kind === 'unusable') this.#unusable({ ...message, reason: 'not-a-message' });
      else if (this.#version === BATCH_VERSION) this.#receive(message);
      else if (message.kind === 'request') this.#answer(message.id, batchRefused());
    }
  }

  #oversized({ id, meant, size }: Oversized): void {
    const text = `Message of ${size} bytes is over the limit of ${this.#gateway.maxMessageSize}; raise --max-message-size to let it pass`;
    this.#gateway.log.warn(`The client's message was refused: ${text}`);
    this.#refuse({ id, meant }, new RpcError(RpcErrorCode.INVALID_REQUEST, text));
  }

  /** A request is answered with why; a server that waits for the answer which this should have been hears it too. */
  #refuse({ id, meant }: Glimpse, error: RpcError): void {
    if (id === undefined) return;
    if (meant === 'request') this.#answer(id, error);
    else if (meant === 'response') this.peer.lose(id, error);
  }

  #goOn(): void {
    for (const message of this.#waitingRoom.callIn()) this.#dispatch(message);
  }

  #refuseAll({ message: reason }: Error): void {
    const error = new RpcError(RpcErrorCode.UNAVAILABLE, reason);
    for (const { id } of this.#waitingRoom.callIn()) this.#answer(id, error);
  }
}

function batchRefused(): RpcError {
  return new RpcError(RpcErrorCode.INVALID_REQUEST, Messages.batchRefused());
}

function unknownLevel(): RpcError {
  return new RpcError(
    RpcErrorCode.INVALID_PARAMS,
    `logging/setLevel needs a "level" out of ${LOG_LEVELS.join(', ')}`,
  );
}
