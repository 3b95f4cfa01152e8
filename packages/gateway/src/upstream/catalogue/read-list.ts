import { quoted } from '../../errors.ts';
import {
  ArrayWalk,
  findMember,
  hasAmbiguousKeys,
  keyIs,
  readMembers,
  readString,
  stringValue,
  valueText,
  type Members,
} from '../../wire/json/members.ts';
import { unambiguousObject } from '../../wire/json/objects.ts';
import { NATIVE_SEARCH_SOON, skipValue } from '../../wire/json/scan.ts';
import { encode } from '../../wire/json/splice.ts';
import type { Message } from '../../wire/message.ts';
import { spend, workThrough } from '../../wire/slices.ts';
import { KINDS, strictest, type CacheHints, type Kind, type Listed, type Listing } from './catalogue.ts';
import { readPlainList } from './plain-list.ts';

/** Memory that a listed thing takes beside its definition: objects for the list, its public name, its route. */
const ITEM_BYTES = 256;

export interface ListOptions {
  /** Gets the bytes that each page takes. */
  readonly read?: (bytes: number) => void;
  /** The members of `_meta` that the server's era asks for. */
  readonly meta: string;
  readonly ask: (method: string, params: string) => Promise<Message>;
  readonly warn: (text: string) => void;
}

/** Far more than any honest list has. */
const MOST_PAGES = 10_000;
/** Entries of one list. No host can use as many; what a list costs at each change of any server grows with them. */
const MOST_LISTED = 20_000;
/** Entries that a server lists twice, as many as are named in the log. */
const MOST_REPEATED = 5;

/** Reads all pages of a list. Leaves out entries that cannot be used, and names them in the log. */
export async function readList(kind: Kind, { meta, ask, warn, read }: ListOptions): Promise<Listing> {
  const found = new Map<string, Listed>();
  const cursors = new Set<string>();
  let repeated = 0;
  let hints: CacheHints = { ttlMs: Number.MAX_SAFE_INTEGER, cacheScope: 'public' };
  for (let cursor: string | undefined; ;) {
    const params = [meta && `"_meta":{${meta}}`, cursor !== undefined && `"cursor":${encode(cursor)}`];
    const answer = await ask(KINDS[kind].method, `{${params.filter(Boolean).join(',')}}`);
    const page = await readPage(kind, answer, warn);
    read?.(answer.bytes.length + ITEM_BYTES * page.items.length);
    hints = strictest(hints, page);
    let { isCut } = page;
    for (const item of page.items) {
      if (found.has(item.key)) {
        if (++repeated <= MOST_REPEATED)
          warn(`lists ${JSON.stringify(quoted(item.key))} twice among its ${kind}; Weir keeps the first one`);
      } else if (found.size === MOST_LISTED) isCut = true;
      else found.set(item.key, item);
    }
    if (isCut) {
      warn(`lists more than ${MOST_LISTED} ${kind}; Weir keeps the first ones`);
      return { ...hints, items: [...found.values()] };
    }
    cursor = page.nextCursor;
    if (cursor === undefined) return { ...hints, items: [...found.values()] };
    if (cursors.has(cursor) || cursors.size === MOST_PAGES) {
      warn(`lists its ${kind} without end; Weir keeps what it got`);
      return { ...hints, items: [...found.values()] };
    }
    cursors.add(cursor);
  }
}

interface ListPage extends Listing {
  readonly nextCursor: string | undefined;
  /** The page has more entries than were read. */
  readonly isCut: boolean;
}

const NO_HINTS: CacheHints = { ttlMs: 0, cacheScope: 'private' };

