import type { UpstreamServer } from '../server.ts';
import { Skipped } from './start-failure.ts';

/** Time that the start waits for slow servers after the last one became ready. */
const LATECOMERS_MS = 1000;

export interface StartAllOptions {
  /** Go on with the servers that start, instead of failing with the first that does not. */
  readonly keepGoing: boolean;
  /** Clients wait for it. */
  isAwaited(child: UpstreamServer): boolean;
  /** Called with the promise of a start, which resolves when the start is over. */
  starting(child: UpstreamServer, start: Promise<unknown>): void;
  ready(child: UpstreamServer): void;
  failed(child: UpstreamServer, error: Error): void;
  /** Called for a server that refuses to serve this gateway; the others go on. */
  skipped(child: UpstreamServer, why: Skipped): void;
  /** Each has been tried; those that were too slow to be waited for, too. */
  tried(): void;
}

/** Starts all servers side by side. Resolves when each that clients wait for is ready or given up, or comes too late. */
export async function startAll(children: readonly UpstreamServer[], options: StartAllOptions): Promise<void> {
  const timer = new LatecomerTimer(LATECOMERS_MS);
  const start = async (child: UpstreamServer): Promise<void> => {
    try {
      await child.start();
      options.ready(child);
      if (options.keepGoing) timer.renew();
    } catch (error) {
      if (error instanceof Skipped) return options.skipped(child, error);
      options.failed(child, error as Error);
      if (!options.keepGoing) throw error;
    }
  };
  const starts = children.map((child) => ({
    child,
    isAwaited: options.isAwaited(child),
    over: start(child),
  }));
  // Prevents unhandled rejections: after the first failure, nothing awaits the other starts.
  for (const { child, over } of starts)
    options.starting(
      child,
      over.catch(() => {}),
    );
  const all = Promise.all(starts.map(({ over }) => over)).then(() => options.tried());
  all.catch(() => {});
  const awaited = starts.filter(({ isAwaited }) => isAwaited).map(({ over }) => over);
  await Promise.race([Promise.all(awaited), timer.over]);
  timer.end();
}

/** Runs out some time after it was last renewed, and never before. */
class LatecomerTimer {
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
