import { now } from '../clock.ts';

/** Elements of one turn of the event loop. The most expensive of them, a relayed call, takes about 20 µs: together 5 ms. */
export const MOST_ELEMENTS = 256;
/** Bytes of one turn. To walk through them takes about 6 ms where they are small values. */
export const MOST_BYTES: number = 512 * 1024;

/** Part of a turn that one peer may have at once while others wait, and in each round before it counts as busy. */
const SHARE = 1 / 8;
/** Part of a turn for light peers, and for busy ones, while some wait. */
const HALF = 1 / 2;
/** Milliseconds of a turn for each of the two queues, whatever the work counts: elements differ in what they cost. */
const LONGEST_MS = 2;
const ROUND_MS = 50;

/** The work of one peer, as far as the sharing of turns is concerned. */
export class Flow {
  /** The last round in which it worked. */
  round = 0;
  /** Its part of the turns in that round; 1 is a whole turn. */
  spent = 0;
  /** True where it was busy in the round before that one. */
  wasBusy = false;
}

/**
 * Shares the turns of the event loop among all peers. Work beyond the budget of one turn waits for the next ones, so that neither
 * one peer that sends much nor many peers that send something make a long turn. A peer that has had its share in this round or in
 * the one before is busy. All others are light, and go first.
 */
export class Turns {
  /** Part of this turn that light peers have had. */
  #lightSpent = 0;
  /** Part that busy peers have had. */
  #busySpent = 0;
  #round = 2;
  #roundEnds = 0;
  readonly #light = new Queue();
  readonly #busy = new Queue();
  #isRenewing = false;
  readonly #renew = (): void => this.#begin();

  /** Returns true where a peer may work at once. */
  hasRoom(flow: Flow): boolean {
    return this.#light.isEmpty && this.goesOn(flow);
  }

  /** Returns true where work that a peer was given in this turn may go on with a little more. */
  goesOn(flow: Flow): boolean {
    if (this.#busy.isEmpty && this.#lightSpent + this.#busySpent < 1) return true;
    return this.#lightSpent < HALF && this.#isLight(flow);
  }

  /** Makes a peer busy for this round and the next, because of what it wants done. */
  makeBusy(flow: Flow): void {
    this.#nextRound();
    this.#enter(flow);
    flow.spent = Math.max(flow.spent, SHARE);
  }

  /** The part of a turn that one peer may have now. */
  get share(): number {
    return this.#light.isEmpty && this.#busy.isEmpty ? 1 : SHARE;
  }

  /** Counts work that was done for a peer. */
  spend(flow: Flow, elements: number, bytes: number): void {
    const part = Math.max(elements / MOST_ELEMENTS, bytes / MOST_BYTES);
    if (this.#isBusyIn(flow)) this.#busySpent += part;
    else this.#lightSpent += part;
    this.#enter(flow);
    flow.spent += part;
    // A turn that has room left needs no renewal: nothing is scheduled for work that comes bit by bit.
    if (this.#lightSpent + this.#busySpent >= HALF) this.#renewLater();
  }

  /** Does work for a peer in a later turn, after what waits already. */
  wait(flow: Flow, work: () => void): void {
    (this.#isLight(flow) ? this.#light : this.#busy).add(work);
    this.#renewLater();
  }

  /** Begins to count anew for a peer that has not worked in this round. */
  #enter(flow: Flow): void {
    if (flow.round === this.#round) return;
    flow.wasBusy = flow.round === this.#round - 1 && hasHadShare(flow);
    flow.round = this.#round;
    flow.spent = 0;
  }

  /** Asks for the time only where a peer seems to be busy: its round may be over. */
  #isLight(flow: Flow): boolean {
    return !this.#isBusyIn(flow) || (this.#nextRound() && !this.#isBusyIn(flow));
  }

  #isBusyIn(flow: Flow): boolean {
    const age = this.#round - flow.round;
    return age === 0 ? flow.wasBusy || hasHadShare(flow) : age === 1 && hasHadShare(flow);
  }

  /** Begins a round where the last one is over. */
  #nextRound(): boolean {
    const time = now();
    if (time < this.#roundEnds) return false;
    // After a pause nobody is known to be busy.
    this.#round += time < this.#roundEnds + ROUND_MS ? 1 : 2;
    this.#roundEnds = time + ROUND_MS;
    return true;
  }

  #begin(): void {
    this.#isRenewing = false;
    this.#lightSpent = 0;
    this.#busySpent = 0;
    try {
      this.#work(this.#light, () => this.#lightSpent);
      this.#work(this.#busy, () => this.#busySpent);
    } finally {
      if (!this.#light.isEmpty || !this.#busy.isEmpty) this.#renewLater();
    }
  }

  #work(queue: Queue, spent: () => number): void {
    const until = now() + LONGEST_MS;
    while (!queue.isEmpty && spent() < HALF && now() < until) queue.next();
  }

  #renewLater(): void {
    if (this.#isRenewing) return;
    this.#isRenewing = true;
    this.#nextRound();
    setImmediate(this.#renew);
  }
}

function hasHadShare({ spent }: Flow): boolean {
  return spent >= SHARE;
}

/** Work in the order in which it came. */
class Queue {
  #works: (() => void)[] = [];
  /** Work that came after the first of `#works` was begun. */
  #added: (() => void)[] = [];
  #at = 0;

  get isEmpty(): boolean {
    return this.#at === this.#works.length && this.#added.length === 0;
  }

  add(work: () => void): void {
    this.#added.push(work);
  }

  /** Does the first. */
  next(): void {
    if (this.#at === this.#works.length) {
      this.#works = this.#added;
      this.#added = [];
      this.#at = 0;
    }
    this.#works[this.#at++]?.();
  }
}

/** The turns of this process, which all gateways in it share. */
export const turns: Turns = new Turns();
