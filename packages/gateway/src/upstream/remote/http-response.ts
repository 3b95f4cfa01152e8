import type { ResponseHead } from './response-head.ts';

/** The connection that a response comes on. */
interface Carrier {
  pause(): void;
  resume(): void;
  destroy(): void;
}

/** The answer to one request. It has one reader. */
export class HttpResponse {
  readonly status: number;
  /** By names in lower case. */
  readonly headers: ReadonlyMap<string, string>;
  /** The connection, which is another response's once this one is over. */
  #carrier: Carrier | undefined;
  #isComplete = false;
  #data: ((part: Buffer) => void) | undefined;
  readonly #closed: (() => void)[] = [];

  constructor({ status, headers }: ResponseHead, carrier: Carrier) {
    this.status = status;
    this.headers = headers;
    this.#carrier = carrier;
  }

  /** True once all of it has come. */
  get isComplete(): boolean {
    return this.#isComplete;
  }

  /** Reads the body from now on; what comes before is dropped. `ended` is called when nothing more comes. */
  listen(data: (part: Buffer) => void, ended: () => void): void {
    this.#data = data;
    this.onClose(ended);
  }

  /** Calls a function when nothing more comes, whether or not the response is complete. */
  onClose(closed: () => void): void {
    this.#closed.push(closed);
  }

  pause(): void {
    this.#carrier?.pause();
  }

  /** Lets the body come, which is dropped where nobody listens. */
  resume(): void {
    this.#carrier?.resume();
  }

  /** Closes the connection, unless the response is over. */
  destroy(): void {
    this.#carrier?.destroy();
  }

  /** Tells of a part of the body. */
  push(part: Buffer): void {
    this.#data?.(part);
  }

  /** Tells that nothing more comes. */
  end(isComplete: boolean): void {
    this.#carrier = undefined;
    this.#isComplete = isComplete;
    for (const closed of this.#closed) closed();
  }
}
