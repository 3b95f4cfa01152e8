import type { Socket } from 'node:net';
import { now } from '../../../time/clock.ts';
import { Holding, type Account } from '../../../wire/account.ts';
import { InvalidHttp } from '../../../wire/http/invalid-http.ts';
import type { Line } from '../../../wire/json/splice.ts';
import { ClientTurns } from './client-turns.ts';
import { IncomingRequest } from './incoming-request.ts';
import { KEEP_ALIVE_SECONDS, OutgoingResponse } from './outgoing-response.ts';
import { HeadTooLong, RequestBuffer } from './request-buffer.ts';
import type { RequestHead } from './request-head.ts';

/** Times for one request, in milliseconds. */
export interface RequestTimes {
  /** For its head to arrive. */
  readonly headers: number;
  /** For all of it to arrive. */
  readonly request: number;
}

export interface ConnectionHandlers {
  /** Opens the account of a client; `exceeded` closes its connection. */
  openAccount(exceeded: () => void): Account;
  /** Serves a request, of which the head has come. */
  request(request: IncomingRequest, response: OutgoingResponse): void;
  /** Answers something else than a request, or a request that comes too slowly. */
  refuse(response: OutgoingResponse, status: number, why: string): void;
  /** An exception of ours, which ends only this connection. */
  failed(error: Error): void;
}

/** Bytes that are read ahead of the request that is worked on. */
const MOST_AHEAD = 64 * 1024;
/** Bytes that are discarded of the bodies of refused requests, so that the answer reaches a client that is still sending. */
const MOST_DISCARDED = 16 * 1024 * 1024;
/** Time for a client to read the last response and close the connection. */
const LAST_READ_MS = 2000;
/** The head of a request that could not be read. */
const NO_HEAD: RequestHead = {
  method: '',
  url: '',
  headers: new Map(),
  isOld: false,
  length: 0,
  isLast: true,
  waits: false,
};

/**
 * One client on HTTP/1.1, which stands for a peer: its account, and its share of the turns. Requests are worked on one at a time;
 * what a client sends ahead stays unparsed, and is not read from its socket beyond a limit.
 */
export class ClientConnection {
  readonly account: Account;
  readonly turns: ClientTurns = new ClientTurns((error) => this.fail(error));
  readonly #socket: Socket;
  readonly #handlers: ConnectionHandlers;
  readonly #times: RequestTimes;
  /** Bytes of responses that the client has not read. */
  readonly #unread: Holding;
  /** Bytes that were read ahead. */
  readonly #ahead: Holding;
  readonly #input = new RequestBuffer();
  #request: IncomingRequest | undefined;
  #response: OutgoingResponse | undefined;
  /** Time at which the connection is given up, unless something happens on it. */
  #deadline: number;
  #requestEnds = 0;
  #isAdvancing = false;
  /** True while a body waits for its turn to be read. */
  #isPaused = false;
  /** True where the present request was sent before the last response came. */
  #wasAhead = false;
  #isLast = false;
  /** True once nothing that comes is read as a request any more. */
  #isLeaving = false;
  #discarded = 0;

