import { withoutLiveKeys } from '../../config/tool-lists.ts';
import { fileEntry } from '../../state/server-record.ts';
import { isRecord } from '../../wire/json/is-record.ts';

/** Entries are replaced, never changed. Each is hashed once: a start asks for its hash several times. */
const known = new WeakMap<object, string>();

/** Returns a text that changes with whatever an entry says of the server itself; its time limit, name and filters change nothing of what it lists. */
export function entryHash(entry: unknown): string {
  if (!isRecord(entry)) return fileEntry(entry, true).hash;
  const hash = known.get(entry) ?? fileEntry(withoutLiveKeys(entry), true).hash;
  known.set(entry, hash);
  return hash;
}