async function readPage(kind: Kind, answer: Message, warn: (text: string) => void): Promise<ListPage> {
  const { key, method } = KINDS[kind];
  const {
    items,
    isCut = false,
    ttlMs,
    cacheScope,
    nextCursor,
  } = readPlainPage(kind, answer) ?? (await scanPage(kind, answer));
  if (items === undefined) {
    warn(`answered ${method} without a list of ${kind}`);
    return { ...NO_HINTS, items: [], nextCursor: undefined, isCut: false };
  }
  const unnamed = items.filter((item) => item === undefined).length;
  if (unnamed > 0) warn(`lists ${unnamed} of its ${kind} without a ${key}; they are left out`);
  return {
    items: items.filter((item) => item !== undefined),
    ttlMs: Number.isSafeInteger(ttlMs) && Number(ttlMs) >= 0 ? Number(ttlMs) : 0,
    cacheScope: cacheScope === 'public' ? 'public' : 'private',
    nextCursor: typeof nextCursor === 'string' ? nextCursor : undefined,
    isCut,
  };
}

/** Position of the result of a list. */
type Body = Pick<Message, 'bytes' | 'bodyAt' | 'bodyEnd'>;

/** A page as it came, nothing believed yet. */
interface RawPage {
  readonly items: readonly (Listed | undefined)[] | undefined;
  readonly isCut?: boolean;
  readonly ttlMs?: unknown;
  readonly cacheScope?: unknown;
  readonly nextCursor?: unknown;
}

function readPlainPage(kind: Kind, { bytes, bodyAt, bodyEnd }: Body): RawPage | undefined {
  const plain = readPlainList(bytes, { at: bodyAt, end: bodyEnd }, KINDS[kind]);
  return plain && { ...plain.result, items: plain.items };
}

/** Reads the entries in slices, and then what stands beside the list. */
async function scanPage(kind: Kind, { bytes, bodyAt }: Body): Promise<RawPage> {
  const { list, key } = KINDS[kind];
  let listAt = -1;
  readMembers(bytes, bodyAt, (_, value, nameAt, nameEnd) => {
    if (!keyIs(bytes, nameAt, nameEnd, list)) return skipValue(bytes, value);
    listAt = value;
    return -1;
  });
  const { items, end, isCut } = await readSliced(bytes, listAt, key);
  if (isCut) return { items, isCut };
  const result = readMembers(bytes, bodyAt, (_, value) => (value === listAt ? end : skipValue(bytes, value)));
  if (result === undefined || end < 0) return { items: undefined };
  return {
    items,
    ttlMs: Number(valueText(result, 'ttlMs') ?? 0),
    cacheScope: stringValue(result, 'cacheScope'),
    nextCursor: stringValue(result, 'nextCursor'),
  };
}

/** `end` is the index after the list, -1 where there is none. Long lists are cut. */
async function readSliced(
  bytes: Buffer,
  at: number,
  key: string,
): Promise<{ items: (Listed | undefined)[]; end: number; isCut: boolean }> {
  const items: (Listed | undefined)[] = [];
  const walk = new ArrayWalk(bytes, at);
  await workThrough('lists', () => {
    if (walk.at < 0 || items.length === MOST_LISTED) return false;
    const start = walk.at;
    const { item, end } = readElement(bytes, start, key);
    items.push(item);
    walk.advance(end);
    spend(0, Math.max(0, end - start));
    return true;
  });
  return { items, end: walk.end, isCut: walk.at >= 0 };
}

function readElement(bytes: Buffer, start: number, key: string): { item: Listed | undefined; end: number } {
  const members = readMembers(bytes, start, skipValue, NATIVE_SEARCH_SOON);
  return { item: members && listed(members, key), end: members?.end ?? skipValue(bytes, start) };
}

/** Reads one definition on its own; undefined where it has no usable name. */
export function readItem(definition: Buffer, key: string): Listed | undefined {
  const members = readMembers(definition, 0);
  return members && listed(members, key);
}

function listed(members: Members, key: string): Listed | undefined {
  const plain = hasAmbiguousKeys(members) ? readMembers(unambiguousObject(members), 0) : members;
  const m = plain === undefined ? -1 : findMember(plain, key);
  if (plain === undefined || m < 0) return undefined;
  const { bytes: page, at, end, flat } = plain;
  const keyAt = flat[m + 2] as number;
  const keyEnd = flat[m + 3] as number;
  const text = readString(page, keyAt, keyEnd);
  return text === undefined || text === '' ? undefined : { key: text, page, at, end, keyAt, keyEnd };
}
