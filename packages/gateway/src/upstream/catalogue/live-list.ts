import type { Timers } from '../../time/schedule.ts';
import { inOrderOf, isSameListing, NOTHING, type Listing } from './catalogue.ts';

export interface LiveListOptions {
  /** List of an earlier start; empty where none is remembered. */
  readonly earlier: Listing;
  readonly timers: Timers;
  /** Reads all pages; rejects where the server refuses. */
  read(): Promise<Listing>;
  /** The server has gone: nothing can be read any more. */
  isGone(): boolean;
  /** Works through a new list in slices before it takes effect; undefined where it is short. */
  prepare?(listing: Listing): Promise<void> | undefined;
  /** The list differs from the one before. */
  changed(): void;
  failed(error: Error): void;
}

/** Pause before a list is read again after news. Servers that register many tools announce each of them. */
const SHORTEST_PAUSE_MS = 100;
/** Some servers announce changes with every answer. Two requests a minute do not burden them. */
const LONGEST_PAUSE_MS = 30_000;
/** Pause of a list that differs each time: every reading costs the gateway a new registry, and clients a new list. */
const LONGEST_BUSY_PAUSE_MS = 5000;
/** With a longer pause than this a list is not read at once for a call either, unless its last reading brought something new. */
const LONGEST_HASTE_MS = 1000;
/** Time between two readings for calls of a list that changes all the time. */
const HASTE_MS = 100;
/** A list without news for this long is read at once when news arrive. */
const QUIET_MS = 10_000;

/**
 * One list of a server: read when the server starts, and again after news. Each reading doubles the pause before the next
 * one, because a server that announces changes while it is read would be read without end. Silence ends the pause.
 */
export class LiveList {
  /** Empty until it has been read. */
  listing: Listing = NOTHING;
  readonly #options: LiveListOptions;
  /** Resolves when the reading in flight is over; never rejects. */
  #reading: Promise<void> | undefined;
  /** The reading that follows the one in flight. */
  #next: Promise<void> | undefined;
  #hasNews = false;
  #readAt = 0;
  #pauseMs = 0;
  #wasNew = false;
  #cancelPause: (() => void) | undefined;

  constructor(options: LiveListOptions) {
    this.#options = options;
  }

  /** Reads the list for the first time; rejects where the server refuses. */
  async load(): Promise<void> {
    const loading = this.#options.read();
    void this.#track(loading);
    const listing = inOrderOf(this.#options.earlier, await loading);
    await this.#options.prepare?.(listing);
    this.listing = listing;
  }

  /** Reads the list again after the pause. News that arrive until then, or during a reading, lead to one reading. */
  refresh(): void {
    const { timers } = this.#options;
    if (this.#reading !== undefined) return void (this.#hasNews = true);
    if (timers.now() - this.#readAt >= QUIET_MS) this.#pauseMs = SHORTEST_PAUSE_MS;
    this.#cancelPause ??= timers.later(this.#remainingPause(), () => void this.#read());
  }

  /** Reads the list without the pause, for a call that waits for it. Resolves when it has been read. */
  readNow(): Promise<void> {
    if (this.#reading === undefined && this.#remainingHaste() === 0) return this.#read();
    // The reading in flight may have begun before the change.
    this.#next ??= (this.#reading ?? Promise.resolve()).then(() => this.#readNext());
    return this.#next;
  }

  #readNext(): Promise<void> {
    const rest = this.#remainingHaste();
    if (rest > 0)
      return new Promise((resolve) => {
        this.#options.timers.later(rest, () => resolve(this.#readNext()));
      });
    this.#next = undefined;
    return this.#read();
  }

  /** Milliseconds until the list may be read for a call: none but where it changes all the time. */
  #remainingHaste(): number {
    if (!this.#wasNew || this.#pauseMs <= LONGEST_HASTE_MS) return 0;
    return Math.max(0, HASTE_MS - Math.abs(this.#options.timers.now() - this.#readAt));
  }

  /** The server has announced a change that has not been read yet, and does not do so without changes all the time. */
  get isOutdated(): boolean {
    const isAnnounced = this.#reading !== undefined || this.#cancelPause !== undefined;
    return isAnnounced && (this.#wasNew || this.#pauseMs <= LONGEST_HASTE_MS);
  }

  #remainingPause(): number {
    const elapsed = this.#options.timers.now() - this.#readAt;
    // A clock that was set back must not prolong the pause.
    return elapsed < 0 ? this.#pauseMs : Math.max(0, this.#pauseMs - elapsed);
  }

  #read(): Promise<void> {
    this.#cancelPause?.();
    this.#cancelPause = undefined;
    return this.#options.isGone() ? Promise.resolve() : this.#track(this.#replace());
  }

  #track(reading: Promise<unknown>): Promise<void> {
    const over = (): void => {
      this.#reading = undefined;
      this.#readAt = this.#options.timers.now();
      if (this.#hasNews) this.refresh();
      this.#hasNews = false;
    };
    this.#reading = reading.then(over, over);
    return this.#reading;
  }

  async #replace(): Promise<void> {
    const options = this.#options;
    const before = this.listing;
    const doubled = Math.max(SHORTEST_PAUSE_MS, 2 * this.#pauseMs);
    try {
      const listing = inOrderOf(before, await options.read());
      const isNew = !isSameListing(before, listing);
      const isUsed = isNew || !hasSameHints(before, listing);
      if (isUsed) await options.prepare?.(listing);
      // In one go with the news: another list's news would publish this one without a word.
      if (isUsed) this.listing = listing;
      this.#wasNew = isNew;
      this.#pauseMs = Math.min(doubled, isNew ? LONGEST_BUSY_PAUSE_MS : LONGEST_PAUSE_MS);
      if (isNew) options.changed();
    } catch (error) {
      this.#wasNew = false;
      this.#pauseMs = Math.min(doubled, LONGEST_PAUSE_MS);
      if (!options.isGone()) options.failed(error as Error);
    }
  }
}

/** A list that differs in nothing does not take the place of the one before, because what was made of that is kept with it. */
function hasSameHints(one: Listing, other: Listing): boolean {
  return one.ttlMs === other.ttlMs && one.cacheScope === other.cacheScope;
}
