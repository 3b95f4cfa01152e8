import { Method } from '../../protocol/methods.ts';
import { Holding, type Account } from '../../wire/account.ts';
import { stringValue } from '../../wire/json/members.ts';
import { lineBytes, splice } from '../../wire/json/splice.ts';
import type { InvalidInput, Message } from '../../wire/message.ts';
import type { Oversized } from '../../wire/oversized.ts';
import type { Pause } from '../../wire/peer.ts';
import type { SlicedInput } from '../../wire/sliced-input.ts';
import type { HttpResponse } from './http-connection.ts';
import { headerLine } from './request-headers.ts';

/** Handlers of a link to a server at an address. */
export interface RemoteHandlers {
  /** `related` is the id of the request on whose answer's way the message came. */
  message(message: Message, related?: number): void;
  /** Gets bytes that are not a message; `how` says how they came. */
  invalid(line: InvalidInput, how?: string): void;
  /** A message that was too long to be kept. */
  oversized(message: Oversized): void;
  /** The answer to one request comes later on another stream, so that its client need not wait on its connection. */
  suspended(id: number, pause: Pause): void;
  /** One request will not be answered; `what` ends a sentence that begins with the server's name. */
  lost(id: number, what: string): void;
  /** The session was renewed, or the stream was interrupted: notifications sent meanwhile are lost. */
  renewed(): void;
  /** The server does not agree with what we know of its tools; resolves when they have been read again. */
  outdated(): Promise<void>;
  /** Returns true where the server's revision knows batches. */
  takesBatches(): boolean;
  /** Ends the server after an exception of ours in work for it. */
  readonly failed: (error: Error) => void;
  readonly debug: (text: string) => void;
}

/** Session and version that a handshake over HTTP has settled. In the modern era there is none. */
export class RemoteSession {
  #id: string | undefined;
  #version: string | undefined;
  #count = 0;
  #headers: string | undefined;

  /** True after a handshake. */
  get isOpen(): boolean {
    return this.#version !== undefined;
  }

  /** Counts the sessions: a server may give the same name twice. Undefined where the server keeps none. */
  get number(): number | undefined {
    return this.#id === undefined ? undefined : this.#count;
  }

  /** Takes over what the server has answered to a handshake. */
  adopt({ body: result }: Message, { headers }: HttpResponse): void {
    const id = headers.get('mcp-session-id');
    this.#version = (result && stringValue(result, 'protocolVersion')) ?? '';
    this.#id = id;
    this.#count += 1;
    this.#headers = undefined;
  }

  /** Returns the lines of headers by which every request names the session. Throws an `InvalidHeader` where one cannot be sent. */
  headers(): string {
    this.#headers ??=
      (this.#id === undefined ? '' : headerLine('mcp-session-id', this.#id)) +
      (this.#version ? headerLine('mcp-protocol-version', this.#version) : '');
    return this.#headers;
  }
}

/** Requests that a new session repeats: the handshake, the log level, the subscriptions. */
export class SessionMemory {
  #opening: Message | undefined;
  #level: Message | undefined;
  readonly #watched = new Map<string, Message>();

  /** The handshake, once there was one. */
  get opening(): Message | undefined {
    return this.#opening;
  }

  note(message: Message): void {
    if (message.kind !== 'request') return;
    if (message.method === Method.INITIALIZE) this.#opening = message;
    else if (message.method === Method.SET_LOG_LEVEL) this.#level = message;
    else if (message.method === Method.SUBSCRIBE) this.#watched.set(uriOf(message), message);
    else if (message.method === Method.UNSUBSCRIBE) this.#watched.delete(uriOf(message));
  }

  /** Returns all but the handshake, under ids of which no answer is expected. */
  replay(): Buffer[] {
    const told = [...(this.#level ? [this.#level] : []), ...this.#watched.values()];
    return told.map((message, index) => withId(message, `"again-${index}"`));
  }
}

function uriOf({ params }: Message): string {
  return (params && stringValue(params, 'uri')) ?? '';
}

function withId({ bytes, id, idAt }: Message, text: string): Buffer {
  return lineBytes(splice(bytes, [{ start: idAt, end: idAt + id.length, text }]));
}

/** Memory that a message takes beside its bytes. */
const MESSAGE_BYTES = 512;

/** Messages that are held back while a server cannot be spoken to, charged to its account. */
export class HeldMessages {
  readonly #holding: Holding;
  #messages: Message[] | undefined;

  constructor(account: Account) {
    this.#holding = new Holding(account);
  }

  /** The messages; undefined while none are held back. */
  get current(): readonly Message[] | undefined {
    return this.#messages;
  }

  get bytes(): number {
    return this.#holding.bytes;
  }

  /** Begins to hold back messages. */
  begin(): void {
    this.#messages = [];
    this.#holding.bytes = 0;
  }

  /** Holds back a message. False: it can be sent at once. */
  add(message: Message): boolean {
    if (this.#messages === undefined) return false;
    this.#messages.push(message);
    this.#holding.bytes += MESSAGE_BYTES + message.bytes.length;
    return true;
  }

  /** Drops the request with this id. */
  drop(id: number): void {
    if (this.#messages === undefined || this.#messages.length === 0) return;
    const kept = this.#messages.filter((message) => Number(message.id) !== id);
    this.begin();
    for (const message of kept) this.add(message);
  }

  /** Ends the holding back; returns what was held. */
  end(): readonly Message[] {
    const messages = this.#messages ?? [];
    this.#messages = undefined;
    this.#holding.bytes = 0;
    return messages;
  }
}

/** The responses that are being read, to be paused and resumed together. */
export class Streams {
  readonly #open = new Set<SlicedInput>();
  #isPaused = false;

  add(response: HttpResponse, reading: SlicedInput): void {
    this.#open.add(reading);
    if (this.#isPaused) reading.hold(true);
    response.onClose(() => this.#open.delete(reading));
  }

  pause(): void {
    this.#isPaused = true;
    for (const reading of this.#open) reading.hold(true);
  }

  resume(): void {
    this.#isPaused = false;
    for (const reading of this.#open) reading.hold(false);
  }
}
