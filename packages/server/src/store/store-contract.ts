/**
 * Keeps small values from start to start: one kind of state, such as the eras of servers. Several processes may use the
 * same one. Every backend passes `store.case.ts`.
 */
export interface Store {
  /** Returns undefined where there is no such value; rejects with a `StoreError` where it cannot be read. */
  get(name: string): Promise<Buffer | undefined>;
  /** Replaces a value whole, also one that cannot be read. After a rejection the old value is still there. */
  set(name: string, value: Buffer): Promise<void>;
  /**
   * Reads and replaces a value as one step, so that no other process writes in between, and resolves to the value that is
   * kept then. `change` returns undefined to leave everything as it is, and may throw to call the update off.
   */
  update(name: string, change: ValueChange): Promise<Buffer | undefined>;
  delete(name: string): Promise<void>;
  /** Lists the values whose names begin like this, the latest first; leaves out what this store has not written. */
  list(prefix?: string): Promise<StoreEntry[]>;
  /** Returns the place of a value, for messages: the path of its file, for one. */
  locate(name: string): string;
}

export type ValueChange = (before: Buffer | undefined) => Buffer | undefined;

export interface StoreEntry {
  readonly name: string;
  /** Milliseconds since 1970. */
  readonly writtenAt: number;
}

/** Bytes of a name in UTF-8. Each may take three characters of a file name, which file systems limit to 255. */
const LONGEST_NAME = 64;

/** Throws for a name that some backend could not keep. */
export function checkName(name: string): void {
  const bytes = Buffer.from(name);
  // UTF-8 has no bytes for half of a character.
  if (name === '' || bytes.length > LONGEST_NAME || bytes.toString() !== name)
    throw new Error(`A store takes names of 1 to ${LONGEST_NAME} bytes in UTF-8`);
}

/** Says that one value cannot be read or written; all others can. */
export class StoreError extends Error {
  override readonly name = 'StoreError';
  /** Place of the value, as `locate` returns it. */
  readonly place: string;

  constructor(message: string, { place, cause }: { place: string; cause: unknown }) {
    super(message, { cause });
    this.place = place;
  }
}
