import { BackOff } from '../../time/back-off.ts';
import { readMessage, type Message, type InvalidInput } from '../../wire/message.ts';
import type { Oversized } from '../../wire/oversized.ts';
import type { Abortable, HttpClient } from './http-client.ts';
import type { HttpResponse } from './http-connection.ts';
import type { Streams } from './remote-session.ts';
import { ACCEPT_EVENTS, headerLine } from './request-headers.ts';
import { contentType, readEvents } from './response-body.ts';
import type { SseEvent } from './sse-parser.ts';

export interface ServerStreamOptions {
  readonly client: HttpClient;
  readonly streams: Streams;
  readonly maxMessageSize: number;
  /** Returns the lines of headers that tell the session. */
  headers(): string;
  message(message: Message): void;
  /** An answer belongs on the stream of its request; where that has broken off, some servers send it here. */
  answer(answer: Message): void;
  invalid(line: InvalidInput): void;
  oversized(message: Oversized): void;
  /** The server does not know the session any more. */
  forgotten(): void;
  /** The stream was closed for a while, and the server did not keep its messages. */
  missed(): void;
  debug(text: string): void;
  /** Ends the server after a mistake of ours. */
  readonly failed: (error: Error) => void;
}

/** Stream of a legacy server for messages that belong to no request. A server may do without it. */
export class ServerStream {
  readonly #options: ServerStreamOptions;
  readonly #backOff = new BackOff({ isBackground: true });
  #sending: Abortable | undefined;
  #lastEventId: string | undefined;
  #hasBeenOpen = false;
  #isClosed = false;

  constructor(options: ServerStreamOptions) {
    this.#options = options;
  }

  /** Opens it, for a new session from its beginning; resolves when the server has said whether it stands. */
  open(): Promise<void> {
    this.#sending?.abort();
    this.#backOff.stop();
    this.#lastEventId = undefined;
    this.#hasBeenOpen = false;
    return new Promise((answered) => this.#ask(answered));
  }

  /** Asks again for a stream that was open once, after a session could not be renewed. */
  openLater(): void {
    if (this.#hasBeenOpen) this.#backOff.schedule(() => this.#ask());
  }

  close(): void {
    this.#isClosed = true;
    this.#backOff.stop();
    this.#sending?.abort();
  }

  #ask(answered: () => void = () => {}): void {
    if (this.#isClosed) return answered();
    const sending = this.#options.client.send(
      { method: 'GET', isAside: true, headers: () => this.#headers() },
      {
        response: (response) => {
          this.#respond(response, sending);
          answered();
        },
        failed: () => {
          this.#backOff.schedule(() => this.#ask());
          answered();
        },
      },
    );
    this.#sending = sending;
  }

  #headers(): string {
    const id = this.#lastEventId;
    const resumption = id === undefined ? '' : headerLine('last-event-id', id);
    return this.#options.headers() + ACCEPT_EVENTS + resumption;
  }

  #respond(response: HttpResponse, sending: Abortable): void {
    const { status } = response;
    if (status === 200 && contentType(response) === 'text/event-stream') return this.#read(response, sending);
    response.destroy();
    if (status === 404 && this.#hasBeenOpen) this.#options.forgotten();
    else if (status >= 500 && status !== 501) this.#backOff.schedule(() => this.#ask());
    else this.#options.debug(`offers no stream of its own (HTTP ${status})`);
  }

  #read(response: HttpResponse, sending: Abortable): void {
    if (this.#hasBeenOpen && this.#lastEventId === undefined) this.#options.missed();
    this.#hasBeenOpen = true;
    const { client, maxMessageSize } = this.#options;
    const reading = readEvents(
      response,
      { limit: maxMessageSize, account: client.account },
      {
        failed: this.#options.failed,
        event: (event) => this.#event(event),
        oversized: (data) => this.#options.oversized(data),
        retry: (milliseconds) => {
          this.#backOff.requestedDelay = milliseconds;
        },
        ended: () => {
          if (this.#sending === sending) this.#backOff.schedule(() => this.#ask());
        },
      },
    );
    this.#options.streams.add(response, reading);
  }

  #event({ type, data, id }: SseEvent): void {
    if (id !== undefined) this.#lastEventId = id;
    this.#backOff.reset();
    if (this.#isClosed || data.length === 0 || type !== 'message') return;
    const message = readMessage(data);
    if (message.kind === 'invalid') this.#options.invalid(message);
    else if (message.kind === 'response') this.#options.answer(message);
    else this.#options.message(message);
  }
}
