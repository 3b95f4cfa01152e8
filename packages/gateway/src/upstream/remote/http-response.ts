import { EventEmitter } from 'node:events';
import type { ResponseHead } from './response-head.ts';

/** The connection that a response comes on. */
interface Carrier {
  pause(): void;
  resume(): void;
  destroy(): void;
}

/** The answer to one request: emits `data`, `end` where it is complete, and `close`. */
export class HttpResponse extends EventEmitter {
  readonly status: number;
  /** By names in lower case. */
  readonly headers: ReadonlyMap<string, string>;
  /** The connection, which is another response's once this one is over. */
  #carrier: Carrier | undefined;
  #isComplete = false;

  constructor({ status, headers }: ResponseHead, carrier: Carrier) {
    super();
    this.status = status;
    this.headers = headers;
    this.#carrier = carrier;
  }

  /** True once all of it has come. */
  get isComplete(): boolean {
    return this.#isComplete;
  }

  pause(): void {
    this.#carrier?.pause();
  }

  /** Lets the body come; without a listener it is dropped. */
  resume(): void {
    this.#carrier?.resume();
  }

  /** Closes the connection, unless the response is over. */
  destroy(): void {
    this.#carrier?.destroy();
  }

  /** Tells that nothing more comes. */
  end(isComplete: boolean): void {
    this.#carrier = undefined;
    this.#isComplete = isComplete;
    if (isComplete) this.emit('end');
    this.emit('close');
  }
}
