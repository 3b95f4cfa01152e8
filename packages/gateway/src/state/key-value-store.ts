/** What must survive the end of the process. Values are whatever JSON can hold; several processes may use one store. */
export interface KeyValueStore {
  /** Undefined where there is none; rejects with a `RecordError` where it cannot be read. */
  get(key: string): Promise<unknown>;
  /** Afterwards the new value is there, or after a rejection the old one still is. */
  set(key: string, value: unknown): Promise<void>;
  delete(key: string): Promise<void>;
  /** Of all that can be read. */
  keys(): Promise<string[]>;
}

/** One record cannot be read or written; all others can. */
export class RecordError extends Error {
  override readonly name = 'RecordError';
  /** Unknown where the record itself was to tell. */
  readonly key: string | undefined;
  readonly file: string;

  constructor(message: string, { key, file, cause }: { key?: string; file: string; cause?: unknown }) {
    super(message, cause === undefined ? undefined : { cause });
    this.key = key;
    this.file = file;
  }
}
