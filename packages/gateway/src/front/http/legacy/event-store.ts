import { Holding, NO_ACCOUNT, type Account, type Accounts } from '../../../wire/account.ts';
import { lineSize, type Line } from '../../../wire/json/splice.ts';

/** Bounds of the events kept for clients that resume a broken stream. */
const MOST_EVENTS = 1000;
const MOST_BYTES = 16 * 1024 * 1024;
const KEPT_MS = 5 * 60 * 1000;

export interface StoredEvent {
  readonly stream: number;
  readonly number: number;
  readonly line: Line;
  readonly at: number;
}

/** Memory budget shared by all sessions. Over the budget of all peers, evicts the store with the oldest last event. */
export class EventBudget {
  readonly #stores = new Set<EventStore>();

  constructor(accounts?: Accounts) {
    accounts?.addCache(() => this.#evict());
  }

  used(store: EventStore): void {
    this.#stores.delete(store);
    if (store.size > 0) this.#stores.add(store);
  }

  #evict(): boolean {
    const [idlest] = this.#stores;
    idlest?.clear();
    return idlest !== undefined;
  }
}

/** The last events of one session, of all its streams, in the order they were sent. */
export class EventStore {
  readonly #now: () => number;
  readonly #budget: EventBudget;
  #events: StoredEvent[] = [];
  /** Index of the first kept event; the array is cut only now and then. */
  #first = 0;
  readonly #holding: Holding;

  constructor(now: () => number, budget: EventBudget = new EventBudget(), account: Account = NO_ACCOUNT) {
    this.#now = now;
    this.#budget = budget;
    this.#holding = new Holding(account);
  }

  get size(): number {
    return this.#events.length - this.#first;
  }

  add(stream: number, number: number, line: Line): void {
    this.#events.push({ stream, number, line, at: this.#now() });
    this.#budget.used(this);
    this.#holding.bytes += lineSize(line);
    // The newest stays, however large, because there is no other copy.
    while (this.size > MOST_EVENTS || (this.#holding.bytes > MOST_BYTES && this.size > 1)) this.#drop();
    this.expire();
  }

  /** Returns the events of one stream after the given one. */
  after(stream: number, number: number): StoredEvent[] {
    const kept = this.#events.slice(this.#first);
    return kept.filter((event) => event.stream === stream && event.number > number);
  }

  expire(): void {
    const oldest = this.#now() - KEPT_MS;
    while (this.size > 0 && (this.#events[this.#first] as StoredEvent).at < oldest) this.#drop();
  }

  clear(): void {
    while (this.size > 0) this.#drop();
    this.#budget.used(this);
  }

  #drop(): void {
    this.#holding.bytes -= lineSize((this.#events[this.#first] as StoredEvent).line);
    // Frees the event at once; the array is cut only later.
    this.#events[this.#first] = GONE;
    this.#first++;
    if (this.#first < MOST_EVENTS && this.size > 0) return;
    this.#events = this.#events.slice(this.#first);
    this.#first = 0;
  }
}

const GONE: StoredEvent = { stream: -1, number: 0, line: '', at: 0 };
