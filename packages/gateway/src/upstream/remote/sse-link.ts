import { Method } from '../../protocol/methods.ts';
import { BackOff } from '../../time/back-off.ts';
import type { Account } from '../../wire/account.ts';
import { notificationLine } from '../../wire/answer.ts';
import { describeInvalidInput } from '../../wire/describe-invalid.ts';
import { valueText } from '../../wire/json/members.ts';
import { lineBytes, type Line } from '../../wire/json/splice.ts';
import type { Link } from '../../wire/link.ts';
import { readMessage, type Message, type InvalidInput } from '../../wire/message.ts';
import { LOOP_DETECTED } from '../gateway-chain.ts';
import type { Abortable, HttpClient } from './http-client.ts';
import type { HttpResponse } from './http-connection.ts';
import { LONGEST_REFUSAL, readAnswer, describeContentType } from './http-errors.ts';
import { HeldMessages, SessionMemory, Streams, type RemoteHandlers } from './remote-session.ts';
import { ACCEPT_EVENTS } from './request-headers.ts';
import { contentType, readBody, readEvents } from './response-body.ts';
import type { SseEvent } from './sse-parser.ts';

export interface SseLinkOptions {
  readonly client: HttpClient;
  /** Address of the stream. */
  readonly url: URL;
  readonly maxMessageSize: number;
  readonly account: Account;
  readonly handlers: RemoteHandlers;
}

/** HTTP+SSE, the oldest kind: one stream brings everything, and the address to post to as its first event. */
export class SseLink implements Link {
  readonly #options: SseLinkOptions;
  readonly #streams = new Streams();
  readonly #memory = new SessionMemory();
  readonly #backOff = new BackOff({ isBackground: false });
  /** The ids of requests that the server has not answered. */
  readonly #asked = new Set<number>();
  /** Messages that wait for an address to post to. */
  readonly #held: HeldMessages;
  #endpoint: URL | undefined;
  #sending: Abortable | undefined;
  /** True while the handshake of a new stream is in flight: the link itself takes its answer. */
  #isRenewing = false;
  #isClosed = false;

  constructor(options: SseLinkOptions) {
    this.#options = options;
    this.#held = new HeldMessages(options.account);
    this.#held.begin();
    this.#open();
  }

  get account(): Account {
    return this.#options.account;
  }

  get backlog(): number {
    return this.#options.client.backlog + this.#held.bytes;
  }

  send(line: Line): void {
    const message = readMessage(lineBytes(line));
    if (message.kind === 'invalid') return;
    if (message.method === Method.CANCELLED) this.#forget(message);
    if (!this.#held.add(message)) this.#post(message);
  }

  pause(): void {
    this.#streams.pause();
  }

  resume(): void {
    this.#streams.resume();
  }

  close(): void {
    this.#isClosed = true;
    this.#backOff.stop();
    this.#sending?.abort();
  }

  async end(): Promise<void> {
    this.close();
  }

  #open(): void {
    if (this.#isClosed) return;
    const { client, url } = this.#options;
    this.#sending = client.send(
      { method: 'GET', url, isAside: true, headers: () => ACCEPT_EVENTS },
      { response: (response) => this.#respond(response), failed: (what) => this.#broken(what) },
    );
  }

  #respond(response: HttpResponse): void {
    const { client, handlers } = this.#options;
    const { status } = response;
    const type = contentType(response);
    if (status === 200 && type === 'text/event-stream') return this.#read(response);
    if (status === LOOP_DETECTED)
      return void readBody(
        response,
        { limit: LONGEST_REFUSAL, account: this.account },
        {
          done: (body) => this.#refused(response, body),
          failed: handlers.failed,
        },
      );
    response.destroy();
    this.#broken(status === 200 ? describeContentType(type, 'GET') : client.describeRefusal(response, 'GET'));
  }

  /** A gateway says in JSON-RPC why it refuses: that is the answer to all that is asked. */
  #refused(response: HttpResponse, body: unknown): void {
    if (this.#isClosed) return;
    this.#askHeld();
    for (const id of this.#asked) {
      const answer = Buffer.isBuffer(body) ? readAnswer(body, id) : undefined;
      if (answer?.kind !== 'response' || !answer.isError) continue;
      this.#asked.delete(id);
      this.#options.handlers.message(answer, id);
    }
    this.#broken(this.#options.client.describeRefusal(response, 'GET'));
  }

