import type { RpcError } from '../errors.ts';
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

/** Where a request came from: what is said on the way and the answer go there, and from there it may be called off. */
export interface Origin {
  /** Counts what is held because of who asked. */
  readonly account: Account;
  /** Something on the way: progress, a log, a question. */
  send(line: Line): void;
  /** The answer, after which nothing follows; the code of an error tells a front how to deliver it. */
  answer(line: Line, errorCode?: number): void;
  /** The answer will take its time: the client may be sent away, where it knows how to come back for it. */
  release?(pause: Pause): void;
  /** Why nothing that is sent there is heard any more, once that is so. */
  readonly gone?: RpcError | undefined;
  track(untrack: Cancellable): number;
  untrack(ticket: number): void;
}

/** What becomes of a request whose server wants to be asked for the answer once more. */
export interface Pause {
  /** After so many milliseconds it is asked for. */
  readonly length: number;
  /** Asks for it now: somebody has come back for it. */
  end(): void;
}

/** Whom a request is sent to. */
export type Recipient = Pick<
  Peer,
  'gone' | 'isBehind' | 'account' | 'onResponse' | 'forget' | 'send' | 'notify'
>;

/** Someone who waits for the answer to a request that we sent. */
export interface ResponseHandler {
  /** The gateway's own question: no client waits for the answer. */
  readonly isOwn?: boolean;
  answered(answer: Message): void;
  progressed(update: Message): void;
  /** The answer will come, but whom we asked does not keep us waiting for it. */
  suspended?(pause: Pause): void;
  /** No answer will come; `line` is what came instead, where its text is damaged. */
  lost(error: RpcError, line?: Buffer): void;
}

/** A request of the peer's that is under way elsewhere and can be called off. */
export interface Cancellable {
  /** The peer's id for it, as JSON. */
  readonly id: string;
  /** Bytes of the request that are kept while it is under way; the same from `serve` to `served`. */
  readonly bytes?: number;
  cancel(notice: Message): void;
  /** The peer has gone without a word. */
  abandon(reason: string): void;
}

/** So many answers are waited for where lines may be gathered: requests on HTTP come one by one, however many there are. */
const BUSY_FROM = 3;

/** Part of what may wait for a peer that notifications of others may fill; the rest is for calls. */
const NOTIFICATION_SHARE = 1 / 4;

/** Memory that a request in flight takes: the objects that wait for its answer. */
const REQUEST_BYTES = 1024;

/** The other end of a link: what we asked it and wait for, and what it asked us and is still being done. */
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

  /** `failed` gets what is thrown by those who hear that the peer is gone. */
  constructor(link: Link, failed: (error: Error) => void = rethrow) {
    this.#link = link;
    this.#failed = failed;
  }

  get account(): Account {
    return this.#link.account;
  }

  /** Much waits for this peer: what others would tell it unasked is dropped or put off, so that their calls still pass. */
  get isSlow(): boolean {
    return this.#link.backlog > NOTIFICATION_SHARE * this.#link.account.peerBytes;
  }

  /** More waits for this peer than should: what others ask of it is refused. */
  get isBehind(): boolean {
    return this.#link.backlog > this.#link.account.peerBytes;
  }

  /** Why this peer will never answer again, once that is so. */
  get gone(): RpcError | undefined {
    return this.#gone;
  }

  /** True while the peer owes an answer. */
  get isAwaited(): boolean {
    return this.#pending.size > 0;
  }

  /** How many of the peer's requests are under way. */
  get trackedCount(): number {
    return this.#tracked.size;
  }

  send(line: Line): void {
    this.#link.send(line, this.#pending.size > BUSY_FROM);
  }

  answer(line: Line): void {
    this.#link.send(line);
  }

  /** Answers a request of the peer that no client sees. A peer that asks on and does not read is ended. */
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

  /** The id under which `waiter` will hear of the answer. */
  onResponse(handler: ResponseHandler): number {
    if (handler.isOwn !== true) {
      this.#requestCount++;
      this.#inFlight++;
    }
    return this.#pending.add(handler);
  }

  /** Who waits for the answer to the request with this id, as we sent it. */
  handler(id: number): ResponseHandler | undefined {
    return this.#pending.get(id);
  }

  /** All who wait now. */
  handlers(): ResponseHandler[] {
    return this.#pending.all();
  }

  /** How many answers are waited for on behalf of somebody. */
  get inFlight(): number {
    return this.#inFlight;
  }

  /** How much was asked on behalf of somebody since the beginning. */
  get requestCount(): number {
    return this.#requestCount;
  }

  /** Hears of progress also after the answer: some requests go on as tasks. */
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

  /** Notes a request of the peer's that is under way; the number is for `served`. */
  track(served: Cancellable): number {
    this.#link.account.charge(REQUEST_BYTES + (served.bytes ?? 0));
    return this.#tracked.add(served);
  }

  untrack(ticket: number): void {
    const served = this.#tracked.take(ticket);
    if (served !== undefined) this.#link.account.release(REQUEST_BYTES + (served.bytes ?? 0));
  }

  /** All of the peer's requests that are under way. */
  requests(): Cancellable[] {
    return this.#tracked.all();
  }

  /** A request of our own; resolves with the raw result, rejects with the peer's error or with why it is gone. */
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

  /** The answer to the request that we sent under this id is put off. */
  suspend(id: number, pause: Pause): void {
    this.#pending.get(id)?.suspended?.(pause);
  }

  /** Fails one request; its id is the text that stood in the peer's message, `line` that message if its text is damaged. */
  failRequest(id: string, error: RpcError, line?: Buffer): void {
    this.#take(sentId(id))?.lost(error, line);
  }

  /** Takes what concerns requests under way. False: the message is for somebody else. */
  take(message: Message): boolean {
    if (message.kind === 'response') return this.#answer(message);
    if (message.kind !== 'notification') return false;
    if (message.method === 'notifications/progress') return this.#progress(message);
    if (message.method === 'notifications/cancelled') return this.#cancel(message);
    return false;
  }

  /** The peer is gone: everyone who waits for it hears why, and what it asked for is called off. */
  fail(error: RpcError): void {
    this.#gone ??= error;
    this.#link.account.close();
    const handlers = this.#pending.all();
    this.#pending = new SlotMap();
    this.#inFlight = 0;
    this.#endEach(handlers, (handler) => handler.lost(error));
    this.#endEach(this.#tracked.all(), (served) => served.abandon(error.message));
  }

  /** Tens of thousands may wait; what one of them throws concerns no other. */
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
    handler?.answered(message);
    return handler !== undefined;
  }

  #progress(message: Message): boolean {
    const token = message.params && valueText(message.params, 'progressToken');
    const handler = token === undefined ? undefined : this.#pending.get(sentId(token));
    if (handler !== undefined) handler.progressed(message);
    else if (token !== undefined) this.#followers?.get(sentId(token))?.(message);
    // A token that nobody waits for (any more) goes no further: clients drop the connection over one.
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

/** The number that we sent, from the text that came back. Some servers return it as a string; what else is in quotes is not ours. */
export function sentId(text: string): number {
  if (!text.startsWith('"')) return Number(text);
  const inner = text.slice(1, -1);
  const id = Number(inner);
  return String(id) === inner ? id : Number.NaN;
}
