import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { whileLocked } from '../store/file-lock.ts';
import { parseRecordName } from './file-id.ts';
import { createStoreUsage, FileQuotaError, type ResourceStoreQuota } from './store-usage.ts';
import { openUsageJournal, type UsageChanges } from './usage-journal.ts';

/** Bytes in use by the files of a folder, by record name: one count for all stores and processes that use the folder. */
export interface SharedUsage {
  /**
   * Reserves room for a file of this many bytes, or for up to `most` where that is to be had, and resolves to the number;
   * rejects and changes nothing where a limit would be exceeded.
   */
  reserve(name: string, bytes: number, most?: number): Promise<number>;
  /** Sets the size of files that exist; undefined for those that do not any more. */
  note(changes: UsageChanges): Promise<void>;
  /** Corrects the count by what a look into the folder found: sizes, or undefined for files that are being written. */
  correct(before: readonly string[], found: UsageChanges): Promise<void>;
  /** Names in the count, as far as this store has read it. */
  names(): string[];
}

/** Lies in the folder of the files. No file id has a dot, so that it is never served. */
const JOURNAL = '.weir-usage';

export function openSharedUsage(folder: string, quota: ResourceStoreQuota): SharedUsage {
  const path = join(folder, JOURNAL);
  const journal = openUsageJournal(path);
  const usage = createStoreUsage(quota);
  let turn: Promise<unknown> = Promise.resolve();

  const apply = (changes: UsageChanges): void => {
    for (const [name, bytes] of changes)
      if (bytes === undefined) usage.delete(name);
      else usage.set(name, ownerOf(name), bytes);
  };

  const catchUp = (): void => {
    const { isAnew, changes } = journal.read();
    if (isAnew) for (const name of usage.names()) usage.delete(name);
    apply(changes);
  };

  /** Takes turns within this store, so that only one of its calls asks for the lock. */
  const alone = <Result>(action: () => Result): Promise<Result> => {
    const result = turn.then(() =>
      whileLocked(path, async () => {
        catchUp();
        return action();
      }),
    );
    turn = result.catch(() => {});
    return result;
  };

  const write = (changes: UsageChanges): void => {
    if (changes.size > 0) journal.append(changes);
    apply(changes);
    if (usage.size() === 0) journal.compact(new Map());
  };

  const reserve = (name: string, bytes: number, most = bytes): Promise<number> =>
    alone(() => {
      const reserved = growTo(name, [most, bytes]);
      journal.append(new Map([[name, reserved]]));
      return reserved;
    });

  const growTo = (name: string, [most, least]: readonly [number, number]): number => {
    try {
      usage.grow(name, ownerOf(name), most);
      return most;
    } catch (error) {
      if (!(error instanceof FileQuotaError) || most <= least) throw error;
      usage.grow(name, ownerOf(name), least);
      return least;
    }
  };

  const correct = (before: readonly string[], found: UsageChanges): Promise<void> =>
    alone(() => {
      const changes = new Map<string, number | undefined>();
      const isThere = (name: string): boolean => existsSync(join(folder, name));
      // Files may have come and gone since the look, therefore each is looked at again before it is corrected.
      for (const name of before)
        if (usage.bytesOf(name) !== undefined && !found.has(name) && !isThere(name))
          changes.set(name, undefined);
      for (const [name, bytes] of found)
        if (bytes !== undefined && usage.bytesOf(name) !== bytes && isThere(name)) changes.set(name, bytes);
      write(changes);
      if (usage.size() > 0)
        journal.compact(new Map(usage.names().map((name) => [name, usage.bytesOf(name)])));
    });

  return { reserve, note: (changes) => alone(() => write(changes)), correct, names: () => usage.names() };
}

function ownerOf(name: string): string {
  return parseRecordName(name)?.ownerKey ?? '';
}
