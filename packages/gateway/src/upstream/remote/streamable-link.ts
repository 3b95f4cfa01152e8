import { quoted, RpcErrorCode } from '../../errors.ts';
import { Method } from '../../protocol/methods.ts';
import type { ParameterHeader } from '../../protocol/param-headers.ts';
import { Deferred } from '../../time/deferred.ts';
import { within } from '../../time/timeouts.ts';
import type { Account } from '../../wire/account.ts';
import { notificationLine } from '../../wire/answer.ts';
import { describeInvalidInput } from '../../wire/describe-invalid.ts';
import { valueText } from '../../wire/json/members.ts';
import { lineBytes, type Line } from '../../wire/json/splice.ts';
import type { Link } from '../../wire/link.ts';
import { readMessage, type Message, type InvalidInput } from '../../wire/message.ts';
import { HttpCall, type HttpCallEvents, type Wire } from './http-call.ts';
import type { HttpClient } from './http-client.ts';
import type { HttpResponse } from './http-connection.ts';
import { isNameless, readAnswer, unknownMethod } from './http-errors.ts';
import {
  HeldMessages,
  RemoteSession,
  SessionMemory,
  Streams,
  type RemoteHandlers,
} from './remote-session.ts';
import { repeatHandshake } from './repeat-handshake.ts';
import { ACCEPT_ANY, ACCEPT_EVENTS, modernLines } from './request-headers.ts';
import { ServerStream } from './server-stream.ts';

export interface StreamableOptions {
  readonly client: HttpClient;
  readonly maxMessageSize: number;
  readonly account: Account;
  readonly handlers: RemoteHandlers;
  /** The arguments of a tool that are repeated in headers. */
  readonly markedIn: (tool: string) => readonly ParameterHeader[] | undefined;
  /** The handshake was refused as servers of the oldest kind of HTTP do. */
  readonly refusedOpening: (opening: Message, what: string) => void;
}

/** Requests whose refusal, in whatever form, proves that the server is there. */
const PROBES: readonly string[] = [Method.DISCOVER, Method.PING];
/** A server may say nothing, not even that the stream stands, before it has something to say on it. */
const STANDING_MS = 250;
/** Milliseconds that the server may take to answer the end of a session. */
const FAREWELL_MS = 1000;

/** Streamable HTTP in both eras: every message is a POST of its own, and what comes of a request comes on its response. */
export class StreamableLink implements Link {
  readonly #options: StreamableOptions;
  readonly #streams = new Streams();
  readonly #wire: Wire;
  readonly #events: HttpCallEvents;
  readonly #memory = new SessionMemory();
  readonly #session = new RemoteSession();
  readonly #standing: ServerStream;
  readonly #exchanges = new Map<number, HttpCall>();
  /** Messages that wait for the end of a handshake. */
  readonly #held: HeldMessages;
  /** Requests that are sent for the second time; a third time is one too many. */
  readonly #repeated = new Set<number>();
  /** The handshake for a new session. */
  #handshake: HttpCall | undefined;
  #isClosed = false;

