import type { Line } from '../../wire/splice.ts';
import { sizeOf } from './respond.ts';

/** What is kept for clients that come back to a stream which has broken off. */
const MOST_EVENTS = 1000;
const MOST_BYTES = 16 * 1024 * 1024;
const KEPT_MS = 5 * 60 * 1000;
/** For all sessions together. */
const MOST_BYTES_OF_ALL = 256 * 1024 * 1024;

export interface StoredEvent {
  readonly stream: number;
  readonly number: number;
  readonly line: Line;
  readonly at: number;
}

/** Where sessions keep their events. Where all of it is too much, those lose theirs that were told nothing for longest. */
export class Shelf {
  readonly #most: number;
  readonly #stores = new Set<EventStore>();
  #bytes = 0;

  constructor(most: number = MOST_BYTES_OF_ALL) {
    this.#most = most;
  }

  put(store: EventStore, bytes: number): void {
    this.#bytes += bytes;
    this.#stores.delete(store);
    this.#stores.add(store);
    for (const longest of this.#stores) {
      if (this.#bytes <= this.#most) return;
      longest.clear();
    }
  }

  took(store: EventStore, bytes: number): void {
    this.#bytes -= bytes;
    if (store.size === 0) this.#stores.delete(store);
  }
}

/** The last events of one session, of all its streams, in the order they were sent. */
export class EventStore {
  readonly #now: () => number;
  readonly #shelf: Shelf;
  #events: StoredEvent[] = [];
  /** Where the kept ones begin; the array is only cut now and then. */
  #first = 0;
  #bytes = 0;

  constructor(now: () => number, shelf: Shelf = new Shelf()) {
    this.#now = now;
    this.#shelf = shelf;
  }

  get size(): number {
    return this.#events.length - this.#first;
  }

  add(stream: number, number: number, line: Line): void {
    this.#events.push({ stream, number, line, at: this.#now() });
    this.#bytes += sizeOf(line);
    this.#shelf.put(this, sizeOf(line));
    // The newest stays, however large: nobody else has it.
    while (this.size > MOST_EVENTS || (this.#bytes > MOST_BYTES && this.size > 1)) this.#drop();
    this.expire();
  }

  /** What was sent on one stream after an event of it. */
  after(stream: number, number: number): StoredEvent[] {
    const kept = this.#events.slice(this.#first);
    return kept.filter((event) => event.stream === stream && event.number > number);
  }

  expire(): void {
    const oldest = this.#now() - KEPT_MS;
    while (this.size > 0 && (this.#events[this.#first] as StoredEvent).at < oldest) this.#drop();
  }

  clear(): void {
    while (this.size > 0) this.#drop();
  }

  #drop(): void {
    const bytes = sizeOf((this.#events[this.#first] as StoredEvent).line);
    this.#bytes -= bytes;
    // What is cut off later must not be held until then.
    this.#events[this.#first] = GONE;
    this.#first++;
    this.#shelf.took(this, bytes);
    if (this.#first < MOST_EVENTS && this.size > 0) return;
    this.#events = this.#events.slice(this.#first);
    this.#first = 0;
  }
}

const GONE: StoredEvent = { stream: -1, number: 0, line: '', at: 0 };
