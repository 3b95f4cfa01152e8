/**
 * Keeps values under keys of any length. Objects of Keyv 5 are such stores, and so is a `Map`, which ends with the process;
 * `asKeyValue` makes one of a `Store`.
 */
export interface KeyValueStore<Value> {
  get(key: string): Promise<Value | undefined> | Value | undefined;
  /** Replaces the value of a key. After `ttlMs` milliseconds `get` no longer returns it. */
  set(key: string, value: Value, ttlMs?: number): unknown;
  delete(key: string): unknown;
  /**
   * Runs an action while no other process runs one for the same key, and returns its result. A store without this method has
   * no lock between processes.
   */
  lock?<Result>(key: string, action: () => Promise<Result>): Promise<Result>;
}
