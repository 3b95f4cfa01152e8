import { quoted } from '../../errors.ts';
import { BackOff } from '../../time/back-off.ts';
import { Batch } from '../../wire/batch.ts';
import { readMessage, type Message, type InvalidInput } from '../../wire/message.ts';
import type { Oversized } from '../../wire/oversized.ts';
import type { Pause } from '../../wire/peer.ts';
import type { Abortable, HttpClient } from './http-client.ts';
import type { HttpResponse } from './http-connection.ts';
import { asAnswer, LONGEST_REFUSAL, readAnswer, describeContentType } from './http-errors.ts';
import type { Streams } from './remote-session.ts';
import { headerLine } from './request-headers.ts';
import { contentType, readBody, readEvents, readJson, type ReadLimits } from './response-body.ts';
import type { SseEvent } from './sse-parser.ts';

/** Parts that all exchanges with a server share. */
export interface Wire {
  readonly client: HttpClient;
  readonly streams: Streams;
  readonly maxMessageSize: number;
  /** Returns the lines of headers of a request; with `resumes`, of the one that asks for the rest of its answer. */
  headers(exchange: HttpCall, resumes: boolean): string;
  debug(text: string): void;
  /** Returns true where the server's revision knows batches. */
  takesBatches(): boolean;
  /** Ends the server after a mistake of ours. */
  readonly failed: (error: Error) => void;
}

/** Handlers of an exchange. Of all but `received` and `suspended` one comes, once. */
export interface HttpCallEvents {
  /** Something on the way: a notification or a question. */
  received(exchange: HttpCall, message: Message): void;
  /** The server has ended its response before the answer, which is fetched later. */
  suspended(exchange: HttpCall, pause: Pause): void;
  answered(exchange: HttpCall, answer: Message, response: HttpResponse): void;
  /** An HTTP status that says no; the body where it could be read. */
  refused(exchange: HttpCall, response: HttpResponse, body: Buffer | undefined): void;
  invalid(exchange: HttpCall, line: InvalidInput): void;
  oversized(exchange: HttpCall, answer: Oversized): void;
  lost(exchange: HttpCall, what: string): void;
}

/** Failed attempts in a row to resume a stream, after which its call fails. */
const MOST_FAILURES = 5;
/** Milliseconds that a stream may stay open after its answer. */
const LINGER_MS = 5000;

/** One request as a POST of its own, until its answer is there. A stream that breaks off is taken up again where the server allows it. */
export class HttpCall {
  readonly id: number;
  readonly message: Message;
  readonly isModern: boolean;
  /** The number of the session in which it was sent; undefined where there was none. */
  session: number | undefined;
  readonly #wire: Wire;
  readonly #events: HttpCallEvents;
  #isOver = false;
  #sending: Abortable | undefined;
  #lastEventId: string | undefined;
  #backOff: BackOff | undefined;
  #failures = 0;
  /** The rest of an array of messages that one event held. */
  #batch: Batch | undefined;

  constructor(message: Message, isModern: boolean, { wire, events }: { wire: Wire; events: HttpCallEvents }) {
    this.id = Number(message.id);
    this.message = message;
    this.isModern = isModern;
    this.#wire = wire;
    this.#events = events;
  }

  get method(): string {
    return this.message.method;
  }

