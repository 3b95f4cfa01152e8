import type { EventLoopUtilization } from 'node:perf_hooks';
import { now } from '../time/clock.ts';

/** Elements of one turn of the event loop. The most expensive of them, a relayed call, takes about 20 µs: together 5 ms. */
export const MOST_ELEMENTS = 256;
/** Bytes of one turn. To walk through them takes about 6 ms where they are small values. */
export const MOST_BYTES: number = 512 * 1024;

/** Work is counted in bytes, and an element as so many of them: whole numbers, because every message is counted. */
const ELEMENT_BYTES = MOST_BYTES / MOST_ELEMENTS;
/** Part of a turn that one peer may have at once while others wait, and in each round before it counts as busy. */
const SHARE = 1 / 8;
const SHARE_BYTES = SHARE * MOST_BYTES;
/** Work of a turn for light peers, for busy ones and for floods, while some wait. */
const HALF_BYTES = MOST_BYTES / 2;
/** More than a peer can spend in a round. */
const ENDLESS = 2 ** 30;
/** Milliseconds of a turn for each of the queues, whatever the work counts: elements differ in what they cost. */
const LONGEST_MS = 2;
const ROUND_MS = 50;
/**
 * Rounds for which clients count as working after their last work, 2 s: what floods and clients left behind is collected meanwhile.
 * With one round, the memory grew by another 55 MB within 0.4 s after the last client of a siege.
 */
const CLIENT_ROUNDS = 40;
/** Milliseconds between two looks at whether floods have rested enough. */
const REST_MS = 2;
const LONGEST_REST_MS = 50;
/** Floods rest until the event loop was used for at most this part of the time since they were worked on. */
const MOST_USED = 1 / 4;

/** The work of one peer, as far as the sharing of turns is concerned. */
export class Flow {
  /** True for one of many clients, who must not be kept waiting by floods. */
  readonly isClient: boolean;
  /** The last round in which it worked. */
  round = 0;
  /** Its work in that round. */
  spent = 0;
  /** True where it was busy in the round before that one. */
  wasBusy = false;
  /** Work on unsolicited messages in that round. */
  unsolicited = 0;
  hasFlooded = false;

  constructor(isClient = false) {
    this.isClient = isClient;
  }
}

/**
 * Shares the turns of the event loop among all peers. Work beyond the budget of one turn waits for the next ones, so that neither
 * one peer that sends much nor many peers that send something make a long turn. A peer that has had its share in this round or in
 * the one before is busy. All others are light, and go first.
 *
 * A peer that has used its share for unsolicited messages floods the gateway. While there are other clients, floods are worked on
 * a share at a time, and rest in between: such work is more than its elements (garbage is collected, processes are spawned), and
 * a process that always works is given a processor later than others.
 */
export class Turns {
  /** Work of this turn for light peers. */
  #lightSpent = 0;
  /** Work for busy peers. */
  #busySpent = 0;
  #round = 2;
  #roundEnds = 0;
  /** Work in the round before by which a peer counts as busy. */
  #shareBefore = SHARE_BYTES;
  /** The last round in which a client worked that does not flood. */
  #clientRound = -CLIENT_ROUNDS;
  readonly #light = new Queue();
  readonly #busy = new Queue();
  readonly #floods = new Queue();
  #isRenewing = false;
  #isResting = false;
  #restEnds = 0;
  /** The use of the event loop until floods were worked on. */
  #used: EventLoopUtilization | undefined;
  readonly #now: () => number;
  readonly #renew = (): void => this.#begin();
  readonly #endRest = (): void => this.#checkRest();

  constructor(clock: () => number = now) {
    this.#now = clock;
  }

  /** Returns true where a peer may work at once. */
  hasRoom(flow: Flow): boolean {
    return this.#light.isEmpty && this.canContinue(flow);
  }

