import { RpcError, RpcErrorCode } from '../../../errors.ts';
import type { FrontServices } from '../../../gateway/front-services.ts';
import type { Implementation } from '../../../protocol/eras.ts';
import type { Account } from '../../../wire/account.ts';
import type { Message } from '../../../wire/message.ts';
import { workOff } from '../../../wire/slices.ts';
import { Session } from '../../session.ts';
import type { Access } from '../access.ts';
import type { Heartbeat } from '../heartbeat.ts';
import { refuse, respondEmpty } from '../respond.ts';
import type { IncomingRequest } from '../server/incoming-request.ts';
import type { OutgoingResponse } from '../server/outgoing-response.ts';
import { EventStore, type EventBudget } from './event-store.ts';
import { PostedRequest, LegacyResponse } from './legacy-response.ts';
import { ResumableStream } from './resumable-stream.ts';

export interface LegacySessionOptions {
  readonly id: string;
  readonly access: Access;
  readonly serverInfo: Implementation;
  readonly heartbeat: Heartbeat;
  readonly budget: EventBudget;
  readonly now: () => number;
  readonly account: Account;
}

/** The first revision whose clients understand an event without data. */
const PRIMED_FROM = '2025-11-25';

/** The stream for what belongs to no request. */
const STANDALONE = 0;

/** One legacy client: the session that it opened by its handshake, and its streams. */
export class LegacySession {
  readonly id: string;
  readonly access: Access;
  readonly #options: LegacySessionOptions;
  readonly #session: Session;
  readonly #store: EventStore;
  /** Responses with answers to come. */
  readonly #responses = new Set<LegacyResponse>();
  /** The streams among them, by number. */
  readonly #streams = new Map<number, ResumableStream>();
  #standalone: ResumableStream | undefined;
  #lastStream = STANDALONE;
  #usedAt: number;

  constructor(gateway: FrontServices, options: LegacySessionOptions) {
    this.id = options.id;
    this.access = options.access;
    this.#options = options;
    this.#store = new EventStore(options.now, options.budget, options.account);
    this.#usedAt = options.now();
    this.#session = new Session(gateway, () => this.#link(), {
      serverInfo: options.serverInfo,
      view: options.access.view,
      identity: options.id,
      era: 'legacy',
      isAttended: () => this.isAttended,
    });
  }

  /** Protocol revision that the handshake settled on. */
  get version(): string {
    return this.#session.version;
  }

  /** True while the client listens or waits for an answer. */
  get isAttended(): boolean {
    if (this.#standalone?.isConnected === true) return true;
    for (const respond of this.#responses) if (respond.isAttended) return true;
    return false;
  }

  /** When its client was last there. */
  get usedAt(): number {
    return this.#usedAt;
  }

  /** Takes what one POST has brought. */
  receive(
    messages: readonly Message[],
    res: OutgoingResponse,
    { isBatch, headers }: ReceiveOptions = {},
  ): void {
    this.#usedAt = this.#options.now();
    const expected = messages.reduce((count, { kind }) => (kind === 'request' ? count + 1 : count), 0);
    const reply = expected === 0 ? undefined : this.#reply(res, expected, { isBatch, headers });
    workOff('batch', messages, {
      each: (message) => {
        if (reply === undefined || message.kind !== 'request') this.#session.receive(message);
        else this.#session.receive(message, new PostedRequest(message, reply, this.#session.peer));
      },
      failed: (error) => res.connection.fail(error),
    });
    if (reply === undefined) respondEmpty(res, 202);
  }

  /** Opens the stream for what belongs to no request, or one that has broken off. */
  listen(res: OutgoingResponse): void {
    this.#usedAt = this.#options.now();
    const last = res.request.headers.get('last-event-id');
    if (last === undefined) return this.#openStandalone().attach(res);
    const [, stream, number] = /^(\d{1,15})_(\d{1,15})$/u.exec(last) ?? [];
    if (stream === undefined || !this.#resume(res, Number(stream), Number(number)))
      refuse(res, { status: 400, error: eventNotKept(last) });
  }

  /** Ends what is under way, and the streams. */
  end(reason: string): void {
    this.#session.end(reason);
    this.#standalone?.release();
    this.#store.clear();
  }

  /** Looked at from time to time: notes whether its client is there, and forgets what is too old to be asked for. */
  sweep(): void {
    if (this.isAttended) this.#usedAt = this.#options.now();
    this.#store.expire();
  }

  #reply(
    res: OutgoingResponse,
    expected: number,
    { isBatch = false, headers = [] }: ReceiveOptions,
  ): LegacyResponse {
    let number = STANDALONE;
    const reply = new LegacyResponse(res, {
      expected,
      isBatch,
      // Headers of our own go with JSON.
      isStreamed: headers.length === 0 && prefersStream(res.request),
      comesBack: this.version >= PRIMED_FROM,
      headers,
      heartbeat: this.#options.heartbeat,
      openChannel: () => {
        number = ++this.#lastStream;
        const channel = this.#createStream(number);
        this.#streams.set(number, channel);
        return channel;
      },
      ended: (ended) => {
        this.#responses.delete(ended);
        this.#streams.delete(number);
      },
    });
    this.#responses.add(reply);
    return reply;
  }

  #resume(res: OutgoingResponse, stream: number, after: number): boolean {
    const live = stream === STANDALONE ? this.#openStandalone() : this.#streams.get(stream);
    if (live !== undefined) {
      live.attach(res, after);
      return true;
    }
    if (this.#store.after(stream, after).length === 0) return false;
    const ended = this.#createStream(stream);
    ended.attach(res, after);
    ended.release();
    return true;
  }

  #openStandalone(): ResumableStream {
    this.#standalone ??= this.#createStream(STANDALONE);
    return this.#standalone;
  }

  #createStream(number: number): ResumableStream {
    const isPrimed = this.version >= PRIMED_FROM;
    return new ResumableStream({ number, store: this.#store, heartbeat: this.#options.heartbeat, isPrimed });
  }

  #link(): ReturnType<ConstructorParameters<typeof Session>[1]> {
    const channel = (): ResumableStream => this.#openStandalone();
    return {
      account: this.#options.account,
      send: (line) => channel().push(line),
      // Each request waits for its own answer: there is no stream of them to be held up.
      pause: () => {},
      resume: () => {},
      get backlog() {
        return channel().backlog;
      },
      close: () => {},
    };
  }
}

export interface ReceiveOptions {
  /** The answers are an array. */
  readonly isBatch?: boolean | undefined;
  readonly headers?: readonly string[] | undefined;
}

/** Both forms must be accepted; which of them is named first is the client's choice. */
function prefersStream({ headers }: IncomingRequest): boolean {
  const accept = headers.get('accept') ?? '';
  return accept.trimStart().toLowerCase().startsWith('text/event-stream');
}

function eventNotKept(last: string): RpcError {
  const text = `Weir no longer has the events after '${last}'. Make the call again.`;
  return new RpcError(RpcErrorCode.UNAVAILABLE, text);
}
