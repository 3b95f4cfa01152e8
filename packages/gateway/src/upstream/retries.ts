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

/** How often a server was tried again, and what was said of it last. */
interface Story {
  readonly tries: number;
  readonly reason: string;
}

/** Servers at an address that could not be reached: each is tried again for as long as the gateway runs. */
export class Retries {
  readonly #options: RetryOptions;
  readonly #timers = new Set<NodeJS.Timeout>();
  readonly #trying = new Set<ChildServer>();
  #isStopped = false;

  constructor(options: RetryOptions) {
    this.#options = options;
  }

  /** `reason` is why the first try failed; it has been logged. */
  keepTrying(serverKey: string, reason: string): void {
    if (this.#isStopped) return;
    const most = (WAITS_MS.at(-1) as number) / 1000;
    const silence = 'you hear of it when that succeeds or fails for another reason';
    this.#options.log.warn(
      `Server '${serverKey}' is tried again, at least every ${most} s, until it can be reached; ${silence}`,
    );
    this.#later(serverKey, { tries: 0, reason });
  }

  /** Tries no more; those that are just being tried are to be stopped. */
  stop(): ChildServer[] {
    this.#isStopped = true;
    for (const timer of this.#timers) clearTimeout(timer);
    return [...this.#trying];
  }

  #later(serverKey: string, story: Story): void {
    if (this.#isStopped) return;
    const wait = WAITS_MS[Math.min(story.tries, WAITS_MS.length - 1)] as number;
    this.#options.log.debug?.(`[${serverKey}] is tried again in ${wait / 1000} s`);
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      void this.#try(serverKey, story);
    }, wait).unref();
    this.#timers.add(timer);
  }

  async #try(serverKey: string, { tries, reason }: Story): Promise<void> {
    const child = this.#options.create(serverKey);
    this.#trying.add(child);
    try {
      await child.start();
      if (!this.#isStopped) this.#options.ready(child);
    } catch (error) {
      const { message } = error as Error;
      this.#failed(message, message !== reason);
      this.#later(serverKey, { tries: tries + 1, reason: message });
    } finally {
      this.#trying.delete(child);
    }
  }

  /** The same reason again is no news. */
  #failed(message: string, isNews: boolean): void {
    const { log } = this.#options;
    if (this.#isStopped) return;
    if (isNews) log.warn(`${message} (it is tried again)`);
    else log.debug?.(message);
  }
}
