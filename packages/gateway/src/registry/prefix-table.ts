/** A prefix that a text begins with, and its value. */
export interface PrefixMatch<Value> {
  readonly prefix: string;
  readonly value: Value;
}

/** Finds the prefixes that a text begins with: one look-up for each length that a prefix has, however many there are. */
export class PrefixTable<Value> {
  readonly #values = new Map<string, Value>();
  /** Number of prefixes per length. */
  readonly #counts = new Map<number, number>();
  /** The lengths, longest first. */
  #lengths: readonly number[] | undefined;

  get(prefix: string): Value | undefined {
    return this.#values.get(prefix);
  }

  set(prefix: string, value: Value): void {
    if (!this.#values.has(prefix)) this.#count(prefix.length, 1);
    this.#values.set(prefix, value);
  }

  delete(prefix: string): void {
    if (this.#values.delete(prefix)) this.#count(prefix.length, -1);
  }

  prefixes(): string[] {
    return [...this.#values.keys()];
  }

  /** Returns the prefixes of this text, the longest first. */
  matches(text: string): PrefixMatch<Value>[] {
    this.#lengths ??= [...this.#counts.keys()].toSorted((one, other) => other - one);
    const found: PrefixMatch<Value>[] = [];
    for (const length of this.#lengths) {
      if (length > text.length) continue;
      const prefix = text.slice(0, length);
      const value = this.#values.get(prefix);
      if (value !== undefined) found.push({ prefix, value });
    }
    return found;
  }

  #count(length: number, change: 1 | -1): void {
    const count = (this.#counts.get(length) ?? 0) + change;
    if (count === 0) this.#counts.delete(length);
    else this.#counts.set(length, count);
    if (count === 0 || count === change) this.#lengths = undefined;
  }
}
