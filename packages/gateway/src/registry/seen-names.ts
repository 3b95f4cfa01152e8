/** Names that are remembered of a server beside those that it lists. Far more than an honest server ever renames. */
const MOST_PAST = 10_000;

/** The names that one server lists, and those that it has listed before: these are forgotten beyond a number, oldest first. */
export class SeenNames {
  #listed: ReadonlySet<string> = new Set();
  readonly #past = new Set<string>();
  readonly #mostPast: number;

  constructor(mostPast: number = MOST_PAST) {
    this.#mostPast = mostPast;
  }

  /** Takes over a new list; returns the names that are forgotten. */
  update(listed: ReadonlySet<string>): string[] {
    for (const name of this.#listed) if (!listed.has(name)) this.#past.add(name);
    if (this.#past.size > 0) for (const name of listed) this.#past.delete(name);
    this.#listed = listed;
    const forgotten: string[] = [];
    for (const name of this.#past) {
      if (this.#past.size <= this.#mostPast) break;
      this.#past.delete(name);
      forgotten.push(name);
    }
    return forgotten;
  }

  /** Returns all names, those that are listed no more first. */
  all(): string[] {
    return [...this.#past, ...this.#listed];
  }
}
