import { SlotMap } from '../../wire/slot-map.ts';

/** Something that lasts and must be looked after from time to time. */
export interface Beating {
  /** Whether a client waits here for an answer that is to come. */
  readonly isAwaited: boolean;
  beat(): void;
}

/** A second: how long a call may take before its client is given a stream, in steps of which streams are kept alive. */
const BEAT_MS = 1000;

/** One timer for all streams and all requests under way. */
export class Heartbeat {
  readonly #beating = new SlotMap<Beating>();
  #timer: NodeJS.Timeout | undefined;

  get size(): number {
    return this.#beating.size;
  }

  all(): Beating[] {
    return this.#beating.all();
  }

  /** The number is for `remove`. The timer runs only while there is something to look after. */
  add(beating: Beating): number {
    this.#timer ??= setInterval(() => this.#beat(), BEAT_MS).unref();
    return this.#beating.add(beating);
  }

  remove(number: number): void {
    this.#beating.take(number);
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  #beat(): void {
    if (this.#beating.size === 0) return this.stop();
    for (const beating of this.#beating.all()) beating.beat();
  }
}
