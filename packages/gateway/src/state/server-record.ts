import { shortHash } from '../hash.ts';

/** What is kept of a server from start to start. */
export interface ServerRecord {
  readonly enabled: boolean;
  readonly autoDisabled: boolean;
  readonly autoDisabledAt?: number | undefined;
  readonly lastConnectedAt?: number | undefined;
  /** Attempts in a row that have failed. */
  readonly failureCount: number;
  /** One of these attempts failed because of the network. */
  readonly wasUnreachable: boolean;
}

/** What the config file says of a server. */
export interface FileEntry {
  readonly enabled: boolean;
  /** Changes with whatever the file says of it, before variables are replaced. */
  readonly hash: string;
}

/** As it is stored: the record, and what the file said when it was written. */
export interface StoredRecord extends ServerRecord {
  readonly file: FileEntry;
}

/**
 * Returns what counts now: the file where it leaves the server out or has changed its mind, else what is remembered. A
 * server that was disabled because of the network is tried again.
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
  const { enabled, autoDisabled, autoDisabledAt, failureCount, wasUnreachable } = stored;
  // The network may be another one by now.
  if (autoDisabled && wasUnreachable) return fresh;
  return { enabled, autoDisabled, autoDisabledAt, lastConnectedAt, failureCount, wasUnreachable };
}

/** A server that is not in the file any more has no entry. */
export function fileEntry(entry: unknown, enabled: boolean): FileEntry {
  return { enabled, hash: shortHash(sortedJson(entry ?? null)) };
}

/** Returns a value as JSON with sorted keys: their order says nothing. Written at once, because every start does so for each server. */
function sortedJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(sortedJson).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  const record = value as Readonly<Record<string, unknown>>;
  let text = '';
  for (const key of Object.keys(record).sort()) {
    if (record[key] === undefined) continue;
    text += `${text === '' ? '' : ','}${JSON.stringify(key)}:${sortedJson(record[key])}`;
  }
  return `{${text}}`;
}

/** Undefined where something else stands in its place. */
export function readRecord(value: unknown): StoredRecord | undefined {
  const { enabled, autoDisabled, failureCount, wasUnreachable, file, ...rest } = (value ??
    {}) as Partial<StoredRecord>;
  if (typeof enabled !== 'boolean' || typeof autoDisabled !== 'boolean') return undefined;
  if (typeof failureCount !== 'number' || typeof file?.enabled !== 'boolean') return undefined;
  return { ...rest, enabled, autoDisabled, failureCount, wasUnreachable: wasUnreachable === true, file };
}
