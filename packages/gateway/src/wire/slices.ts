import { channel } from 'node:diagnostics_channel';
import { Flow, MOST_BYTES, MOST_ELEMENTS, turns, workOf } from './turns.ts';

/** The size of one slice, as published on the channel `weir:slice`. */
interface Slice {
  /** The work it was a part of: `lines`, `waiters` … */
  readonly what: string;
  readonly elements: number;
  readonly bytes: number;
}

/** Work on many elements that a peer controls. */
export interface Work {
  readonly what: string;
  /** Works off one element and counts its bytes by `spend`. Returns false where no other is left. */
  next(): boolean;
  /** Ends the business of the peer whose element has thrown; the rest of the work is given up. */
  failed(error: Error): void;
}

const slices = channel('weir:slice');

let isOpen = false;
let elements = 0;
let bytes = 0;
/** Work on unsolicited messages. */
let unsolicited = 0;
const pending: (() => void)[] = [];

/**
 * Works for a peer in one slice, which ends with the work, and counts `count` elements of `size` bytes for it. Slices do not
 * nest: what is done inside of one belongs to it.
 */
export function inSlice(what: string, flow: Flow, work: () => void, count = 0, size = 0): void {
  if (isOpen) {
    spend(count, size);
    return work();
  }
  isOpen = true;
  elements = count;
  bytes = size;
  unsolicited = 0;
  try {
    work();
  } finally {
    isOpen = false;
    turns.spend(flow, elements, bytes, flow.isClient ? 0 : unsolicited);
    if (slices.hasSubscribers) slices.publish({ what, elements, bytes } satisfies Slice);
    for (let action = pending.pop(); action !== undefined; action = pending.pop()) action();
  }
}

/** Runs an action when the present slice is over. Returns false where there is none. */
export function atEndOfSlice(action: () => void): boolean {
  if (isOpen) pending.push(action);
  return isOpen;
}

/** Counts work of the present slice: one line told to a thousand clients is a thousand elements. */
export function spend(count: number, size: number): void {
  elements += count;
  bytes += size;
}

/** Counts an unsolicited element: anything but an answer. */
export function countUnsolicited(size: number): void {
  unsolicited += workOf(1, size);
}

/**
 * Works off many elements in order: as many in each turn of the event loop as one slice may have. Other peers have their
 * share between two slices.
 */
export class Slices {
  readonly #work: Work;
  readonly #flow = new Flow();
  readonly #workOff = (): void => this.#workOn();
  readonly #runNext = (): void => {
    if (!this.#isWaiting) return;
    this.#isWaiting = false;
    this.run();
  };
  #isWaiting = false;

  constructor(work: Work) {
    this.#work = work;
  }

  /** True while part of the work is left for a later turn. */
  get isWaiting(): boolean {
    return this.#isWaiting;
  }

  /** Works off what the present slice has room for. The rest follows without another call. */
  run(): void {
    if (!this.#isWaiting) inSlice(this.#work.what, this.#flow, this.#workOff);
  }

  /** The same, but from a later turn on where this one has no room. For input of peers, which can wait. */
  runInTurn(): void {
    if (isOpen || turns.hasRoom(this.#flow)) this.run();
    else this.#wait();
  }

  /** Works for the same peer in a slice of its own. */
  runOnce(work: () => void): void {
    inSlice(this.#work.what, this.#flow, work);
  }

  /** Gives up what is left. */
  cancel(): void {
    this.#isWaiting = false;
  }

  #workOn(): void {
    try {
      const share = turns.shareOf(this.#flow);
      const mostElements = MOST_ELEMENTS * share;
      const mostBytes = MOST_BYTES * share;
      while (elements < mostElements && bytes < mostBytes) {
        elements++;
        if (!this.#work.next()) return;
      }
      // The work of this slice is counted only when it ends.
      turns.makeBusy(this.#flow);
      this.#wait();
    } catch (error) {
      this.#work.failed(error as Error);
    }
  }

  #wait(): void {
    if (this.#isWaiting) return;
    this.#isWaiting = true;
    turns.wait(this.#flow, this.#runNext);
  }
}

/** Works off a list that is complete. An exception of `each` ends the work. */
export function workOff<T>(what: string, list: readonly T[], handlers: EachElement<T>): Slices {
  let at = 0;
  const work = new Slices({
    what,
    next() {
      if (at < list.length) handlers.each(list[at++] as T);
      else if (at++ === list.length) handlers.done?.();
      return at <= list.length;
    },
    failed: handlers.failed,
  });
  work.run();
  return work;
}

/** Works off elements until `next` finds none. Resolves then, and rejects with what `next` throws. */
export function workThrough(what: string, next: () => boolean): Promise<void> {
  return new Promise((resolve, reject) => {
    const work = {
      what,
      next() {
        const hasMore = next();
        if (!hasMore) resolve();
        return hasMore;
      },
      failed: reject,
    };
    new Slices(work).run();
  });
}

interface EachElement<T> {
  readonly each: (element: T) => void;
  readonly failed: (error: Error) => void;
  /** Called after the last element. */
  readonly done?: () => void;
}