  constructor(socket: Socket, times: RequestTimes, handlers: ConnectionHandlers) {
    this.#socket = socket;
    this.#times = times;
    this.#handlers = handlers;
    this.account = handlers.openAccount(() => this.destroy());
    this.#unread = new Holding(this.account);
    this.#ahead = new Holding(this.account);
    this.#deadline = now() + times.headers;
    socket.on('data', (chunk: Buffer) => this.#receive(chunk));
    socket.on('drain', () => (this.#unread.bytes = 0));
    socket.once('end', () => this.#ended());
    // `close` follows.
    socket.on('error', () => {});
    socket.once('close', () => this.#closed());
  }

  get localAddress(): string | undefined {
    return this.#socket.localAddress;
  }

  /** True between two requests. */
  get isIdle(): boolean {
    return this.#request === undefined && this.#input.length === 0;
  }

  /** Bytes of responses that the client has not taken. */
  get unread(): number {
    return this.#socket.writableLength;
  }

  /** Decides, when the head of a response is written, that the connection ends with it. */
  endsWithResponse(): boolean {
    const { head, isComplete, left, isRead } = this.#request as IncomingRequest;
    // A client that was not told to continue may send its body or not.
    const isUnclear = !isComplete && (left > MOST_DISCARDED || (head.waits && !isRead));
    this.#isLast ||= head.isLast || isUnclear;
    return this.#isLast;
  }

  /** Ends the connection with the present response, or at once where there is none. */
  endAfterResponse(): void {
    this.#isLast = true;
    if (this.isIdle) this.destroy();
  }

  /** Works on a body of so many bytes in this turn or in a later one; never after its client has left. */
  workOnBody(bytes: number, work: () => void): void {
    this.turns.body(bytes, this.#unlessOver(work), this.#input.length > 0);
  }

  /** Writes a part of a response. Texts are latin1. */
  write(part: Line): void {
    const socket = this.#socket;
    if (typeof part === 'string') socket.write(part, 'latin1');
    else {
      // All in one packet where they fit.
      socket.cork();
      for (const each of part) {
        if (typeof each === 'string') socket.write(each, 'latin1');
        else socket.write(each);
      }
      socket.uncork();
    }
    // Costs nothing where the socket took all of it.
    if (socket.writableNeedDrain) this.#unread.bytes = socket.writableLength;
  }

  /** Reads the body of the present request from now on. A client that waits for that is told to continue. */
  readBody({ head }: IncomingRequest): void {
    if (head.waits && this.#input.length === 0) this.write('HTTP/1.1 100 Continue\r\n\r\n');
    this.#advance();
  }

  /** Continues after a response. A client that does not read it gets nothing more. */
  responded(): void {
    if (this.unread === 0 || this.#isLast) this.#advance();
    else this.#socket.write('', () => this.#advance());
  }

  pause(): void {
    this.#isPaused = true;
    this.#socket.pause();
  }

  resume(): void {
    this.#isPaused = false;
    this.#advance();
  }

  /** Refuses a request that comes too slowly, and closes a connection that is unused for too long. */
  check(time: number): void {
    if (time < this.#deadline) return;
    if (this.#isLeaving || this.isIdle) this.destroy();
    else this.#refuse(408, 'The request did not arrive in time. Send it again, faster.');
  }

  destroy(): void {
    this.#isLeaving = true;
    this.#socket.destroy();
  }

  #receive(chunk: Buffer): void {
    if (this.#isLeaving) return this.#discard(chunk.length);
    if (this.isIdle) this.#begin();
    this.#input.add(chunk);
    this.#advance();
  }

  /** Notes when the next request has to be there. */
  #begin(): void {
    const time = now();
    this.#deadline = time + this.#times.headers;
    this.#requestEnds = time + this.#times.request;
  }

  /** Reads on as far as the present request allows. */
  #advance(): void {
    // Called again by what a step does.
    if (this.#isAdvancing || this.#isLeaving) return;
    this.#isAdvancing = true;
    while (!this.#isLeaving && this.#tryStep());
    this.#isAdvancing = false;
    if (this.#isLeaving) return;
    this.#ahead.bytes = this.#input.length;
    if (this.#isPaused || this.#input.length > MOST_AHEAD) this.#socket.pause();
    else if (this.#socket.isPaused()) this.#socket.resume();
  }

  /** Takes one step. Returns false where the next one has to wait. */
  #tryStep(): boolean {
    try {
      return this.#step();
    } catch (error) {
      this.fail(error as Error);
      return true;
    }
  }

  #step(): boolean {
    const request = this.#request;
    const response = this.#response;
    if (request === undefined || response === undefined) return this.#serve(this.#input.takeHead());
    if (response.isOver) {
      if (this.#isLast) return this.#leave();
      if (this.unread > 0) return false;
    }
    if (!request.isComplete) return this.#readOn(request, response);
    if (response.isOver) this.#next();
    return response.isOver;
  }

  #serve(head: RequestHead | undefined): boolean {
    if (head === undefined) return false;
    const request = new IncomingRequest(head, this);
    const response = new OutgoingResponse(request);
    this.#request = request;
    this.#response = response;
    this.#deadline = request.isComplete ? Infinity : this.#requestEnds;
    const serve = this.#unlessOver(() => this.#handlers.request(request, response));
    this.turns.head(serve, this.#wasAhead);
    return true;
  }

  /** Reads what has come of a body. Without a reader it waits, or is discarded once the response is there. */
  #readOn(request: IncomingRequest, { isOver }: OutgoingResponse): boolean {
    if (this.#input.length === 0 || this.#isPaused || !(request.isRead || isOver)) return false;
    const size = this.#input.giveBody(request);
    if (isOver) this.#discard(size);
    if (request.isComplete) {
      this.#deadline = Infinity;
      request.end();
    }
    return true;
  }

  /** Goes on to the next request. One that was sent before this response came belongs to a flood. */
  #next(): void {
    this.#request = this.#response = undefined;
    this.#wasAhead = this.#input.length > 0;
    if (!this.#wasAhead) this.#deadline = now() + KEEP_ALIVE_SECONDS * 1000;
    else {
      this.#begin();
      this.turns.flood();
    }
  }

  #unlessOver(work: () => void): () => void {
    const response = this.#response;
    return () => {
      if (response?.isOver === false) work();
    };
  }

  /** Ends this connection because of an exception; one of invalid HTTP with an answer. */
  fail(error: Error): void {
    if (error instanceof InvalidHttp) this.#refuse(400, `The request is not valid HTTP: ${error.message}.`);
    else if (error instanceof HeadTooLong) this.#refuse(431, error.message);
    else {
      this.#handlers.failed(error);
      this.destroy();
    }
  }

  /** Answers something that cannot be served, and closes the connection. */
  #refuse(status: number, why: string): void {
    this.#isLast = true;
    this.#request ??= new IncomingRequest(NO_HEAD, this);
    this.#response ??= new OutgoingResponse(this.#request);
    if (this.#response.isStarted) this.destroy();
    else this.#handlers.refuse(this.#response, status, why);
  }

  /** Closes the connection once the client has the last response: a closed one would take it from a client that still sends. */
  #leave(): false {
    this.#isLeaving = true;
    this.#deadline = Infinity;
    this.#discard(this.#input.length);
    this.#input.clear();
    this.#ahead.bytes = 0;
    this.#socket.end(() => (this.#deadline = now() + LAST_READ_MS)).resume();
    return false;
  }

  #discard(bytes: number): void {
    this.#discarded += bytes;
    if (this.#discarded > MOST_DISCARDED) this.destroy();
  }

  /** The client sends nothing more. Most clients leave so, in the middle of a request, too. */
  #ended(): void {
    if (!this.#isLeaving) this.#leave();
    this.#response?.lost();
  }

  #closed(): void {
    this.#isLeaving = true;
    this.#response?.lost();
    this.account.close();
  }
}
