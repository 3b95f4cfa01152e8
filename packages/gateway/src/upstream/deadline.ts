import { now } from '../clock.ts';

/** A moment until which something must have happened. */
export class Deadline {
  readonly #at: number;
  readonly #timer: NodeJS.Timeout;
  isOver = false;

  constructor(milliseconds: number, over: () => void) {
    this.#at = now() + milliseconds;
    this.#timer = setTimeout(() => {
      this.isOver = true;
      over();
    }, milliseconds);
  }

  remaining(): number {
    return this.#at - now();
  }

  cancel(): void {
    clearTimeout(this.#timer);
  }
}
