import { shortHash } from '../hash.ts';
import { sortedJson } from '../wire/json/canonical-json.ts';

/** The health of a server as it is kept from start to start. */
export interface ServerRecord {
  readonly enabled: boolean;
  readonly autoDisabled: boolean;
  readonly autoDisabledAt?: number | undefined;
  readonly lastConnectedAt?: number | undefined;
  /** Attempts in a row that have failed. */
  readonly failureCount: number;
  /** True where one of these attempts failed because of the network. */
  readonly wasUnreachable: boolean;
  /** Why the last attempt of an auto-disabled server failed, in one line without stderr: a later gateway shows it. */
  readonly lastError?: string | undefined;
}

/** The entry of a server in the config file. */
export interface FileEntry {
  readonly enabled: boolean;
  /** Hash of the entry, before variables are replaced. */
  readonly hash: string;
}

/** A record, and the entry in the file when it was written. */
export interface StoredRecord extends ServerRecord {
  readonly file: FileEntry;
}

/**
 * Returns the record that counts now: a new one where the file leaves the server out or has changed its entry, else the
 * stored one. A server that was disabled because of the network is tried again.
 */
export function recallRecord(stored: StoredRecord | undefined, file: FileEntry): ServerRecord {
  const { lastConnectedAt } = stored ?? {};
  const { enabled: isOn } = file;
  const fresh = {
    enabled: isOn,
    autoDisabled: false,
    failureCount: 0,
    wasUnreachable: false,
    lastConnectedAt,
  };
  if (stored === undefined || !file.enabled || !stored.file.enabled) return fresh;
  const isChanged = stored.file.hash !== file.hash;
  if (isChanged && (stored.autoDisabled || stored.enabled)) return fresh;
  const { enabled, autoDisabled, autoDisabledAt, failureCount, wasUnreachable, lastError } = stored;
  // The network may have changed since.
  if (autoDisabled && wasUnreachable) return fresh;
  return { enabled, autoDisabled, autoDisabledAt, lastConnectedAt, failureCount, wasUnreachable, lastError };
}

/** Hashes an entry; a server that has left the file has none. */
export function fileEntry(entry: unknown, enabled: boolean): FileEntry {
  return { enabled, hash: shortHash(sortedJson(entry ?? null)) };
}

/** Returns undefined where the value is not a record. */
export function readRecord(value: unknown): StoredRecord | undefined {
  const { enabled, autoDisabled, failureCount, wasUnreachable, lastError, file, ...rest } = (value ??
    {}) as Partial<StoredRecord>;
  if (typeof enabled !== 'boolean' || typeof autoDisabled !== 'boolean') return undefined;
  if (typeof failureCount !== 'number' || typeof file?.enabled !== 'boolean') return undefined;
  const record = {
    ...rest,
    enabled,
    autoDisabled,
    failureCount,
    wasUnreachable: wasUnreachable === true,
    file,
  };
  return typeof lastError === 'string' ? { ...record, lastError } : record;
}
