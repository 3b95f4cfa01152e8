import { canonicalObject } from '../wire/canonical.ts';
import type { Message } from '../wire/message.ts';
import { findMember, isOdd, readElements, readMembers, readString, stringValue, valueText } from '../wire/scan.ts';
import { encode } from '../wire/splice.ts';

/** The four kinds of things that servers list. */
export const KINDS = {
  tools: { method: 'tools/list', list: 'tools', key: 'name', capability: 'tools' },
  prompts: { method: 'prompts/list', list: 'prompts', key: 'name', capability: 'prompts' },
  resources: { method: 'resources/list', list: 'resources', key: 'uri', capability: 'resources' },
  templates: { method: 'resources/templates/list', list: 'resourceTemplates', key: 'uriTemplate', capability: 'resources' },
} as const;
export type Kind = keyof typeof KINDS;
export const ALL_KINDS: readonly Kind[] = ['tools', 'prompts', 'resources', 'templates'];

/** One listed thing: its definition as the server wrote it, and where in it the name or URI stands, quotes included. */
export interface Listed {
  readonly key: string;
  readonly bytes: Buffer;
  readonly keyAt: number;
  readonly keyEnd: number;
}

/** How long and by whom a list may be kept, as the modern era says with every list. */
export interface CacheHints {
  readonly ttlMs: number;
  readonly cacheScope: 'public' | 'private';
}

export interface Listing extends CacheHints {
  readonly items: readonly Listed[];
}

/** Of hints that come from several lists the strictest holds. */
export function strictest(a: CacheHints, b: CacheHints): CacheHints {
  const isPrivate = a.cacheScope === 'private' || b.cacheScope === 'private';
  return { ttlMs: Math.min(a.ttlMs, b.ttlMs), cacheScope: isPrivate ? 'private' : 'public' };
}

export interface ListOptions {
  /** The members of `_meta` that the server's era asks for. */
  readonly meta: string;
  ask(method: string, params: string): Promise<Message>;
  warn(text: string): void;
}

/** Reads all pages of a list. What cannot be used is left out and named; the rest stands. */
export async function readList(kind: Kind, { meta, ask, warn }: ListOptions): Promise<Listing> {
  const found = new Map<string, Listed>();
  const cursors = new Set<string>();
  let hints: CacheHints = { ttlMs: Number.MAX_SAFE_INTEGER, cacheScope: 'public' };
  for (let cursor: string | undefined; ; ) {
    const params = [meta && `"_meta":{${meta}}`, cursor !== undefined && `"cursor":${encode(cursor)}`];
    const page = readPage(kind, await ask(KINDS[kind].method, `{${params.filter(Boolean).join(',')}}`), warn);
    hints = strictest(hints, page);
    for (const item of page.items) {
      if (found.has(item.key)) warn(`lists ${JSON.stringify(item.key)} twice among its ${kind}; the first one stays`);
      else found.set(item.key, item);
    }
    cursor = page.nextCursor;
    if (cursor === undefined) return { ...hints, items: [...found.values()] };
    if (cursors.has(cursor)) {
      warn(`repeats a page of its ${kind} without end; what came until then stays`);
      return { ...hints, items: [...found.values()] };
    }
    cursors.add(cursor);
  }
}

interface Page extends Listing {
  readonly nextCursor: string | undefined;
}

const NO_HINTS: CacheHints = { ttlMs: 0, cacheScope: 'private' };

function readPage(kind: Kind, answer: Message, warn: (text: string) => void): Page {
  const result = readMembers(answer.bytes, answer.bodyAt);
  const list = result === undefined ? -1 : findMember(result, KINDS[kind].list);
  const spans = result === undefined || list < 0 ? undefined : readElements(answer.bytes, result.flat[list + 2] as number);
  if (result === undefined || spans === undefined) {
    warn(`answered ${KINDS[kind].method} without a list of ${kind}`);
    return { ...NO_HINTS, items: [], nextCursor: undefined };
  }
  const items: Listed[] = [];
  for (let s = 0; s < spans.length; s += 2) {
    const item = readItem(answer.bytes.subarray(spans[s], spans[s + 1]), KINDS[kind].key);
    if (item === undefined) warn(`lists something without a ${KINDS[kind].key} among its ${kind}; it is left out`);
    else items.push(item);
  }
  const ttlMs = Number(valueText(result, 'ttlMs') ?? 0);
  return {
    items,
    ttlMs: Number.isSafeInteger(ttlMs) && ttlMs >= 0 ? ttlMs : 0,
    cacheScope: stringValue(result, 'cacheScope') === 'public' ? 'public' : 'private',
    nextCursor: stringValue(result, 'nextCursor'),
  };
}

/** Reads one definition; undefined where it has no usable name. */
export function readItem(definition: Buffer, key: string): Listed | undefined {
  const read = readMembers(definition, 0);
  const members = read !== undefined && isOdd(read) ? readMembers(canonicalObject(read), 0) : read;
  const m = members === undefined ? -1 : findMember(members, key);
  if (members === undefined || m < 0) return undefined;
  const { bytes, flat } = members;
  const keyAt = flat[m + 2] as number;
  const keyEnd = flat[m + 3] as number;
  const text = readString(bytes, keyAt, keyEnd);
  return text === undefined ? undefined : { key: text, bytes, keyAt, keyEnd };
}
