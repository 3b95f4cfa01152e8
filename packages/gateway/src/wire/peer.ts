import { internalError, type RpcError } from '../errors.ts';
import type { Account } from './account.ts';
import { notificationLine, requestLine } from './answer.ts';
import { valueText } from './json/members.ts';
import { encode, type Line } from './json/splice.ts';
import type { Link } from './link.ts';
import type { Message } from './message.ts';
import { readDamaged } from './repair.ts';
import { RequestTable } from './request-table.ts';
import { workOff } from './slices.ts';
import { SlotMap } from './slot-map.ts';

/** Source of a request: gets its progress, its questions and its answer, and may cancel it. */
export interface Origin {
  /** Counts the bytes held because of the sender. */
  readonly account: Account;
  /** Sends a message before the answer: progress, a log, a question. */
  send(line: Line): void;
  /** Sends the answer, after which nothing follows; the front chooses the HTTP status by the code of an error. */
  answer(line: Line, errorCode?: number): void;
  /** Closes the client's stream until the answer is there, where the client knows how to resume it. */
  release?(pause: Pause): void;
  /** Reason why the sender can no longer be reached; undefined while it can. */
  readonly gone?: RpcError | undefined;
  track(untrack: Cancellable): number;
  untrack(ticket: number): void;
}

/** Delay after which the gateway asks a server again for the answer to a request (SSE polling). */
export interface Pause {
  /** Milliseconds. */
  readonly length: number;
  /** Asks now, because the client has come back for the answer. */
  end(): void;
}

/** Peer that a request is sent to. */
export type Recipient = Pick<
  Peer,
  'gone' | 'isBehind' | 'account' | 'onResponse' | 'forget' | 'send' | 'notify'
>;

/** Gets the answer to a request that the gateway sent. */
export interface ResponseHandler {
  /** True for the gateway's own request: no client waits for the answer. */
  readonly isOwn?: boolean;
  answered(answer: Message): void;
  progressed(update: Message): void;
  /** The server closed the stream and sends the answer when it is asked again. */
  suspended?(pause: Pause): void;
  /** No answer will come; `line` is an answer whose text is damaged. */
  lost(error: RpcError, line?: Buffer): void;
}

/** A request of the peer that is in flight and can be cancelled. */
export interface Cancellable {
  /** The peer's id for it, as JSON. */
  readonly id: string;
  /** Bytes of the request that are kept while it is in flight; constant from `track` to `untrack`. */
  readonly bytes?: number;
  cancel(notice: Message): void;
  /** The peer has left without cancelling it. */
  abandon(reason: string): void;
}

/** Answers in flight from which on lines are gathered into one write. Requests on HTTP arrive one by one, however many there are. */
const BUSY_FROM = 3;

/** Share of a peer's backlog that notifications may fill; the rest is for calls. */
const NOTIFICATION_SHARE = 1 / 4;

/** Memory that a request in flight takes: the objects that wait for its answer. */
const REQUEST_BYTES = 1024;

/** The other end of a link: the requests sent to it and those received from it that are in flight. */
export class Peer implements Origin {
  /** Protocol revision that the handshake with a server settled on; empty before. */
  version = '';
  readonly #link: Link;
  #pending = new SlotMap<ResponseHandler>();
  readonly #tracked = new RequestTable<Cancellable>();
  #followers: Map<number, (update: Message) => void> | undefined;
  #gone: RpcError | undefined;
  #requestCount = 0;
  #inFlight = 0;
  readonly #failed: (error: Error) => void;

  /** `failed` gets exceptions of handlers that are told of the peer's end. */
  constructor(link: Link, failed: (error: Error) => void = rethrow) {
    this.#link = link;
    this.#failed = failed;
  }

  get account(): Account {
    return this.#link.account;
  }

  /** True from a quarter of the allowed backlog on: notifications are dropped or delayed, so that calls still pass. */
  get isSlow(): boolean {
    return this.#link.backlog > NOTIFICATION_SHARE * this.#link.account.peerBytes;
  }

  /** True over the allowed backlog: further requests are refused. */
  get isBehind(): boolean {
    return this.#link.backlog > this.#link.account.peerBytes;
  }

  /** Reason why this peer will not answer any more; undefined while it is connected. */
  get gone(): RpcError | undefined {
    return this.#gone;
  }

  /** True while the peer owes an answer. */
  get isAwaited(): boolean {
    return this.#pending.size > 0;
  }

  /** Number of the peer's requests in flight. */
  get trackedCount(): number {
    return this.#tracked.size;
  }

  send(line: Line): void {
    this.#link.send(line, this.#pending.size > BUSY_FROM);
  }

  answer(line: Line): void {
    this.#link.send(line);
  }

  /** Answers a request of the peer that no client sees. Ends a peer that goes on asking and does not read. */
  reply(line: Line): void {
    this.#link.send(line);
    this.#link.account.limitAnswers(this.#link.backlog);
  }

  pause(): void {
    this.#link.pause();
  }

  resume(): void {
    this.#link.resume();
  }

  /** Returns the id to send; `handler` gets the answer to it. */
  onResponse(handler: ResponseHandler): number {
    if (handler.isOwn !== true) {
      this.#requestCount++;
      this.#inFlight++;
    }
    return this.#pending.add(handler);
  }

