import type { Log } from '../log.ts';
import type { ChildServer } from './child-server.ts';

export interface RetryOptions {
  readonly log: Log;
  create(serverKey: string): ChildServer;
  /** A server has come after all. */
  ready(child: ChildServer): void;
}

/** How long is waited before each try; the last one holds for all that follow. */
const WAITS_MS: readonly number[] = [1000, 5000, 15_000, 30_000];

/** Servers at an address that could not be reached: each is tried again for as long as the gateway runs. */
export class Retries {
  readonly #options: RetryOptions;
  readonly #timers = new Set<NodeJS.Timeout>();
  readonly #trying = new Set<ChildServer>();
  #isStopped = false;

  constructor(options: RetryOptions) {
    this.#options = options;
  }

  later(serverKey: string, tries = 0): void {
    if (this.#isStopped) return;
    const wait = WAITS_MS[Math.min(tries, WAITS_MS.length - 1)] as number;
    this.#options.log.debug?.(`[${serverKey}] is tried again in ${wait / 1000} s`);
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      void this.#try(serverKey, tries);
    }, wait).unref();
    this.#timers.add(timer);
  }

  /** Tries no more; those that are just being tried are to be stopped. */
  stop(): ChildServer[] {
    this.#isStopped = true;
    for (const timer of this.#timers) clearTimeout(timer);
    return [...this.#trying];
  }

  async #try(serverKey: string, tries: number): Promise<void> {
    const child = this.#options.create(serverKey);
    this.#trying.add(child);
    try {
      await child.start();
      if (!this.#isStopped) this.#options.ready(child);
    } catch (error) {
      this.#options.log.debug?.((error as Error).message);
      this.later(serverKey, tries + 1);
    } finally {
      this.#trying.delete(child);
    }
  }
}
