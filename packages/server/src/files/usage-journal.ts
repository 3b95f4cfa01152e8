import { randomBytes } from 'node:crypto';
import {
  closeSync,
  constants,
  fstatSync,
  openSync,
  readSync,
  renameSync,
  unlinkSync,
  writeFileSync,
  writeSync,
} from 'node:fs';

/** Bytes of files, by record name; undefined for a file that is gone. */
export type UsageChanges = ReadonlyMap<string, number | undefined>;

/** Sizes of the files of a folder, as all its processes note them. Each call must hold the lock of the journal. */
export interface UsageJournal {
  /** Reads what was noted since the last call. `isAnew` says that earlier calls count no more. */
  read(): { isAnew: boolean; changes: UsageChanges };
  append(changes: UsageChanges): void;
  /** Writes the journal anew where most of it is out of date; without files, removes it. */
  compact(files: UsageChanges): void;
}

/** Only one process at a time writes, so that a fresh file needs no name of its own. */
const FRESH_END = '~new';
const OWNER_ALONE = 0o600;
// Windows has no such flag.
const { O_RDWR, O_CREAT, O_APPEND, O_NOFOLLOW = 0 } = constants as Partial<typeof constants>;
const READ_AND_APPEND = (O_RDWR ?? 0) | (O_CREAT ?? 0) | (O_APPEND ?? 0) | O_NOFOLLOW;

const HEAD_BYTES = 18;
/** Bytes of an entry, roughly. */
const ENTRY_BYTES = 80;
/** Smaller journals are not written anew. */
const SMALL_BYTES = 64 * 1024;

/**
 * Creates a journal: a first line that differs from journal to journal, then a line for each change. Every line begins with
 * a line break and ends with a mark, so that one which a full disk cut short spoils no other.
 */
export function openUsageJournal(path: string): UsageJournal {
  let head = '';
  let end = 0;

  const read = (): { isAnew: boolean; changes: UsageChanges } =>
    withFile(path, (file) => {
      let { size } = fstatSync(file);
      if (size < HEAD_BYTES) size += writeSync(file, newHead().slice(size));
      const found = readText(file, 0, HEAD_BYTES);
      const isAnew = found !== head || size < end;
      const changes = parse(readText(file, isAnew ? HEAD_BYTES : end, size));
      [head, end] = [found, size];
      return { isAnew, changes };
    });

  const append = (changes: UsageChanges): void => {
    try {
      withFile(path, (file) => writeSync(file, format(changes)));
    } catch (error) {
      // The reader of the next call starts over, and forgets what was not written.
      head = '';
      throw error;
    }
  };

  const compact = (files: UsageChanges): void => {
    if (files.size === 0) return unlinkSync(path);
    if (end < Math.max(SMALL_BYTES, 4 * ENTRY_BYTES * files.size)) return;
    const text = newHead() + format(files);
    writeFileSync(path + FRESH_END, text, { mode: OWNER_ALONE });
    renameSync(path + FRESH_END, path);
    [head, end] = [text.slice(0, HEAD_BYTES), Buffer.byteLength(text)];
  };

  return { read, append, compact };
}

function newHead(): string {
  return `\n#${randomBytes(8).toString('hex')}`;
}

function format(changes: UsageChanges): string {
  return Array.from(changes, ([name, bytes]) => `\n${name} ${bytes ?? '-'};`).join('');
}

/** Leaves out lines that were cut short: a sweep counts their files. */
function parse(text: string): UsageChanges {
  const lines = text.matchAll(/\n([0-9a-f]{32}\.[\w-]{1,128}\.json) (-|\d{1,16});/g);
  return new Map(
    Array.from(lines, ([, name = '', bytes]) => [name, bytes === '-' ? undefined : Number(bytes)]),
  );
}

function readText(file: number, from: number, to: number): string {
  const buffer = Buffer.alloc(to - from);
  return buffer.toString('latin1', 0, readSync(file, buffer, 0, buffer.length, from));
}

function withFile<Result>(path: string, action: (file: number) => Result): Result {
  const file = openSync(path, READ_AND_APPEND, OWNER_ALONE);
  try {
    return action(file);
  } finally {
    closeSync(file);
  }
}
