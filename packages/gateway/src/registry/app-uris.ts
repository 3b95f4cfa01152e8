import type { Listed, Listing } from '../upstream/catalogue/catalogue.ts';
import { findMember, objectValue, readMembers, readString, type Members } from '../wire/json/members.ts';

/** Position of the URI of an app resource in a tool's definition; `start` and `end` include the quotes. */
export interface AppUri {
  readonly uri: string;
  readonly start: number;
  readonly end: number;
}

/** In `_meta`: the key of the Apps extension before it got an object of its own, and that of another host. */
const FLAT_KEYS: readonly string[] = ['ui/resourceUri', 'openai/outputTemplate'];

/** Bytes that every definition with an app contains, so that most definitions need no parsing. */
const HINTS: readonly Buffer[] = ['resourceUri"', 'openai/outputTemplate"'].map((hint) => Buffer.from(hint));

/** Pages in which such a hint stands somewhere: one search through a page costs less than one through each tool. */
const hinted = new WeakMap<Buffer, boolean>();

/** URIs found per list. Cached, because lists are immutable and every rebuild of the registry reads them. */
const found = new WeakMap<Listing, readonly AppUri[]>();

/** Returns the cached URIs of all tools of a server. */
export function allAppUris(tools: Listing): readonly AppUri[] {
  return found.get(tools) ?? [];
}

/** Returns false where no page of a list has a hint, which is so for nearly all of them. */
export function mayHaveApps({ items }: Listing): boolean {
  let page: Buffer | undefined;
  for (let index = 0; index < items.length; index++) {
    const next = (items[index] as Listed).page;
    // Tools of one page follow one another.
    if (next === page) continue;
    if (hasHint(next)) return true;
    page = next;
  }
  return false;
}

/** Reads the URIs of all tools, one tool at each step. */
export function* readAppUris(tools: Listing): Generator<void, void> {
  if (found.has(tools)) return;
  const uris: AppUri[] = [];
  for (const tool of tools.items) {
    uris.push(...appUris(tool));
    yield;
  }
  found.set(tools, uris);
}

/** The URIs in a tool's `_meta` that lead to resources of the same server. */
export function appUris({ page, at, end }: Listed): AppUri[] {
  if (!hasHint(page) || !HINTS.some((hint) => page.subarray(at, end).includes(hint))) return [];
  const tool = readMembers(page, at);
  const meta = tool && objectValue(tool, '_meta');
  if (meta === undefined) return [];
  const ui = objectValue(meta, 'ui');
  const uris = [ui && uriAt(ui, 'resourceUri'), ...FLAT_KEYS.map((key) => uriAt(meta, key))];
  return uris.filter((appUri) => appUri !== undefined);
}

function hasHint(page: Buffer): boolean {
  const isHinted = hinted.get(page) ?? HINTS.some((hint) => page.includes(hint));
  hinted.set(page, isHinted);
  return isHinted;
}

function uriAt(members: Members, key: string): AppUri | undefined {
  const m = findMember(members, key);
  if (m < 0) return undefined;
  const start = members.flat[m + 2] as number;
  const end = members.flat[m + 3] as number;
  const uri = readString(members.bytes, start, end);
  return uri === undefined ? undefined : { uri, start, end };
}
