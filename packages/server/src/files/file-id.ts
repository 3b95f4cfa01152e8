import { createHash, randomBytes } from 'node:crypto';
import { isReservedName } from './download-name.ts';

const RECORD_END = '.json';

/** Makes an id of 128 random bits, so that trying ids is hopeless. */
export function newFileId(): string {
  return randomBytes(16).toString('base64url');
}

/**
 * Tells whether a text may be a file id. An id becomes a name on disk, therefore it has neither dots nor separators,
 * is never decoded, and is not the name of a device on Windows.
 */
export function isFileId(text: string): boolean {
  return /^[A-Za-z0-9_-]{1,128}$/.test(text) && !isReservedName(text);
}

/**
 * Names the record of a file. The owner is part of the name: a lookup for one user fails in the same way for a file of
 * another user as for a file that does not exist.
 */
export function recordName(id: string, owner: string | undefined): string {
  return `${recordPrefix(owner)}${id}${RECORD_END}`;
}

/** Begins the names of all records of an owner. */
export function recordPrefix(owner: string | undefined): string {
  return `${ownerKey(owner)}.`;
}

/** Reads owner key and id from the name of a record; undefined for every other file of the folder. */
export function parseRecordName(name: string): { ownerKey: string; id: string } | undefined {
  const [key = '', id = '', end, more] = name.split('.');
  const isRecord = /^[0-9a-f]{32}$/.test(key) && isFileId(id) && `.${end}` === RECORD_END;
  return isRecord && more === undefined ? { ownerKey: key, id } : undefined;
}

/** Hashes an owner, because owners are e-mail addresses and the like, which no file system has to bear. */
function ownerKey(owner: string | undefined): string {
  const text = owner === undefined ? 'unowned' : `owner:${owner}`;
  return createHash('sha256').update(text).digest('hex').slice(0, 32);
}
