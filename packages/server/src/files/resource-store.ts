import { createHash, randomBytes } from 'node:crypto';
import { type FileHandle, lstat, open, readdir, rename, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import type { Logger } from '../logger.ts';
import { contentTypeOf } from './content-types.ts';
import { safeFilename } from './download-name.ts';
import { type ContentPieces, type FileContent, piecesOf } from './file-content.ts';
import { isFileId, newFileId, parseRecordName, recordName } from './file-id.ts';
import { openSharedUsage, type SharedUsage } from './shared-usage.ts';
import { openStoreRoot, type StoreRoot } from './store-root.ts';
import { checkQuota, FileQuotaError, type ResourceStoreQuota } from './store-usage.ts';
import { isPast, type StoredFile } from './stored-file.ts';
import { createStoredFiles, readRecord, type StoredFiles } from './stored-files.ts';

export { type FileContent, FileQuotaError, type ResourceStoreQuota };

export interface ResourceStoreOptions {
  /** Folder of the files as a `file:` URI, the `resourceStoreUri` of the router that serves them. */
  readonly uri: string;
  readonly quota?: Partial<ResourceStoreQuota>;
  /** Milliseconds that files are kept, one day unless set; `Infinity` keeps them until `remove`. */
  readonly ttlMs?: number;
  /** Milliseconds since 1970. */
  readonly now?: (() => number) | undefined;
  readonly logger?: Logger | undefined;
}

export interface PutFileOptions {
  /** The name for downloads. */
  readonly filename: string;
  /** Taken from the name's extension unless set. */
  readonly contentType?: string;
  /** The only user who may read the file. */
  readonly owner?: string;
  /** Milliseconds that the file is kept, instead of the store's. */
  readonly ttlMs?: number;
  /** Most bytes that this file may have, where that is less than the quota. */
  readonly maxBytes?: number;
  /** An id of your own, such as the key of a database; 128 random bits unless set. */
  readonly id?: string;
}

export interface ResourceStore extends Pick<StoredFiles, 'get' | 'list'> {
  /** Writes a file. After an error, a breach of a quota or a full disk nothing is left of it. */
  put(content: FileContent, options: PutFileOptions): Promise<StoredFile>;
  /** Reads a file at once; undefined for one that is unknown, expired, or of another owner. */
  read(id: string, owner?: string): Promise<{ file: StoredFile; bytes: Uint8Array } | undefined>;
  /** Removes a file of this owner; false if there is none. */
  remove(id: string, owner?: string): Promise<boolean>;
  /** Removes what has expired, and what a crash left unfinished; returns the number of files. */
  sweep(): Promise<number>;
}

const DAY_MS = 24 * 60 * 60 * 1000;

/** Age from which the remains of an interrupted `put` are removed; a `put` in another process may pause, but not this long. */
const ABANDONED_MS = 60 * 60 * 1000;

/** Time between two sweeps by `put`. Usage is counted anew each time, because a process may have been killed. */
const SWEEP_EVERY_MS = 60 * 1000;

/** Stands in the place of a record while its file is being written. */
const UNFINISHED = '{"isUnfinished":true}';

/** Permissions of files and records: for the owner of the process alone. */
const OWNER_ALONE = 0o600;

/** Opens a folder of files with ids, owners, expiry and quotas. Names of files never touch the disk. */
export function createResourceStore(options: ResourceStoreOptions): ResourceStore {
  const { now = Date.now, logger } = options;
  const root = openStoreRoot(options.uri, 'uri');
  const usage = openSharedUsage(root.path, checkQuota(options.quota));
  const files = createStoredFiles(root, now);
  const writing = new Set<string>();
  let sweptAt = Number.NEGATIVE_INFINITY;
  let sweeping: Promise<number> | undefined;

  const put = async (content: FileContent, request: PutFileOptions): Promise<StoredFile> => {
    const { maxBytes = Infinity } = request;
    if (!(maxBytes >= 0)) throw new Error(`maxBytes ${maxBytes} must be a number from 0`);
    const pieces = piecesOf(content);
    const plan = planFile(request, { ttlMs: options.ttlMs ?? DAY_MS, now: now() });
    if (now() - sweptAt >= SWEEP_EVERY_MS) await sweep();
    await root.check();
    const name = recordName(plan.id, plan.owner);
    const room = createRoom(usage, name, maxBytes);
    return writeFile(root, { name, plan, content: pieces, room, writing });
  };

  const read = async (
    id: string,
    owner?: string,
  ): Promise<{ file: StoredFile; bytes: Uint8Array } | undefined> => {
    const file = await files.get(id, owner);
    const opened = file && (await files.open(id, file.size));
    if (file === undefined || opened === undefined) return undefined;
    try {
      return { file, bytes: await opened.handle.readFile() };
    } finally {
      await opened.handle.close();
    }
  };

  const remove = async (id: string, owner?: string): Promise<boolean> => {
    const name = recordName(id, owner);
    if (!isFileId(id) || (await readRecord(root, name))?.id !== id) return false;
    await removeFile(root, name, id);
    await forget(usage, name);
    return true;
  };

  const sweep = (): Promise<number> => {
    sweeping ??= sweepNow().finally(() => {
      sweeping = undefined;
    });
    return sweeping;
  };

  const sweepNow = async (): Promise<number> => {
    await root.check();
    sweptAt = now();
    const before = usage.names();
    const found = new Map<string, number | undefined>();
    let removed = 0;
    for (const entry of await readdir(root.path)) {
      const outcome = writing.has(entry) ? 'kept' : await sweepEntry(root, entry, now());
      if (outcome === 'removed') removed++;
      else if (parseRecordName(entry) !== undefined)
        found.set(entry, outcome === 'kept' ? undefined : outcome.size);
    }
    await usage.correct(before, found);
    if (removed > 0) logger?.debug(`Removed ${removed} expired files from "${root.path}"`);
    return removed;
  };

  return { put, read, remove, sweep, get: files.get, list: files.list };
}

type FilePlan = Omit<StoredFile, 'size' | 'sha256'>;

function planFile(request: PutFileOptions, store: { ttlMs: number; now: number }): FilePlan {
  const { id = newFileId(), filename, owner, contentType, ttlMs = store.ttlMs } = request;
  if (!isFileId(id))
    throw new Error(`id "${id}" must be 1 to 128 letters, digits, "-" or "_", and no name of a device`);
  if (owner === '') throw new Error('owner must not be empty: leave it out for a file without an owner');
  if (!(ttlMs > 0)) throw new Error(`ttlMs ${ttlMs} must be a number of milliseconds above 0, or Infinity`);
  return {
    id,
    filename: safeFilename(filename),
    contentType: contentTypeOf(filename, contentType),
    ...(owner !== undefined && { owner }),
    createdAt: new Date(store.now).toISOString(),
    ...(ttlMs !== Infinity && { expiresAt: new Date(store.now + ttlMs).toISOString() }),
  };
}

interface FileWrite {
  readonly name: string;
  readonly plan: FilePlan;
  readonly content: ContentPieces;
  readonly room: Room;
  /** Names of the records whose files are being written. */
  readonly writing: Set<string>;
}

/** The room that a file takes while it is being written. */
interface Room {
  /** Rejects where the file may not have this many bytes. */
  grow(size: number): Promise<void>;
  /** Gives back what the finished file does not need. */
  settle(size: number): Promise<void>;
  /** Gives back all of it. */
  release(): Promise<void>;
}

/** Reserves more than a growing file needs, because each reservation takes a lock. */
function createRoom(usage: SharedUsage, name: string, maxBytes: number): Room {
  let reserved: number | undefined;
  return {
    async grow(size) {
      if (size > maxBytes) throw tooLarge(maxBytes);
      if (reserved !== undefined && size <= reserved) return;
      const most = reserved === undefined ? size : size + Math.floor(size / 2);
      reserved = await usage.reserve(name, size, Math.min(most, maxBytes));
    },
    async settle(size) {
      if (reserved !== size) await usage.note(new Map([[name, size]]));
    },
    async release() {
      if (reserved !== undefined) await forget(usage, name);
    },
  };
}

/**
 * Creates the file, an unfinished record, the bytes, then the record. After a crash, a sweep finds the unfinished record,
 * which stands only beside a file that this function created: files that another program put there are never removed.
 */
async function writeFile(root: StoreRoot, write: FileWrite): Promise<StoredFile> {
  const { name, plan, room, writing } = write;
  const file = join(root.path, plan.id);
  const undo: (() => Promise<void>)[] = [];
  if (writing.has(name)) throw idInUse(plan.id);
  writing.add(name);
  try {
    const handle = await createNew(file, plan.id);
    undo.push(() => removeIfPresent(file));
    const written = await closing(handle, async () => {
      await createFile(join(root.path, name), plan.id, (record) => record.writeFile(UNFINISHED));
      undo.push(() => removeIfPresent(join(root.path, name)));
      // Counted only now: a sweep of another process takes back what is counted without a record.
      undo.unshift(() => room.release());
      return writeContent(handle, write);
    });
    const record: StoredFile = { ...plan, ...written };
    await room.settle(record.size);
    await replaceRecord(join(root.path, name), record);
    return record;
  } catch (error) {
    for (const step of undo.toReversed()) await step();
    throw error;
  } finally {
    writing.delete(name);
  }
}

async function writeContent(
  handle: FileHandle,
  { content, room }: FileWrite,
): Promise<{ size: number; sha256: string }> {
  const hash = createHash('sha256');
  let size = 0;
  await room.grow(content.knownBytes);
  for await (const chunk of content.pieces) {
    const bytes = typeof chunk === 'string' ? Buffer.from(chunk) : chunk;
    if (!(bytes instanceof Uint8Array))
      throw new TypeError('The pieces of a file must be texts or Uint8Arrays');
    await room.grow(size + bytes.length);
    size += bytes.length;
    hash.update(bytes);
    await handle.writeFile(bytes);
  }
  return { size, sha256: hash.digest('hex') };
}

/** Takes a removed file from the count. The next sweep does it if the disk is full. */
async function forget(usage: SharedUsage, name: string): Promise<void> {
  await usage.note(new Map([[name, undefined]])).catch(() => {});
}

async function replaceRecord(path: string, record: StoredFile): Promise<void> {
  const fresh = `${path}.${randomBytes(8).toString('hex')}`;
  try {
    await createFile(fresh, record.id, (handle) => handle.writeFile(JSON.stringify(record)));
    await rename(fresh, path);
  } catch (error) {
    await removeIfPresent(fresh);
    throw error;
  }
}

async function createFile(
  path: string,
  id: string,
  fill: (handle: FileHandle) => Promise<void>,
): Promise<void> {
  const handle = await createNew(path, id);
  try {
    await closing(handle, () => fill(handle));
  } catch (error) {
    await removeIfPresent(path);
    throw error;
  }
}

async function createNew(path: string, id: string): Promise<FileHandle> {
  try {
    return await open(path, 'wx', OWNER_ALONE);
  } catch (error) {
    throw (error as NodeJS.ErrnoException).code === 'EEXIST' ? idInUse(id) : error;
  }
}

async function closing<T>(handle: FileHandle, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } finally {
    await handle.close();
  }
}

