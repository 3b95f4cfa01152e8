import { SlotMap } from '../../wire/slot-map.ts';

/** Something that lasts and must be looked after from time to time. */
export interface HeartbeatListener {
  /** Whether a client waits here for an answer that is to come. */
  readonly isAwaited: boolean;
  beat(): void;
}

/** A second: how long a call may take before its client is given a stream, in steps of which streams are kept alive. */
const BEAT_MS = 1000;

/** One timer for all streams and all requests under way. */
export class Heartbeat {
  readonly #listeners = new SlotMap<HeartbeatListener>();
  #timer: NodeJS.Timeout | undefined;

  get size(): number {
    return this.#listeners.size;
  }

  all(): HeartbeatListener[] {
    return this.#listeners.all();
  }

  /** The number is for `remove`. The timer runs only while there is something to look after. */
  add(beating: HeartbeatListener): number {
    this.#timer ??= setInterval(() => this.#beat(), BEAT_MS).unref();
    return this.#listeners.add(beating);
  }

  remove(number: number): void {
    this.#listeners.take(number);
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  #beat(): void {
    if (this.#listeners.size === 0) return this.stop();
    for (const beating of this.#listeners.all()) beating.beat();
  }
}
