import type { ChildServer } from './child-server.ts';

/** How long latecomers are waited for after the last server became ready. */
const LATECOMERS_MS = 1000;

export interface StartAllOptions {
  /** Go on with the servers that start, instead of failing with the first that does not. */
  readonly keepGoing: boolean;
  ready(child: ChildServer): void;
  failed(child: ChildServer, error: Error): void;
  /** Each has been tried; those that were too slow to be waited for, too. */
  tried(): void;
}

/** Starts all servers side by side. Resolves when each is ready or given up, or the rest is not worth waiting for. */
export async function startAll(children: Iterable<ChildServer>, options: StartAllOptions): Promise<void> {
  const patience = new Patience(LATECOMERS_MS);
  const starts = Array.from(children, async (child) => {
    try {
      await child.start();
      options.ready(child);
      if (options.keepGoing) patience.renew();
    } catch (error) {
      options.failed(child, error as Error);
      if (!options.keepGoing) throw error;
    }
  });
  const all = Promise.all(starts).then(() => options.tried());
  // Whoever fails after the first failure has been told by then.
  for (const start of starts) start.catch(() => {});
  await Promise.race([all, patience.over]);
  patience.end();
}

/** Runs out some time after it was last renewed, and never before. */
class Patience {
  readonly over: Promise<void>;
  readonly #ms: number;
  #runOut: () => void = () => {};
  #timer: NodeJS.Timeout | undefined;

  constructor(ms: number) {
    this.#ms = ms;
    this.over = new Promise((resolve) => {
      this.#runOut = resolve;
    });
  }

  renew(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(this.#runOut, this.#ms);
  }

  end(): void {
    clearTimeout(this.#timer);
  }
}
