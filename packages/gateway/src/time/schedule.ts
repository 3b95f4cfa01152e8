/** The time, and what is to be done later. */
export interface Timers {
  /** Milliseconds since 1970. */
  now(): number;
  /** Returns what calls it off. */
  later(ms: number, action: () => void): () => void;
}

/** Timers of what goes on in the background: the process does not live on for them. */
export const systemTimers: Timers = createTimers((timer) => timer.unref());

/** Timers of what a caller waits for: the process lives on until they fire or are called off. */
export const awaitedTimers: Timers = createTimers((timer) => timer);

/**
 * Timers that read pending input before they act: a gateway that was held up itself must not take for silence what it
 * has not read yet.
 */
function createTimers(prepare: (timer: NodeJS.Timeout) => NodeJS.Timeout): Timers {
  return {
    now: Date.now,
    later(ms, action) {
      let read: NodeJS.Immediate | undefined;
      const timer = prepare(setTimeout(() => (read = setImmediate(action)), ms));
      return () => {
        clearTimeout(timer);
        clearImmediate(read);
      };
    },
  };
}

/** Everything that is to be done later, each under a name. */
export class Schedule {
  readonly #timers: Timers;
  readonly #pending = new Map<string, { readonly at: number; cancel(): void }>();
  #isStopped = false;

  constructor(timers: Timers) {
    this.#timers = timers;
  }

  get isStopped(): boolean {
    return this.#isStopped;
  }

  /** In place of what was to be done under this name before; undefined is never. */
  set(name: string, at: number | undefined, action: () => void): void {
    if (this.#pending.get(name)?.at === at) return;
    this.cancel(name);
    if (at === undefined || this.#isStopped) return;
    const callOff = this.#timers.later(Math.max(0, at - this.#timers.now()), () => {
      this.#pending.delete(name);
      action();
    });
    this.#pending.set(name, { at, cancel: callOff });
  }

  cancel(name: string): void {
    this.#pending.get(name)?.cancel();
    this.#pending.delete(name);
  }

  /** Nothing is done any more. */
  stop(): void {
    this.#isStopped = true;
    for (const name of this.#pending.keys()) this.cancel(name);
  }
}
