import type { IncomingMessage } from 'node:http';

/** The responses that are being read, to be paused and resumed together. */
export class Streams {
  readonly #open = new Set<IncomingMessage>();
  #isPaused = false;

  add(response: IncomingMessage): void {
    this.#open.add(response);
    if (this.#isPaused) response.pause();
    response.once('close', () => this.#open.delete(response));
  }

  pause(): void {
    this.#isPaused = true;
    for (const response of this.#open) response.pause();
  }

  resume(): void {
    this.#isPaused = false;
    for (const response of this.#open) response.resume();
  }
}
