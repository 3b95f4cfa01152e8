import { ChunkedBody } from '../../../wire/http/chunked-body.ts';
import type { HttpHeaders } from '../../../wire/http/head-lines.ts';
import type { ClientConnection } from './client-connection.ts';
import type { RequestHead } from './request-head.ts';

export interface BodyReader {
  data(part: Buffer): void;
  /** Called once the whole body has come; never where the client has left. */
  end(): void;
}

/** A request whose head has come. Its body waits for a reader. */
export class IncomingRequest {
  readonly method: string;
  /** Target of the request line, as the client wrote it. */
  readonly url: string;
  readonly headers: HttpHeaders;
  readonly connection: ClientConnection;
  /** Bytes of the body; undefined where it comes in chunks. */
  readonly length: number | undefined;
  readonly head: RequestHead;
  readonly #chunks: ChunkedBody | undefined;
  #left: number;
  #reader: BodyReader | undefined;
  #isComplete: boolean;

  constructor(head: RequestHead, connection: ClientConnection) {
    this.method = head.method;
    this.url = head.url;
    this.headers = head.headers;
    this.length = head.length;
    this.head = head;
    this.connection = connection;
    this.#chunks = head.length === undefined ? new ChunkedBody() : undefined;
    this.#left = head.length ?? 0;
    this.#isComplete = head.length === 0;
  }

  /** Address that the client has connected to. */
  get localAddress(): string | undefined {
    return this.connection.localAddress;
  }

  /** True once the whole body has been read or discarded. */
  get isComplete(): boolean {
    return this.#isComplete;
  }

  /** True once the body has a reader. */
  get isRead(): boolean {
    return this.#reader !== undefined;
  }

  /** Bytes of the body that are to come; 0 where only its end will tell. */
  get left(): number {
    return this.#left;
  }

  /** Reads the body from now on. */
  read(reader: BodyReader): void {
    this.#reader = reader;
    if (this.isComplete) reader.end();
    else this.connection.readBody(this);
  }

  pause(): void {
    this.connection.pause();
  }

  resume(): void {
    this.connection.resume();
  }

  /** Takes what belongs to the body from the beginning of the input. Returns its end; throws an `InvalidHttp`. */
  take(input: Buffer): number {
    let end = Math.min(this.#left, input.length);
    let data = end === input.length ? input : input.subarray(0, end);
    if (this.#chunks !== undefined) ({ data, end } = this.#chunks.read(input, 0));
    else this.#left -= end;
    this.#isComplete = this.#chunks === undefined ? this.#left === 0 : this.#chunks.isOver;
    if (data.length > 0) this.#reader?.data(data);
    return end;
  }

  /** Tells the reader that the body is complete. */
  end(): void {
    this.#reader?.end();
  }
}