  #read(response: HttpResponse): void {
    const { maxMessageSize, handlers } = this.#options;
    const stream = this.#sending;
    const reading = readEvents(
      response,
      { limit: maxMessageSize, account: this.account },
      {
        failed: handlers.failed,
        // A stream that was given up may still bring events.
        event: (event) => this.#sending === stream && this.#event(event),
        oversized: (data) => handlers.oversized(data),
        retry: (milliseconds) => {
          this.#backOff.requestedDelay = milliseconds;
        },
        ended: () => this.#sending === stream && this.#broken('closed its event stream'),
      },
    );
    this.#streams.add(response, reading);
  }

  #event({ type, data }: SseEvent): void {
    if (this.#isClosed || data.length === 0) return;
    if (type === 'endpoint') return this.#opened(data.toString('utf8'));
    if (type !== 'message') return;
    const message = readMessage(data);
    if (message.kind === 'invalid') return this.#invalid(message);
    if (this.#isRenewing && this.#isHandshakeAnswer(message)) return this.#sessionRenewed(message);
    if (message.kind === 'response') this.#asked.delete(Number(message.id));
    this.#options.handlers.message(message);
  }

  #invalid(line: InvalidInput): void {
    const isAnswer = line.likelyKind === 'response' && line.id !== undefined;
    if (isAnswer && this.#isRenewing && this.#isOpeningId(line.id))
      return this.#giveUp(`answers a new handshake with ${describeInvalidInput(line)}`);
    if (isAnswer) this.#asked.delete(idNumber(line.id));
    this.#options.handlers.invalid(line);
  }

  /** Posting elsewhere would hand the configured headers to a stranger. */
  #opened(address: string): void {
    const { url } = this.#options;
    const endpoint = URL.canParse(address, url.href) ? new URL(address, url) : undefined;
    if (endpoint?.origin !== url.origin)
      return this.#giveUp('names an address to post to on another origin, which Weir does not use');
    const isFirst = this.#endpoint === undefined;
    this.#endpoint = endpoint;
    this.#backOff.reset();
    if (!isFirst) return;
    const { opening } = this.#memory;
    if (opening === undefined) this.#release();
    else this.#renewSession(opening);
  }

  #renewSession(opening: Message): void {
    const stream = this.#sending;
    this.#isRenewing = true;
    this.#deliver(opening.bytes, (what) => {
      if (this.#sending === stream) this.#giveUp(what);
    });
  }

  /** Returns true for the answer to the handshake. */
  #isHandshakeAnswer({ kind, id }: Message): boolean {
    return kind === 'response' && this.#isOpeningId(id);
  }

  #isOpeningId(id: string): boolean {
    return idNumber(id) === Number(this.#memory.opening?.id);
  }

  #sessionRenewed({ isError }: Message): void {
    this.#isRenewing = false;
    if (isError) return this.#giveUp('refuses a new handshake');
    for (const told of [lineBytes(notificationLine(Method.INITIALIZED)), ...this.#memory.replay()])
      this.#deliver(told);
    this.#release();
    this.#options.handlers.renewed();
  }

  #release(): void {
    for (const message of this.#held.end()) this.#post(message);
  }

  #post(message: Message): void {
    this.#memory.note(message);
    const isRequest = message.kind === 'request';
    if (isRequest) this.#asked.add(Number(message.id));
    this.#deliver(message.bytes, (what) => {
      if (isRequest) this.#lose(Number(message.id), what);
    });
  }

  #deliver(body: Buffer, failed: (what: string) => void = () => {}): void {
    this.#options.client.send(
      { method: 'POST', url: this.#endpoint, body },
      {
        response: (response) => {
          response.resume();
          if (response.status > 299) failed(this.#options.client.describeRefusal(response, 'POST'));
        },
        failed,
      },
    );
  }

  #forget({ params }: Message): void {
    const id = Number(params && valueText(params, 'requestId'));
    this.#asked.delete(id);
    this.#held.drop(id);
  }

  /** Counts requests that were held back among those without an answer. Begins to hold messages back again. */
  #askHeld(): void {
    for (const { id, kind } of this.#held.end()) if (kind === 'request') this.#asked.add(Number(id));
    this.#held.begin();
  }

  #lose(id: number, what: string): void {
    if (this.#asked.delete(id)) this.#options.handlers.lost(id, what);
  }

  /** Nothing can be said over this stream. */
  #giveUp(what: string): void {
    this.#sending?.abort();
    this.#broken(what);
  }

  /** Fails all calls of a stream that has ended; later ones wait for the next stream. */
  #broken(what: string): void {
    if (this.#isClosed) return;
    this.#askHeld();
    this.#endpoint = undefined;
    this.#sending = undefined;
    this.#isRenewing = false;
    this.#backOff.schedule(() => this.#open());
    for (const id of this.#asked) this.#lose(id, what);
  }
}

/** Some servers return a number as a string. */
function idNumber(id: string): number {
  return Number(id.replaceAll('"', ''));
}
