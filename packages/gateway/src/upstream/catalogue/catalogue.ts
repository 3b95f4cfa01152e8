/** The four kinds of things that servers list. */
export const KINDS = {
  tools: { method: 'tools/list', list: 'tools', key: 'name', capability: 'tools' },
  prompts: { method: 'prompts/list', list: 'prompts', key: 'name', capability: 'prompts' },
  resources: { method: 'resources/list', list: 'resources', key: 'uri', capability: 'resources' },
  templates: {
    method: 'resources/templates/list',
    list: 'resourceTemplates',
    key: 'uriTemplate',
    capability: 'resources',
  },
} as const;
export type Kind = keyof typeof KINDS;
export const ALL_KINDS: readonly Kind[] = ['tools', 'prompts', 'resources', 'templates'];

/** One listed thing: where in the page that the server sent its definition stands, and in it the name or URI with quotes. */
export interface Listed {
  readonly key: string;
  readonly page: Buffer;
  readonly at: number;
  readonly end: number;
  readonly keyAt: number;
  readonly keyEnd: number;
  /** The name that its server gives a tool, where the config renames it to `key`. */
  readonly ownKey?: string;
  /** The description that the config gives a tool. */
  readonly description?: string | undefined;
}

/** The definition as the server wrote it. */
export function definitionOf({ page, at, end }: Listed): Buffer {
  return page.subarray(at, end);
}

/** Time and scope for which a list may be cached, as the modern era sends them with every list. */
export interface CacheHints {
  readonly ttlMs: number;
  readonly cacheScope: 'public' | 'private';
}

export interface Listing extends CacheHints {
  readonly items: readonly Listed[];
}

/** Lists of one server. */
export type Catalogue = Readonly<Record<Kind, Listing>>;

/** The list of a server that has not been asked yet. */
export const NOTHING: Listing = { items: [], ttlMs: 0, cacheScope: 'private' };
/** Lists of a server that has not been asked yet. */
export const NO_LISTS: Catalogue = {
  tools: NOTHING,
  prompts: NOTHING,
  resources: NOTHING,
  templates: NOTHING,
};

/** The kinds of which there is anything. */
export function listedKinds(catalogue: Catalogue): Kind[] {
  return ALL_KINDS.filter((kind) => catalogue[kind].items.length > 0);
}

/** Describes the number of entries of each kind. */
export function countsOf(catalogue: Catalogue): string {
  const counts = listedKinds(catalogue).map((kind) => {
    const { length } = catalogue[kind].items;
    return `${length} ${length === 1 ? kind.slice(0, -1) : kind}`;
  });
  return counts.join(', ') || 'nothing';
}

/** The definitions as a program reads them. */
export function readTools({ tools }: Catalogue): ToolSchema[] {
  return tools.items.map((item) => JSON.parse(definitionOf(item).toString('utf8')) as ToolSchema);
}

/** Compares definitions byte by byte, because parsing costs more and may lose a difference. */
export function isSameListing(one: Listing, other: Listing): boolean {
  if (one.items.length !== other.items.length) return false;
  return one.items.every((item, index) =>
    definitionOf(item).equals(definitionOf(other.items[index] as Listed)),
  );
}

/** Puts what an earlier list has in the order of that list; what is new follows. Hosts cache prompts by this order. */
export function inOrderOf(earlier: Listing, later: Listing): Listing {
  if (earlier.items.length === 0) return later;
  const added = new Map(later.items.map((item) => [item.key, item]));
  const items: Listed[] = [];
  for (const { key } of earlier.items) {
    const item = added.get(key);
    if (item === undefined) continue;
    items.push(item);
    added.delete(key);
  }
  return { ...later, items: [...items, ...added.values()] };
}

/** Of hints that come from several lists the strictest holds. */
export function strictest(a: CacheHints, b: CacheHints): CacheHints {
  const isPrivate = a.cacheScope === 'private' || b.cacheScope === 'private';
  return { ttlMs: Math.min(a.ttlMs, b.ttlMs), cacheScope: isPrivate ? 'private' : 'public' };
}

export interface JSONSchema {
  type: string;
  properties?: Record<string, unknown>;
  required?: string[];
  [key: string]: unknown;
}

/** A tool as servers list it, with whatever else its definition holds. */
export interface ToolSchema {
  name: string;
  description?: string;
  inputSchema: JSONSchema;
}
