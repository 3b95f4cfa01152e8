import type { SlicedInput } from '../../wire/sliced-input.ts';
import type { HttpResponse } from './http-response.ts';

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
