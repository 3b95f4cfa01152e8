import { isUtf8 } from 'node:buffer';
import {
  findMember,
  keyIs,
  readMembers,
  readString,
  stringValue,
  valueText,
  type Members,
} from '../../wire/json/members.ts';
import { validateValue, skipValue } from '../../wire/json/scan.ts';
import { ALL_KINDS, KINDS, type Kind, type Listed, type Listing } from '../catalogue/catalogue.ts';
import { readItems } from '../catalogue/read-list.ts';
import type { CatalogueSnapshot } from './catalogue-snapshot.ts';

/** A server as the lock file has it. */
export interface LockedSnapshot {
  readonly entry: string | undefined;
  /** Hash of the offering when it was written. */
  readonly hash: string | undefined;
  /** The part of the file that the offering was read from. */
  readonly text: Buffer;
  readonly snapshot: CatalogueSnapshot;
}

const LINE_ENDS = [0x0a, 0x0d];
const SPACE = 0x20;
/** What a later one means is not known. */
const VERSION = '1';

/** The servers of a lock file by key; undefined where it is none. Each byte is visited once. */
export function readLock(text: Buffer): ReadonlyMap<string, LockedSnapshot> | undefined {
  const bytes = onOneLine(text);
  if (!isUtf8(bytes) || validateValue(bytes, 0) < 0) return undefined;
  const servers = new Map<string, LockedSnapshot>();
  const top = readMembers(bytes, 0, (_, value, key, keyEnds) =>
    keyIs(bytes, key, keyEnds, 'servers')
      ? readServers(bytes, value, { text, servers })
      : skipValue(bytes, value),
  );
  const isWhole = top !== undefined && bytes.toString('latin1', top.end).trim() === '';
  const isOurs = isWhole && valueText(top, 'lockfileVersion') === VERSION;
  return isOurs && findMember(top, 'servers') >= 0 ? servers : undefined;
}

/** Outside of strings, which hold none, line breaks are but space. */
function onOneLine(text: Buffer): Buffer {
  const line = Buffer.from(text);
  for (const end of LINE_ENDS)
    for (let at = line.indexOf(end); at >= 0; at = line.indexOf(end, at)) line[at] = SPACE;
  return line;
}

/** The file as it is, and the servers that were read from it. */
interface Reading {
  readonly text: Buffer;
  readonly servers: Map<string, LockedSnapshot>;
}

function readServers(bytes: Buffer, at: number, { text, servers }: Reading): number {
  const members = readMembers(bytes, at, (_, value, key, keyEnds) => {
    const lists = new Map<Kind, Listed[]>();
    const server = readServer(bytes, value, lists);
    const serverKey = readString(bytes, key - 1, keyEnds + 1);
    const snapshot = server && snapshotOf(server, lists);
    if (server === undefined || serverKey === undefined || snapshot === undefined) return -1;
    const [entry, hash] = [stringValue(server, 'entry'), stringValue(server, 'hash')];
    servers.set(serverKey, { entry, hash, text: text.subarray(...snapshotSpan(server)), snapshot });
    return server.end;
  });
  return members?.end ?? -1;
}

function readServer(bytes: Buffer, at: number, lists: Map<Kind, Listed[]>): Members | undefined {
  return readMembers(bytes, at, (_, value, key, keyEnds) => {
    const kind = ALL_KINDS.find((each) => keyIs(bytes, key, keyEnds, each));
    const found = kind && readItems(bytes, value, KINDS[kind].key);
    if (kind === undefined || found === undefined) return skipValue(bytes, value);
    lists.set(
      kind,
      found.items.filter((item) => item !== undefined),
    );
    return found.end;
  });
}

/** Members of a server that are not part of what it offers. */
const HEAD: readonly string[] = ['entry', 'hash', 'package'];

/** Returns where the members that make up an offering begin and end: none of them lies outside. */
function snapshotSpan({ bytes, flat }: Members): [start: number, end: number] {
  let first = 0;
  const isHead = (key: string): boolean => keyIs(bytes, flat[first] ?? 0, flat[first + 1] ?? 0, key);
  while (first < flat.length && HEAD.some(isHead)) first += 4;
  return [(flat[first] ?? 1) - 1, flat.at(-1) ?? 0];
}

function snapshotOf(server: Members, lists: ReadonlyMap<Kind, Listed[]>): CatalogueSnapshot | undefined {
  const era = stringValue(server, 'era');
  const capabilities = objectIn(server, 'capabilities');
  if (capabilities === undefined || (era !== 'legacy' && era !== 'modern')) return undefined;
  // May be asked for again at once: it may turn out different.
  const listing = (kind: Kind): Listing => ({
    items: lists.get(kind) ?? [],
    ttlMs: 0,
    cacheScope: 'private',
  });
  return {
    era,
    capabilities,
    instructions: stringValue(server, 'instructions'),
    catalogue: {
      tools: listing('tools'),
      prompts: listing('prompts'),
      resources: listing('resources'),
      templates: listing('templates'),
    },
  };
}

/** Empty where there is none, undefined where something else stands there. */
function objectIn(members: Members, key: string): Record<string, unknown> | undefined {
  const m = findMember(members, key);
  if (m < 0) return {};
  try {
    const text = members.bytes.toString('utf8', members.flat[m + 2], members.flat[m + 3]);
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}
