import type { KeyValueStore } from './key-value-store.ts';
import { withLock } from './lock.ts';
import { StoreError, type Store } from './store-contract.ts';

export interface KeyValueOptions {
  /** Bytes of the largest value in JSON; 1 MiB unless set. */
  readonly largestValue?: number;
  readonly now?: (() => number) | undefined;
}

/** A key-value store over a `Store`: each method answers with a promise, and a lock holds between processes. */
export interface LockingKeyValueStore<Value> extends KeyValueStore<Value> {
  /** Returns undefined where there is no value, or its time is over; rejects with a `StoreError` where it is damaged. */
  get(key: string): Promise<Value | undefined>;
  /** Keeps what JSON keeps of a value. An earlier one stays where this rejects. */
  set(key: string, value: Value, ttlMs?: number): Promise<void>;
  delete(key: string): Promise<void>;
  lock<Result>(key: string, action: () => Promise<Result>): Promise<Result>;
}

const LARGEST_VALUE = 1024 * 1024;
/** Hex digits of a name's hash: with what stands before it, no more than a store takes. */
const HASH_DIGITS = 60;

interface JsonRecord {
  readonly key: string;
  readonly value: unknown;
  /** Milliseconds since 1970. */
  readonly expiresAt?: number;
}

/** Makes a Keyv-shaped store of a `Store`: JSON values under keys of any length and any character. */
export function asKeyValue<Value>(store: Store, options: KeyValueOptions = {}): LockingKeyValueStore<Value> {
  const { largestValue = LARGEST_VALUE, now = Date.now } = options;
  const inTurn = turns();
  return {
    async get(key) {
      const name = nameOf('v', key);
      const found = await store.get(name);
      const record = found && decode(found, key, store.locate(name));
      const isOver = record?.expiresAt !== undefined && record.expiresAt <= now();
      return isOver ? undefined : (record?.value as Value | undefined);
    },
    async set(key, value, ttlMs) {
      const name = nameOf('v', key);
      const text = toJson(value);
      checkSize(text, largestValue, store.locate(name));
      const record = `{"key":${JSON.stringify(key)},${expiry(ttlMs, now)}"value":${text}}\n`;
      await store.set(name, Buffer.from(record));
    },
    async delete(key) {
      await store.delete(nameOf('v', key));
    },
    // The actions of this process take turns among themselves, so that only one of them asks for the lock.
    lock: (key, action) => inTurn(key, () => withLock(store, nameOf('l', key), action)),
  };
}

/** Returns the name of a key's record. Hashed, because a store takes short names, and file names show to other users. */
function nameOf(kind: 'v' | 'l', key: string): string {
  // Loaded here, not with the module: that takes a megabyte.
  const { createHash } = process.getBuiltinModule('node:crypto');
  // UTF-16 keeps apart also what is half of a character, which UTF-8 has no bytes for.
  const hash = createHash('sha256').update(Buffer.from(key, 'utf16le')).digest('hex');
  return `k${kind}-${hash.slice(0, HASH_DIGITS)}`;
}

function toJson(value: unknown): string {
  // The types of TypeScript leave out that functions and undefined have no JSON.
  const text = JSON.stringify(value) as string | undefined;
  if (text === undefined)
    throw new TypeError(`A value of type ${typeof value} has no JSON and cannot be kept`);
  return text;
}

function checkSize(text: string, most: number, place: string): void {
  const bytes = Buffer.byteLength(text);
  if (bytes <= most) return;
  const message = `${place} is not written: the value has ${bytes} bytes in JSON, and ${most} are allowed`;
  throw new StoreError(message, { place, cause: undefined });
}

function expiry(ttlMs: number | undefined, now: () => number): string {
  if (ttlMs === undefined) return '';
  if (!Number.isFinite(ttlMs))
    throw new RangeError(`The time of a value is a number of milliseconds, not ${ttlMs}`);
  return `"expiresAt":${now() + ttlMs},`;
}

function decode(bytes: Buffer, key: string, place: string): JsonRecord {
  const record = parse(bytes);
  if (record?.key === key) return record;
  // No text of the parser, which quotes the value.
  throw new StoreError(`${place} is damaged. Delete it to start over.`, { place, cause: undefined });
}

function parse(bytes: Buffer): JsonRecord | undefined {
  try {
    return (JSON.parse(bytes.toString('utf8')) as JsonRecord | null) ?? undefined;
  } catch {
    return undefined;
  }
}

/** Returns a function that runs actions of one key one after the other. */
function turns(): <Result>(key: string, action: () => Promise<Result>) => Promise<Result> {
  const last = new Map<string, Promise<unknown>>();
  return (key, action) => {
    const turn = (last.get(key) ?? Promise.resolve()).then(action);
    const settled = turn.then(
      () => {},
      () => {},
    );
    last.set(key, settled);
    void settled.then(() => last.get(key) === settled && last.delete(key));
    return turn;
  };
}