  /** Returns the handler of the request that was sent with this id. */
  handler(id: number): ResponseHandler | undefined {
    return this.#pending.get(id);
  }

  /** Returns the handlers of all requests in flight. */
  handlers(): ResponseHandler[] {
    return this.#pending.all();
  }

  /** Number of requests in flight to the peer, the gateway's own left out. */
  get inFlight(): number {
    return this.#inFlight;
  }

  /** Number of requests sent so far, the gateway's own left out. */
  get requestCount(): number {
    return this.#requestCount;
  }

  /** Passes on progress also after the answer, because some requests go on as tasks. */
  follow(id: number, progressed: (update: Message) => void): void {
    this.#followers ??= new Map();
    this.#followers.set(id, progressed);
  }

  unfollow(id: number): void {
    this.#followers?.delete(id);
  }

  forget(id: number): void {
    this.#take(id);
  }

  /** Tracks a request of the peer; `untrack` takes the returned number. */
  track(served: Cancellable): number {
    this.#link.account.charge(REQUEST_BYTES + (served.bytes ?? 0));
    return this.#tracked.add(served);
  }

  untrack(ticket: number): void {
    const served = this.#tracked.take(ticket);
    if (served !== undefined) this.#link.account.release(REQUEST_BYTES + (served.bytes ?? 0));
  }

  /** Returns the peer's requests in flight. */
  requests(): Cancellable[] {
    return this.#tracked.all();
  }

  /** Sends a request of the gateway's own; resolves with the answer, rejects with the reason why none comes. */
  request(method: string, params: string = '{}', isOwn = true): Promise<Message> {
    return new Promise((resolve, reject) => {
      if (this.#gone) return reject(this.#gone);
      const id = this.onResponse({
        isOwn,
        answered: resolve,
        progressed: () => {},
        lost: (error, line) => {
          const answer = line && isOwn ? readDamaged(line) : undefined;
          if (answer === undefined) reject(error);
          else resolve(answer);
        },
      });
      this.send(requestLine(id, method, params));
    });
  }

  notify(method: string, params?: unknown): void {
    this.send(notificationLine(method, params === undefined ? undefined : encode(params)));
  }

  /** Tells the handler of a request that its answer is delayed. */
  suspend(id: number, pause: Pause): void {
    this.#pending.get(id)?.suspended?.(pause);
  }

  /** Fails one request; its id is the text that stood in the peer's message, `line` that message if its text is damaged. */
  failRequest(id: string, error: RpcError, line?: Buffer): void {
    this.#take(sentId(id))?.lost(error, line);
  }

  /** Takes responses, progress and cancellations of requests in flight. Returns false for every other message. */
  take(message: Message): boolean {
    if (message.kind === 'response') return this.#answer(message);
    if (message.kind !== 'notification') return false;
    if (message.method === 'notifications/progress') return this.#progress(message);
    if (message.method === 'notifications/cancelled') return this.#cancel(message);
    return false;
  }

  /** Fails all requests sent to the peer and cancels all received from it, because the peer is gone. */
  fail(error: RpcError): void {
    this.#gone ??= error;
    this.#link.account.close();
    const handlers = this.#pending.all();
    this.#pending = new SlotMap();
    this.#inFlight = 0;
    this.#endEach(handlers, (handler) => handler.lost(error));
    this.#endEach(this.#tracked.all(), (served) => served.abandon(error.message));
  }

  /** Ends each in slices, because there may be tens of thousands. An exception of one does not affect the others. */
  #endEach<T>(list: readonly T[], end: (one: T) => void): void {
    const each = (one: T): void => {
      try {
        end(one);
      } catch (error) {
        this.#failed(error as Error);
      }
    };
    workOff('waiters', list, { each, failed: this.#failed });
  }

  #take(id: number): ResponseHandler | undefined {
    const handler = this.#pending.take(id);
    if (handler !== undefined && handler.isOwn !== true) this.#inFlight--;
    return handler;
  }

  #answer(message: Message): boolean {
    const handler = this.#take(sentId(message.id));
    try {
      handler?.answered(message);
    } catch (error) {
      // The requests that fail with the peer lack it by now.
      handler?.lost(internalError());
      throw error;
    }
    return handler !== undefined;
  }

  #progress(message: Message): boolean {
    const token = message.params && valueText(message.params, 'progressToken');
    const handler = token === undefined ? undefined : this.#pending.get(sentId(token));
    if (handler !== undefined) handler.progressed(message);
    else if (token !== undefined) this.#followers?.get(sentId(token))?.(message);
    // An unknown token is dropped, because some clients close the connection over one.
    return true;
  }

  #cancel(message: Message): boolean {
    const id = message.params && valueText(message.params, 'requestId');
    if (id !== undefined) for (const served of this.#tracked.withId(id)) served.cancel(message);
    return true;
  }
}

function rethrow(error: Error): never {
  throw error;
}

/** Returns the number that was sent as an id, from the text that came back; NaN for other ids. Some servers return it as a string. */
export function sentId(text: string): number {
  if (!text.startsWith('"')) return Number(text);
  const inner = text.slice(1, -1);
  const id = Number(inner);
  return String(id) === inner ? id : Number.NaN;
}
