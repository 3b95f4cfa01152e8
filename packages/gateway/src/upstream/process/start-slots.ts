import { within } from '../../time/timeouts.ts';

/** A limited number of places, given out in the order of asking. */
export interface Slots {
  /** Resolves when a place is free, with what gives it back; giving back twice does nothing more. */
  acquire(): Promise<() => void>;
}

/** `limit` is asked only where `least` places are taken. */
export function createSlots(least: number, limit: () => number = () => least): Slots {
  if (!(least >= 1)) throw new RangeError(`At least one slot is needed, not ${least}`);
  const waiting: (() => void)[] = [];
  let taken = 0;
  const giveBack = (): void => {
    const next = waiting.shift();
    if (next === undefined) taken -= 1;
    else next();
  };
  return {
    async acquire() {
      if (taken < least || taken < limit()) taken += 1;
      else await new Promise<void>((resolve) => waiting.push(resolve));
      return once(giveBack);
    },
  };
}

function once(action: () => void): () => void {
  let done = false;
  return () => {
    if (!done) action();
    done = true;
  };
}

/** Signs of life of something that was started. */
interface Starting {
  firstByte: Promise<void>;
  exited: Promise<unknown>;
}

/** Starts it in its turn. Its place is free again at its first byte, its end, or after a second of silence. */
export async function startInTurn<T extends Starting>(
  slots: Slots,
  start: () => Promise<T>,
  silenceMs = 1000,
): Promise<T> {
  const release = await slots.acquire();
  try {
    const started = await start();
    const sign = Promise.race([started.firstByte, started.exited]);
    // A start blocks for milliseconds: what the first byte has to say goes before the next one.
    void within(silenceMs, sign).then(() => setImmediate(release));
    return started;
  } catch (error) {
    release();
    throw error;
  }
}
