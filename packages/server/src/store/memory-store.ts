import { checkName, type ValueChange, type StoreEntry, type Store } from './store-contract.ts';

/** Creates a store that ends with the process, for programs that keep nothing. */
export function createMemoryStore(now: () => number = Date.now): Store {
  return new MemoryStore(now);
}

interface Kept extends StoreEntry {
  readonly value: Buffer;
}

class MemoryStore implements Store {
  readonly #values = new Map<string, Kept>();
  readonly #now: () => number;

  constructor(now: () => number) {
    this.#now = now;
  }

  async get(name: string): Promise<Buffer | undefined> {
    checkName(name);
    const { value } = this.#values.get(name) ?? {};
    return value && Buffer.from(value);
  }

  async set(name: string, value: Buffer): Promise<void> {
    await this.update(name, () => value);
  }

  async update(name: string, change: ValueChange): Promise<Buffer | undefined> {
    checkName(name);
    const before = this.#values.get(name)?.value;
    const after = change(before && Buffer.from(before));
    if (after === undefined) return before;
    // Moved to the end: of values that are set within a millisecond the last one is the latest.
    this.#values.delete(name);
    this.#values.set(name, { name, value: Buffer.from(after), writtenAt: this.#now() });
    return after;
  }

  async delete(name: string): Promise<void> {
    checkName(name);
    this.#values.delete(name);
  }

  async list(prefix = ''): Promise<StoreEntry[]> {
    const entries = Array.from(this.#values.values(), ({ name, writtenAt }) => ({ name, writtenAt }));
    return entries.filter(({ name }) => name.startsWith(prefix)).reverse();
  }

  locate(name: string): string {
    return `${JSON.stringify(name)} in memory`;
  }
}
