import { readdir } from 'node:fs/promises';
import { isFileId, recordName, recordPrefix, parseRecordName } from './file-id.ts';
import type { OpenedFile, StoreRoot } from './store-root.ts';
import { isPast, parseRecord, type StoredFile } from './stored-file.ts';

/** The reading half of a resource store. */
export interface StoredFiles {
  /** Finds a file of this owner; undefined for one that is unknown, expired, or of another owner. */
  get: (id: string, owner?: string) => Promise<StoredFile | undefined>;
  /** Lists the files of this owner that have not expired, the newest first. */
  list: (owner?: string) => Promise<StoredFile[]>;
  /** Opens the bytes under an id; undefined if there are none, or more or fewer than recorded. */
  open: (id: string, size?: number) => Promise<OpenedFile | undefined>;
}

/** Longest record that is read, in bytes: names and owners are short. */
const MAX_RECORD_BYTES = 64 * 1024;

/** Records read at a time: enough to keep the disk busy, few enough to leave descriptors to downloads. */
const BATCH = 16;

export function createStoredFiles(root: StoreRoot, now: () => number): StoredFiles {
  const get = async (id: string, owner?: string): Promise<StoredFile | undefined> => {
    if (!isFileId(id)) return undefined;
    const record = await readRecord(root, recordName(id, owner));
    // Disks that ignore case find the record of 'abc' under 'ABC' too.
    const isSame = record?.id === id && record.owner === owner;
    return isSame && !isPast(record.expiresAt, now()) ? record : undefined;
  };

  const list = async (owner?: string): Promise<StoredFile[]> => {
    await root.check();
    const prefix = recordPrefix(owner);
    const names = (await readdir(root.path)).filter((name) => name.startsWith(prefix));
    const ids = names.flatMap((name) => parseRecordName(name)?.id ?? []);
    const files: StoredFile[] = [];
    for (let index = 0; index < ids.length; index += BATCH) {
      const batch = await Promise.all(ids.slice(index, index + BATCH).map((id) => get(id, owner)));
      files.push(...batch.filter((file) => file !== undefined));
    }
    return files.toSorted(newestFirst);
  };

  const open = async (id: string, size?: number): Promise<OpenedFile | undefined> => {
    const file = isFileId(id) ? await root.openFile(id) : undefined;
    if (file === undefined || size === undefined || file.size === size) return file;
    await file.handle.close();
    return undefined;
  };

  return { get, list, open };
}

/** Orders files for lists; the id decides between files of the same millisecond, so that pages neither repeat nor lose one. */
export function newestFirst(
  one: { createdAt: string; id: string },
  other: { createdAt: string; id: string },
): number {
  if (one.createdAt !== other.createdAt) return one.createdAt < other.createdAt ? 1 : -1;
  if (one.id === other.id) return 0;
  return one.id < other.id ? -1 : 1;
}

/** Reads a record; undefined if it is missing, torn, or of a file that is still being written. */
export async function readRecord(root: StoreRoot, name: string): Promise<StoredFile | undefined> {
  const file = await root.openFile(name);
  if (file === undefined) return undefined;
  try {
    if (file.size > MAX_RECORD_BYTES) return undefined;
    return parseRecord(await file.handle.readFile('utf8'));
  } finally {
    await file.handle.close();
  }
}