  /** Returns true where work that a peer was given in this turn may go on with a little more. */
  canContinue(flow: Flow): boolean {
    if (this.#busy.isEmpty && this.#lightSpent + this.#busySpent < MOST_BYTES)
      return !this.#isFlood(flow) || (this.#floods.isEmpty && !this.#isResting);
    return this.#lightSpent < HALF_BYTES && this.#isLight(flow);
  }

  /** Makes a peer busy for this round and the next, because of what it wants done. */
  makeBusy(flow: Flow): void {
    this.#nextRound();
    this.#enter(flow);
    flow.spent = ENDLESS;
  }

  /** Makes a peer a flood for this round and the next. */
  makeFlood(flow: Flow): void {
    this.makeBusy(flow);
    flow.unsolicited = ENDLESS;
  }

  /** Returns the part of a turn that a peer may have now. */
  shareOf(flow: Flow): number {
    const hasToShare =
      !this.#light.isEmpty || !this.#busy.isEmpty || (this.#isFlood(flow) && this.#hasClients);
    return hasToShare ? SHARE : 1;
  }

  /** Counts work that was done for a peer, and the unsolicited part of it. */
  spend(flow: Flow, elements: number, bytes: number, unasked = 0): void {
    const work = workOf(elements, bytes);
    if (this.#isBusyIn(flow)) this.#busySpent += work;
    else this.#lightSpent += work;
    this.#enter(flow);
    flow.spent += work;
    flow.unsolicited += unasked;
    if (flow.isClient && !isFlooding(flow)) this.#clientRound = this.#round;
    // A turn that has room left needs no renewal: nothing is scheduled for work that comes bit by bit.
    if (this.#lightSpent + this.#busySpent >= HALF_BYTES) this.#renewLater();
  }

  /** Does work for a peer in a later turn, after what waits already. */
  wait(flow: Flow, work: () => void): void {
    this.#queueOf(flow).add(work);
    this.#renewLater();
  }

  #queueOf(flow: Flow): Queue {
    if (this.#isFlood(flow)) return this.#floods;
    return this.#isLight(flow) ? this.#light : this.#busy;
  }

  /** Begins to count anew for a peer that has not worked in this round. */
  #enter(flow: Flow): void {
    if (flow.round === this.#round) return;
    const isNext = flow.round === this.#round - 1;
    flow.wasBusy = isNext && flow.spent >= this.#shareBefore;
    flow.hasFlooded = isNext && flow.unsolicited >= this.#shareBefore;
    flow.round = this.#round;
    flow.spent = 0;
    flow.unsolicited = 0;
  }

  /** Asks for the time only where a peer seems to be busy: its round may be over. */
  #isLight(flow: Flow): boolean {
    return !this.#isBusyIn(flow) || (this.#nextRound() && !this.#isBusyIn(flow));
  }

  #isBusyIn(flow: Flow): boolean {
    const age = this.#round - flow.round;
    return age === 0
      ? flow.wasBusy || flow.spent >= SHARE_BYTES
      : age === 1 && flow.spent >= this.#shareBefore;
  }

  #isFlood(flow: Flow): boolean {
    const age = this.#round - flow.round;
    return age === 0 ? isFlooding(flow) : age === 1 && flow.unsolicited >= this.#shareBefore;
  }

  /** True where clients that do not flood have worked of late. Asks for the time only where it seems so: the round may be over. */
  get #hasClients(): boolean {
    if (this.#clientRound < this.#round - CLIENT_ROUNDS) return false;
    this.#nextRound();
    return this.#clientRound >= this.#round - CLIENT_ROUNDS;
  }

  /** Begins a round where the last one is over. */
  #nextRound(): boolean {
    const time = this.#now();
    if (time < this.#roundEnds) return false;
    // After a pause no peer counts as busy.
    this.#round += time < this.#roundEnds + ROUND_MS ? 1 : 2;
    // A round may last longer than planned, because it ends with the next call of this method.
    this.#shareBefore = Math.ceil((SHARE_BYTES * (time - this.#roundEnds + ROUND_MS)) / ROUND_MS);
    this.#roundEnds = time + ROUND_MS;
    return true;
  }

  #begin(): void {
    this.#isRenewing = false;
    this.#lightSpent = 0;
    this.#busySpent = 0;
    try {
      this.#work(this.#light, () => this.#lightSpent < HALF_BYTES);
      this.#work(this.#busy, () => this.#busySpent < HALF_BYTES);
      if (!this.#isResting && !this.#floods.isEmpty) this.#workOnFloods();
    } finally {
      if (!this.#light.isEmpty || !this.#busy.isEmpty || !(this.#isResting || this.#floods.isEmpty))
        this.#renewLater();
    }
  }

  #work(queue: Queue, hasRoom: () => boolean): void {
    const until = this.#now() + LONGEST_MS;
    while (!queue.isEmpty && hasRoom() && this.#now() < until) queue.next();
  }

  #workOnFloods(): void {
    if (!this.#hasClients) return this.#work(this.#floods, () => this.#busySpent < HALF_BYTES);
    const before = this.#busySpent;
    this.#used = performance.eventLoopUtilization();
    this.#work(this.#floods, () => this.#busySpent < before + SHARE_BYTES);
    this.#isResting = true;
    this.#restEnds = this.#now() + LONGEST_REST_MS;
    setTimeout(this.#endRest, REST_MS);
  }

  #checkRest(): void {
    const { utilization } = performance.eventLoopUtilization(this.#used);
    if (utilization > MOST_USED && this.#now() < this.#restEnds)
      return void setTimeout(this.#endRest, REST_MS);
    this.#isResting = false;
    if (!this.#floods.isEmpty) this.#renewLater();
  }

  #renewLater(): void {
    if (this.#isRenewing) return;
    this.#isRenewing = true;
    this.#nextRound();
    setImmediate(this.#renew);
  }
}

/** Returns what elements and bytes count as. */
export function workOf(elements: number, bytes: number): number {
  return Math.max(elements * ELEMENT_BYTES, bytes);
}

/** Tells of a peer that has worked in this round. */
function isFlooding({ hasFlooded, unsolicited: unasked }: Flow): boolean {
  return hasFlooded || unasked >= SHARE_BYTES;
}

/** Work in the order in which it came. */
class Queue {
  #works: ((() => void) | undefined)[] = [];
  /** Work that came after the first of `#works` was begun. */
  #added: ((() => void) | undefined)[] = [];
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
    const work = this.#works[this.#at];
    // Frees the closure at once; the array is replaced only later.
    this.#works[this.#at++] = undefined;
    work?.();
  }
}

/** The turns of this process, which all gateways in it share. */
export const turns: Turns = new Turns();
