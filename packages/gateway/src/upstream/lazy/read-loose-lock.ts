import { isUtf8 } from 'node:buffer';
import { readElements, valueText } from '../../wire/json/members.ts';
import { entriesOf, objectIn, objectOf, readObject } from '../../wire/json/objects.ts';
import { onOneLine, validateValue } from '../../wire/json/scan.ts';
import { ALL_KINDS, KINDS, type Kind, type Listed } from '../catalogue/catalogue.ts';
import { readItem } from '../catalogue/read-list.ts';
import { snapshotOf, stringIn, type LockedSnapshot, type LockedSnapshots } from './locked-snapshot.ts';
import { snapshotHash } from './snapshot-hash.ts';

/** A later version may mean something else. */
const VERSION = '1';

/** Reads a lock file whatever its layout, because formatters change that; returns undefined for any other file. */
export function readLooseLock(file: Buffer): LockedSnapshots | undefined {
  const bytes = onOneLine(file);
  const end = isUtf8(bytes) ? validateValue(bytes, 0) : -1;
  if (end < 0 || bytes.toString('latin1', end).trim() !== '') return undefined;
  const top = readObject(bytes, 0);
  const isOurs = top !== undefined && valueText(top, 'lockfileVersion') === VERSION;
  const servers = isOurs ? objectIn(top, 'servers') : undefined;
  return servers && new Map(entriesOf(servers).map(([key, text]) => [parsed(key) as string, lockedIn(text)]));
}

/** Reads one server. Texts have one character a byte here. */
function lockedIn(text: string): LockedSnapshot {
  const members = new Map<string, unknown>();
  const lists = new Map<Kind, Listed[]>();
  const server = objectOf(text);
  for (const [key, value] of server === undefined ? [] : entriesOf(server)) {
    const name = parsed(key) as string;
    const kind = ALL_KINDS.find((each) => each === name);
    if (kind === undefined) members.set(name, parsed(value));
    else lists.set(kind, definitionsIn(Buffer.from(value, 'latin1'), KINDS[kind].key));
  }
  const hash = stringIn(members, 'hash');
  return {
    entry: stringIn(members, 'entry'),
    hash,
    read() {
      const snapshot = snapshotOf(members, lists);
      return snapshot !== undefined && hash === snapshotHash(snapshot) ? snapshot : undefined;
    },
  };
}

function definitionsIn(list: Buffer, key: string): Listed[] {
  const spans = readElements(list, 0) ?? [];
  const items: Listed[] = [];
  for (let s = 0; s < spans.length; s += 2) {
    const item = readItem(list.subarray(spans[s], spans[s + 1]), key);
    if (item !== undefined) items.push(item);
  }
  return items;
}

function parsed(text: string): unknown {
  return JSON.parse(Buffer.from(text, 'latin1').toString('utf8'));
}
