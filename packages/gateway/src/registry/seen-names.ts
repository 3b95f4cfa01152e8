/** Names that are remembered of a server beside those that it lists. Far more than an honest server ever renames. */
const MOST_PAST = 10_000;
/** Bytes that these may have together, so that long names cost no more than many. */
const MOST_PAST_BYTES: number = 4 * 1024 * 1024;
/** Memory that a name takes beside its text: entries in some tables. */
const NAME_BYTES = 256;

/**
 * The names that a server lists, and those that it has listed before, in the order in which they were last seen. Beyond a
 * number of names and of bytes the oldest of those that are listed no more are forgotten.
 */
export class SeenNames {
  /** The number of the list that has named it last. */
  readonly #seen = new Map<string, number>();
  #list = 0;
  #pastBytes = 0;
  #past = 0;
  #listed = 0;
  #listedBytes = 0;

  /** Bytes that names take which are listed no more. */
  get pastBytes(): number {
    return this.#pastBytes;
  }

  has(name: string): boolean {
    return this.#seen.has(name);
  }

  /** Begins a new list: until they are seen in it, all names are past. */
  begin(): void {
    this.#list++;
    this.#pastBytes += this.#listedBytes;
    this.#past += this.#listed;
    this.#listedBytes = 0;
    this.#listed = 0;
  }

  /** Adds a name of the new list. */
  see(name: string): void {
    const list = this.#seen.get(name);
    if (list === this.#list) return;
    const bytes = bytesOf(name);
    if (list !== undefined) {
      this.#seen.delete(name);
      this.#past--;
      this.#pastBytes -= bytes;
    }
    this.#seen.set(name, this.#list);
    this.#listed++;
    this.#listedBytes += bytes;
  }

  /** Forgets names that are too many, and returns them one by one. To be called when the new list is complete. */
  *surplus(): Generator<string, void> {
    for (const [name, list] of this.#seen) {
      const isTooMuch = this.#past > MOST_PAST || this.#pastBytes > MOST_PAST_BYTES;
      if (!isTooMuch || list === this.#list) return;
      this.#seen.delete(name);
      this.#past--;
      this.#pastBytes -= bytesOf(name);
      yield name;
    }
  }

  /** Returns all names. */
  all(): Iterable<string> {
    return this.#seen.keys();
  }
}

function bytesOf(name: string): number {
  return NAME_BYTES + 2 * name.length;
}
