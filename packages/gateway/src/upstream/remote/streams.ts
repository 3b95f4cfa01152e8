import type { IncomingMessage } from 'node:http';
import type { SlicedInput } from '../../wire/sliced-input.ts';

/** The responses that are being read, to be paused and resumed together. */
export class Streams {
  readonly #open = new Set<SlicedInput>();
  #isPaused = false;

  add(response: IncomingMessage, reading: SlicedInput): void {
    this.#open.add(reading);
    if (this.#isPaused) reading.hold(true);
    response.once('close', () => this.#open.delete(reading));
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