  post(): void {
    this.#sending = this.#wire.client.send(
      { method: 'POST', headers: () => this.#wire.headers(this, false), body: this.message.bytes },
      { response: (response) => this.#respond(response), failed: (what) => this.#lose(what) },
    );
  }

  /** Closes the request. In the modern era the server takes that for a cancellation. */
  abort(): void {
    this.#isOver = true;
    this.#backOff?.stop();
    this.#sending?.abort();
  }

  #respond(response: HttpResponse): void {
    const { status } = response;
    const type = contentType(response);
    if (status < 200 || status > 299) this.#readRefusal(response);
    else if (type === 'text/event-stream') this.#readStream(response);
    else if (type === 'application/json') this.#readAnswer(response);
    else {
      response.destroy();
      const isEmpty = type === '' && (status === 202 || status === 204);
      this.#lose(
        isEmpty
          ? `answered ${this.method} with HTTP ${status} and no result`
          : describeContentType(type, this.method),
      );
    }
  }

  #limits(limit: number): ReadLimits {
    return { limit, account: this.#wire.client.account };
  }

  #readRefusal(response: HttpResponse): void {
    readBody(response, this.#limits(LONGEST_REFUSAL), {
      done: (body) => {
        if (this.#isOver) return;
        this.#isOver = true;
        this.#events.refused(this, response, Buffer.isBuffer(body) ? body : undefined);
      },
      failed: this.#wire.failed,
    });
  }

  #readAnswer(response: HttpResponse): void {
    const reading = readJson(response, this.#limits(this.#wire.maxMessageSize), {
      line: (bytes) => this.#read(bytes, response),
      failed: this.#wire.failed,
      oversized: (line) => !this.#isOver && this.#oversized(line),
      done: (body) => {
        if (this.#isOver) return;
        if (body === undefined) return this.#lose(this.#without(response));
        // The body is the only answer to this call.
        if (!Buffer.isBuffer(body))
          return this.#oversized({ size: body.size, likelyKind: 'response', id: undefined });
        const answer = readAnswer(body, this.id);
        if (answer.kind === 'invalid') this.#invalid({ ...answer, id: undefined, likelyKind: 'response' });
        else if (this.#isOwn(answer)) this.#answer(answer, response);
        else this.#lose(`answered ${this.method} with a wrong id`);
      },
    });
    this.#wire.streams.add(response, reading);
  }

  #without({ isComplete }: HttpResponse): string {
    return isComplete
      ? `ended its answer to ${this.method} before the result came`
      : `broke off in the middle of its answer to ${this.method}`;
  }

  #readStream(response: HttpResponse): void {
    const reading = readEvents(response, this.#limits(this.#wire.maxMessageSize), {
      event: (event) => this.#event(event, response),
      part: () => this.#nextPart(response),
      failed: this.#wire.failed,
      oversized: (data) => !this.#isOver && this.#oversized(data),
      retry: (milliseconds) => {
        this.#backOff ??= new BackOff({ isBackground: false });
        this.#backOff.requestedDelay = milliseconds;
      },
      ended: () => this.#ended(),
    });
    this.#wire.streams.add(response, reading);
  }

  #event({ type, data, id }: SseEvent, response: HttpResponse): void {
    if (this.#isOver) return;
    if (id !== undefined) this.#lastEventId = id;
    this.#failures = 0;
    if (data.length === 0 || type !== 'message') return;
    const message = readMessage(data);
    const isBatch = message.kind === 'invalid' && message.reason === 'batch' && this.#wire.takesBatches();
    this.#batch = isBatch ? Batch.open(data) : undefined;
    if (this.#batch === undefined) this.#receive(asAnswer(message, this.id), response);
  }

  /** Works off one message of a batch. */
  #nextPart(response: HttpResponse): boolean {
    const part = this.#batch?.next();
    if (part === undefined) this.#batch = undefined;
    else this.#receive(asAnswer(part, this.id), response);
    return part !== undefined;
  }

  #read(data: Buffer, response: HttpResponse): void {
    this.#receive(readAnswer(data, this.id), response);
  }

  #receive(message: Message | InvalidInput, response: HttpResponse): void {
    if (this.#isOver) return;
    if (message.kind === 'invalid') this.#invalid(message);
    else if (message.kind !== 'response') this.#events.received(this, message);
    else if (this.#isOwn(message)) this.#answer(message, response);
    else this.#wire.debug(`answered id ${message.id} to request ${this.id}; Weir dropped it`);
  }

  /** Some servers return a number as a string. */
  #isOwn({ kind, id }: Message): boolean {
    return kind === 'response' && this.#isOwnId(id);
  }

  #isOwnId(id: string): boolean {
    return id === String(this.id) || id === `"${this.id}"`;
  }

  #answer(answer: Message, response: HttpResponse): void {
    this.#isOver = true;
    if (!response.isComplete) letLinger(response);
    this.#events.answered(this, answer, response);
  }

  /** Ends the exchange where this is its answer; what comes on the way to that is refused by itself. */
  #invalid(line: InvalidInput): void {
    const { id = String(this.id), likelyKind } = line;
    if (likelyKind !== 'response') return this.#events.invalid(this, line);
    if (!this.#isOwnId(id))
      return this.#wire.debug(`answered id ${quoted(id)} to request ${this.id}; Weir dropped it`);
    this.#isOver = true;
    this.#events.invalid(this, { ...line, id: String(this.id) });
  }

  /** Only where it is the answer; what is too long on the way is left out. */
  #oversized(data: Oversized): void {
    const { id = String(this.id), likelyKind, size } = data;
    if (likelyKind !== 'response') return this.#events.oversized(this, data);
    if (!this.#isOwnId(id))
      return this.#wire.debug(`answered id ${id} to request ${this.id}; Weir dropped it`);
    this.#isOver = true;
    this.#events.oversized(this, { id: String(this.id), likelyKind, size });
  }

  #ended(): void {
    if (this.#isOver) return;
    if (this.#lastEventId !== undefined && !this.isModern) {
      const backOff = this.#resumeLater();
      return this.#events.suspended(this, { length: backOff.delay, end: () => backOff.runNow() });
    }
    this.#lose(`ended its answer to ${this.method} before the result came`);
  }

  #resumeLater(): BackOff {
    this.#backOff ??= new BackOff({ isBackground: false });
    this.#backOff.schedule(() => this.#resume());
    return this.#backOff;
  }

  #resume(): void {
    this.#sending = this.#wire.client.send(
      {
        method: 'GET',
        headers: () => this.#wire.headers(this, true) + headerLine('last-event-id', this.#lastEventId ?? ''),
      },
      { response: (response) => this.#resumed(response), failed: (what) => this.#failedAgain(what) },
    );
  }

  #resumed(response: HttpResponse): void {
    const { status } = response;
    if (status === 200 && contentType(response) === 'text/event-stream') return this.#readStream(response);
    response.destroy();
    const what = `${this.#wire.client.describeRefusal(response, 'GET')}, when Weir asked for the rest of its answer to ${this.method}`;
    if (status >= 500) this.#failedAgain(what);
    else this.#lose(what);
  }

  #failedAgain(what: string): void {
    if (this.#isOver) return;
    this.#failures += 1;
    if (this.#failures >= MOST_FAILURES) this.#lose(what);
    else this.#resumeLater();
  }

  #lose(what: string): void {
    if (this.#isOver) return;
    this.abort();
    this.#events.lost(this, what);
  }
}

/** A server may leave a stream open after the answer; a connection for each of them would be too many. */
function letLinger(response: HttpResponse): void {
  const timer = setTimeout(() => response.destroy(), LINGER_MS).unref();
  response.onClose(() => clearTimeout(timer));
}
