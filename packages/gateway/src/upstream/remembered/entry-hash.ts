import { isRecord } from '../../config/findings.ts';
import { withoutToolLists } from '../../config/tool-lists.ts';
import { fileEntry } from '../../state/server-record.ts';

/** Returns a text that changes with whatever an entry says of the server itself; filters change nothing of what it lists. */
export function entryHash(entry: unknown): string {
  return fileEntry(isRecord(entry) ? withoutToolLists(entry) : entry, true).hash;
}
