/** Maximum of calls in the queue of one server. */
export const LONGEST_QUEUE = 1000;

/** A call that waits for its turn. */
export interface WaitingCall {
  /** Key for the round-robin between clients, so that a busy client does not delay the others. */
  readonly client: object;
  /** Its turn has come. */
  begin(): void;
}

/** The calls of one server: so many at a time, and the others in line. */
export class CallQueue {
  #limit: number;
  #active = 0;
  #size = 0;
  #isAdvancing = false;
  /** Queued calls per client, in round-robin order. */
  readonly #lines = new Map<object, WaitingCall[]>();

  constructor(limit: number) {
    this.#limit = limit;
  }

  get limit(): number {
    return this.#limit;
  }

  set limit(limit: number) {
    this.#limit = limit;
    this.#advance();
  }

  get size(): number {
    return this.#size;
  }

  get isFree(): boolean {
    return this.#active < this.#limit;
  }

  get isFull(): boolean {
    return this.#size >= LONGEST_QUEUE;
  }

  /** Takes a place, also where none is free: what was under way before does not wait once more. */
  take(): void {
    this.#active++;
  }

  /** Gives a place back. */
  release(): void {
    this.#active--;
    this.#advance();
  }

  /** Begins as soon as there is a place for it, and has that place then. */
  wait(call: WaitingCall): void {
    const line = this.#lines.get(call.client);
    if (line === undefined) this.#lines.set(call.client, [call]);
    else line.push(call);
    this.#size++;
  }

  /** Removes a call from the queue. */
  leave(call: WaitingCall): void {
    const line = this.#lines.get(call.client) ?? [];
    const at = line.indexOf(call);
    if (at < 0) return;
    line.splice(at, 1);
    this.#size--;
    if (line.length === 0) this.#lines.delete(call.client);
  }

  /** One that begins may end at once: its place goes to the next in this same loop. */
  #advance(): void {
    if (this.#isAdvancing) return;
    this.#isAdvancing = true;
    while (this.isFree && this.#size > 0) {
      this.take();
      this.#next()?.begin();
    }
    this.#isAdvancing = false;
  }

  #next(): WaitingCall | undefined {
    for (const [client, line] of this.#lines) {
      const call = line.shift();
      this.#lines.delete(client);
      if (line.length > 0) this.#lines.set(client, line);
      this.#size--;
      return call;
    }
    return undefined;
  }
}
