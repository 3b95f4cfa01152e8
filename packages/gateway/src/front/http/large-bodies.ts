import { Flow, turns } from '../../wire/turns.ts';

/** A body of which more than a chunk has come, and which is not complete. */
export interface LargeBody {
  /** Bytes that are to come. */
  readonly left: number;
  resume(): void;
  refuse(): void;
}

/** Large bodies that may wait. Each of them holds about 200 KiB in the socket, the parser and here, also after its client has left. */
const MOST_WAITING = 64;
/** Bodies of which a chunk is read in one turn, while some wait. */
const BODIES_AT_ONCE = 2;
/** Node reads so many bytes at once. */
const CHUNK: number = 64 * 1024;
/** Reading a body takes half as long as walking through it, which is what the bytes of a turn are measured by. */
const WEIGHT = 1 / 2;

/**
 * Reads large bodies on, in the turns of one peer for all of them: Node would read megabytes of each at once, and bodies that
 * grow side by side need the memory of all of them. The one with the least left goes first, so that who sends many of the
 * largest does not hold up the others.
 */
export class LargeBodies {
  readonly #flow = new Flow();
  readonly #waiting = new Set<LargeBody>();
  #isQueued = false;

  /** Counts a chunk of a body. Returns false where the next one waits: `readOn` is called when it is its turn. */
  count(body: LargeBody, flow: Flow, bytes: number): boolean {
    turns.makeFlood(flow);
    if (turns.canContinue(flow)) {
      turns.spend(flow, 0, bytes * WEIGHT);
      return true;
    }
    this.#waiting.add(body);
    if (this.#waiting.size > MOST_WAITING) this.#take(this.#sorted().at(-1))?.refuse();
    this.#queue();
    return false;
  }

  /** Forgets a body that is over. */
  delete(body: LargeBody): void {
    this.#waiting.delete(body);
  }

  #queue(): void {
    if (this.#isQueued) return;
    this.#isQueued = true;
    turns.makeFlood(this.#flow);
    turns.wait(this.#flow, () => {
      this.#isQueued = false;
      for (const body of this.#sorted().slice(0, BODIES_AT_ONCE)) {
        // Counted before it is read, which is in one of the next turns.
        turns.spend(this.#flow, 0, CHUNK * WEIGHT);
        this.#take(body)?.resume();
      }
      if (this.#waiting.size > 0) this.#queue();
    });
  }

  #sorted(): LargeBody[] {
    return [...this.#waiting].sort((one, other) => one.left - other.left);
  }

  #take(body: LargeBody | undefined): LargeBody | undefined {
    return body !== undefined && this.#waiting.delete(body) ? body : undefined;
  }
}

/** The large bodies of this process, which all gateways in it share, as they do the turns. */
export const largeBodies: LargeBodies = new LargeBodies();