  constructor(options: StreamableOptions) {
    const { client, maxMessageSize, handlers } = options;
    const shared = {
      client,
      streams: this.#streams,
      maxMessageSize,
      debug: handlers.debug,
      failed: handlers.failed,
    };
    this.#options = options;
    this.#held = new HeldMessages(options.account);
    this.#wire = {
      ...shared,
      takesBatches: () => handlers.takesBatches(),
      headers: (exchange, resumes) => this.#headersOf(exchange, resumes),
    };
    this.#events = this.#createEvents();
    this.#standing = new ServerStream({
      ...shared,
      headers: () => this.#session.headers(),
      message: (message) => handlers.message(message),
      answer: (answer) => this.#answeredAside(answer),
      invalid: (line) => this.#invalidAside(line),
      oversized: (message) => handlers.oversized(message),
      forgotten: () => this.#renewSession(),
      missed: () => handlers.renewed(),
    });
  }

  get keepsSession(): boolean {
    return this.#session.number !== undefined;
  }

  get account(): Account {
    return this.#options.account;
  }

  get backlog(): number {
    return this.#options.client.backlog + this.#held.bytes;
  }

  send(line: Line): void {
    const message = readMessage(lineBytes(line));
    if (message.kind === 'invalid' || this.#isClosed) return;
    if (message.method === Method.CANCELLED) this.#cancel(message);
    else if (!this.#held.add(message)) this.#dispatch(message);
  }

  pause(): void {
    this.#streams.pause();
  }

  resume(): void {
    this.#streams.resume();
  }

  close(): void {
    this.#isClosed = true;
    this.#standing.close();
    this.#held.end();
    this.#handshake?.abort();
    for (const exchange of this.#exchanges.values()) exchange.abort();
    this.#exchanges.clear();
  }

  /** Closes it, and tells the server that its session is over. */
  async end(): Promise<void> {
    this.close();
    if (this.#session.number === undefined) return;
    const told = new Deferred<void>();
    this.#options.client.send(
      { method: 'DELETE', isAside: true, headers: () => this.#session.headers() },
      { response: (response) => told.resolve(response.resume()), failed: () => told.resolve() },
    );
    await within(FAREWELL_MS, told.promise);
  }

  #dispatch(message: Message): void {
    if (message.kind === 'request') return this.#ask(message);
    if (message.method !== Method.INITIALIZED) return this.#tell(message.bytes);
    // Requests on other connections could overtake it.
    this.#held.begin();
    this.#tell(message.bytes, () => this.#begin());
  }

  /** Opens the standing stream before any request, because some servers take a later one for the return of a lost client. */
  #begin(): void {
    const { current } = this.#held;
    void within(STANDING_MS, this.#standing.open()).then(() => {
      if (this.#held.current !== current) return;
      for (const message of this.#held.end()) this.#dispatch(message);
    });
  }

  #ask(message: Message): void {
    this.#memory.note(message);
    const isModern = !this.#session.isOpen && message.method !== Method.INITIALIZE;
    const exchange = new HttpCall(message, isModern, { wire: this.#wire, events: this.#events });
    this.#exchanges.set(exchange.id, exchange);
    exchange.post();
  }

  /** Something that has no answer; `done` is called when the server has it, or never will. */
  #tell(body: Buffer, done: () => void = () => {}): void {
    const { client, handlers } = this.#options;
    const message = readMessage(body) as Message;
    const headers = (): string =>
      ACCEPT_ANY + (this.#session.isOpen ? this.#session.headers() : this.#modernLines(message));
    client.send(
      { method: 'POST', isAside: true, body, headers },
      {
        response: (response) => {
          response.resume();
          if (response.status > 299)
            handlers.debug(client.describeRefusal(response, message.method || 'an answer'));
          done();
        },
        failed: (what) => {
          handlers.debug(what);
          done();
        },
      },
    );
  }

  /** In the modern era a closed request is the cancellation; a legacy server gets the notification first. */
  #cancel(message: Message): void {
    const id = Number(message.params && valueText(message.params, 'requestId'));
    this.#held.drop(id);
    const exchange = this.#exchanges.get(id);
    this.#forget(id);
    if (this.#session.isOpen) this.#tell(message.bytes, () => exchange?.abort());
    else exchange?.abort();
  }

  #createEvents(): HttpCallEvents {
    const { handlers } = this.#options;
    return {
      received: ({ id }, message) => handlers.message(message, id),
      suspended: ({ id }, pause) => handlers.suspended(id, pause),
      answered: (exchange, answer, response) => this.#answered(exchange, answer, response),
      refused: (exchange, response, body) => this.#refused(exchange, response, body),
      invalid: (exchange, line) => this.#invalid(exchange, line),
      oversized: ({ id }, answer) => {
        if (answer.likelyKind === 'response') this.#forget(id);
        handlers.oversized(answer);
      },
      lost: ({ id }, what) => this.#lose(id, what),
    };
  }

  #answered(exchange: HttpCall, answer: Message, response: HttpResponse): void {
    this.#forget(exchange.id);
    if (exchange.method === Method.INITIALIZE && !answer.isError) this.#session.adopt(answer, response);
    this.#options.handlers.message(answer, exchange.id);
  }

  /** Without the answer to a handshake there is no session, however much of it could be read. */
  #invalid(exchange: HttpCall, line: InvalidInput): void {
    const { handlers } = this.#options;
    const { id, method } = exchange;
    const how = `answered ${quoted(method)} with`;
    if (line.likelyKind !== 'response') return handlers.invalid(line);
    if (method === Method.INITIALIZE) return this.#lose(id, `${how} ${describeInvalidInput(line)}`);
    this.#forget(id);
    handlers.invalid(line, how);
  }

  /** The same on the stream for what belongs to no request. */
  #invalidAside(line: InvalidInput): void {
    const exchange = line.likelyKind === 'response' ? this.#exchangeOf(line.id ?? '') : undefined;
    if (exchange !== undefined) {
      exchange.abort();
      this.#forget(exchange.id);
    }
    this.#options.handlers.invalid(line);
  }

  /** The answer to a request of ours that came on the stream for what belongs to none. */
  #answeredAside(answer: Message): void {
    const exchange = this.#exchangeOf(answer.id);
    if (exchange === undefined) return;
    exchange.abort();
    this.#forget(exchange.id);
    this.#options.handlers.message(answer, exchange.id);
  }

  /** Returns the exchange that is answered under this id on another stream; a handshake is not. */
  #exchangeOf(id: string): HttpCall | undefined {
    const exchange = this.#exchanges.get(Number(id.replaceAll('"', '')));
    return exchange?.method === Method.INITIALIZE ? undefined : exchange;
  }

  #lose(id: number, what: string): void {
    this.#forget(id);
    this.#options.handlers.lost(id, what);
  }

  #forget(id: number): void {
    this.#exchanges.delete(id);
    this.#repeated.delete(id);
  }

  #refused(exchange: HttpCall, response: HttpResponse, body: Buffer | undefined): void {
    const { id, method } = exchange;
    const { status } = response;
    const { client, handlers, refusedOpening } = this.#options;
    const isForgotten = exchange.session !== undefined && forgetsSession(status, body);
    if (isForgotten && !this.#repeated.has(id)) return this.#repeat(exchange);
    const answer = body && readAnswer(body, id);
    if (isErrorAnswer(answer) && this.#isOutdated(exchange, answer)) return this.#askAnew(exchange);
    this.#forget(id);
    const what = client.describeRefusal(response, method);
    const isFromOldest = method === Method.INITIALIZE && [400, 404, 405].includes(status);
    if (isFromOldest && (body === undefined || isNameless(body))) refusedOpening(exchange.message, what);
    else if (isErrorAnswer(answer)) handlers.message(answer, id);
    else if (PROBES.includes(method) && isUnknowing(status)) handlers.message(unknownMethod(id, status), id);
    else handlers.lost(id, what);
  }

  /** The server misses headers, or others: its definition of the tool must have changed. */
  #isOutdated({ id, method, isModern }: HttpCall, { body: error }: Message): boolean {
    if (!isModern || method !== Method.CALL_TOOL || this.#repeated.has(id)) return false;
    return error !== undefined && valueText(error, 'code') === String(RpcErrorCode.HEADER_MISMATCH);
  }

  /** The call was refused unread, so nothing is done twice. */
  #askAnew(exchange: HttpCall): void {
    this.#repeated.add(exchange.id);
    void this.#options.handlers.outdated().then(() => {
      // Called off meanwhile.
      if (this.#exchanges.get(exchange.id) === exchange) this.#ask(exchange.message);
    });
  }

  /** Sends a request once more, in the session that has begun meanwhile or is begun now. */
  #repeat({ id, message, session }: HttpCall): void {
    this.#forget(id);
    if (session === this.#session.number) this.#renewSession();
    this.#repeated.add(id);
    if (!this.#held.add(message)) this.#ask(message);
  }

  /** Shakes hands again, for a server that has lost its session. All messages wait until it has a new one. */
  #renewSession(): void {
    const { handlers } = this.#options;
    const { opening } = this.#memory;
    if (this.#held.current !== undefined || opening === undefined) return;
    this.#held.begin();
    handlers.debug('lost the session; Weir opens a new one');
    this.#handshake = repeatHandshake(opening, this.#wire, {
      answered: (answer, response) => {
        this.#session.adopt(answer, response);
        this.#tell(lineBytes(notificationLine(Method.INITIALIZED)), () => {
          for (const told of this.#memory.replay()) this.#tell(told);
          this.#begin();
          handlers.renewed();
        });
      },
      failed: (what) => {
        const held = this.#held.end();
        this.#standing.openLater();
        for (const { kind, id } of held) if (kind === 'request') this.#lose(Number(id), what);
      },
    });
  }

  #headersOf(exchange: HttpCall, resumes: boolean): string {
    const accept = resumes ? ACCEPT_EVENTS : ACCEPT_ANY;
    if (exchange.method === Method.INITIALIZE) return accept;
    if (exchange.isModern) return accept + this.#modernLines(exchange.message);
    exchange.session = this.#session.number;
    return accept + this.#session.headers();
  }

  #modernLines(message: Message): string {
    return modernLines(message, this.#options.markedIn);
  }
}

/** 404 is the word for it; some servers say 400 and name the session in what they write about it. */
function forgetsSession(status: number, body: Buffer | undefined): boolean {
  if (status === 404) return body === undefined || isNameless(body);
  return status === 400 && body !== undefined && isNameless(body) && /session/i.test(body.toString('latin1'));
}

function isErrorAnswer(answer: Message | InvalidInput | undefined): answer is Message {
  return answer?.kind === 'response' && answer.isError;
}

/** Returns true for a status by which servers refuse an unknown method without JSON-RPC. */
function isUnknowing(status: number): boolean {
  return status <= 501;
}
