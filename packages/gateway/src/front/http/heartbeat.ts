import { SlotMap } from '../../wire/slot-map.ts';

/** A request or stream that needs a check every second. */
export interface HeartbeatListener {
  /** True while a client waits for an answer. */
  readonly isAwaited: boolean;
  beat(): void;
}

/** Unit of all delays of streams: keep-alive comments, and the switch from a JSON answer to a stream. */
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
