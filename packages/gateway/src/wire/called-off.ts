import { now as uptime } from '../clock.ts';

/**
 * How long a peer that says nothing more is taken to work on a request that was called off: what it sent before it heard of
 * that is here by then, and whoever else it works for does not wait long.
 */
const LINGERS_MS = 5000;

interface Lingering {
  readonly who: string;
  readonly until: number;
}

/** Requests that were called off, and on which a peer that does not listen may work still. */
export class CalledOff {
  readonly #now: () => number;
  readonly #byId = new Map<number, Lingering>();

  constructor(now: () => number = uptime) {
    this.#now = now;
  }

  /** `who` had made the request with this id. */
  note(id: number, who: string): void {
    this.#expire();
    this.#byId.set(id, { who, until: this.#now() + LINGERS_MS });
  }

  /** The peer has come to its end with it. */
  answered(id: number): void {
    this.#byId.delete(id);
  }

  /** Who had made them; who had made the one with this id, where one is given. */
  of(id?: number): string[] {
    this.#expire();
    const all = [...this.#byId];
    return all.flatMap(([number, { who }]) => (id === undefined || id === number ? [who] : []));
  }

  /** The oldest come first. */
  #expire(): void {
    for (const [id, { until }] of this.#byId) {
      if (until > this.#now()) return;
      this.#byId.delete(id);
    }
  }
}
