import type { Caller } from '../call/client-request.ts';
import { forClients, RpcError, RpcErrorCode } from '../errors.ts';
import { answerError } from '../wire/answer.ts';
import type { Message } from '../wire/message.ts';
import type { Origin, Peer } from '../wire/peer.ts';

/** Bytes of queued requests from which on the client's input is paused. */
const MOST_BYTES = 16 * 1024 * 1024;

export interface StartupQueueOptions {
  readonly peer: Peer;
  /** Resolves when the servers are up; rejects where they cannot start. */
  readonly ready: Promise<void>;
  dispatch(message: Message, caller: Caller): void;
  /** Answers a request whose dispatch has thrown. */
  failed(error: Error, message: Message, origin: Origin): void;
}

interface QueuedRequest {
  readonly message: Message;
  readonly caller: Caller;
  ticket: number;
}

/** Queue of requests that arrived before the servers were up. A client may cancel one meanwhile. */
export class StartupQueue {
  readonly #options: StartupQueueOptions;
  readonly #requests = new Set<QueuedRequest>();
  #bytes = 0;

  constructor(options: StartupQueueOptions) {
    this.#options = options;
    options.ready.then(
      () => this.#dispatchAll(),
      (error: unknown) => this.#refuseAll(error as Error),
    );
  }

  add(message: Message, caller: Caller): void {
    const request: QueuedRequest = { message, caller, ticket: 0 };
    const remove = (): void => this.#remove(request);
    request.ticket = caller.origin.track({
      id: message.id,
      bytes: message.bytes.length,
      cancel: remove,
      abandon: remove,
    });
    this.#requests.add(request);
    this.#bytes += message.bytes.length;
    if (this.#bytes > MOST_BYTES) this.#options.peer.pause();
  }

  /** Dispatches the requests in their order. An exception ends only the request that caused it. */
  #dispatchAll(): void {
    for (const request of this.#requests) {
      const { message, caller } = request;
      this.#remove(request);
      try {
        this.#options.dispatch(message, caller);
      } catch (error) {
        this.#options.failed(error as Error, message, caller.origin);
      }
    }
  }

  #refuseAll(reason: Error): void {
    const error = new RpcError(RpcErrorCode.UNAVAILABLE, forClients(reason));
    for (const request of this.#requests) {
      this.#remove(request);
      answerError(request.caller.origin, request.message.id, error);
    }
  }

  #remove(request: QueuedRequest): void {
    this.#requests.delete(request);
    request.caller.origin.untrack(request.ticket);
    this.#bytes -= request.message.bytes.length;
    if (this.#bytes <= MOST_BYTES) this.#options.peer.resume();
  }
}