/** Removes one expired or abandoned entry of the folder, or returns the record of a file that stays. */
async function sweepEntry(
  root: StoreRoot,
  entry: string,
  now: number,
): Promise<StoredFile | 'removed' | 'kept'> {
  const named = parseRecordName(entry);
  if (named === undefined) {
    // A name such as `….json.1f2e…` is a record that was about to replace another.
    const isFresh = parseRecordName(entry.slice(0, entry.lastIndexOf('.'))) !== undefined;
    if (isFresh && (await isAbandoned(root, [entry], now))) await removeIfPresent(join(root.path, entry));
    return 'kept';
  }
  const record = await readRecord(root, entry);
  const isOver =
    record === undefined || !(await exists(join(root.path, named.id)))
      ? await isAbandoned(root, [entry, named.id], now)
      : isPast(record.expiresAt, now);
  if (!isOver) return record ?? 'kept';
  await removeFile(root, entry, named.id);
  return 'removed';
}

/** Tells whether none of these files has changed for long, so that no other process is writing them. */
async function isAbandoned(root: StoreRoot, names: string[], now: number): Promise<boolean> {
  const times = await Promise.all(names.map((name) => modifiedMs(join(root.path, name))));
  return Math.max(...times) < now - ABANDONED_MS;
}

/** Removes the bytes first: a record without bytes is removed by a sweep, bytes without a record never. */
async function removeFile(root: StoreRoot, name: string, id: string): Promise<void> {
  await root.check();
  await removeIfPresent(join(root.path, id));
  await removeIfPresent(join(root.path, name));
}

async function removeIfPresent(path: string): Promise<void> {
  try {
    await unlink(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
}

async function exists(path: string): Promise<boolean> {
  return (await modifiedMs(path)) > Number.NEGATIVE_INFINITY;
}

async function modifiedMs(path: string): Promise<number> {
  try {
    return (await lstat(path)).mtimeMs;
  } catch {
    return Number.NEGATIVE_INFINITY;
  }
}

function tooLarge(maxBytes: number): FileQuotaError {
  return new FileQuotaError(`The file has more than ${maxBytes} bytes: write less, or raise "maxBytes"`);
}

function idInUse(id: string): Error {
  return new Error(`A file with the id "${id}" exists: choose another id, or remove that file first`);
}
