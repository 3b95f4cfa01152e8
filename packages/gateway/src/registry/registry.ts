import { ALL_KINDS, KINDS, strictest, type CacheHints, type Kind } from '../upstream/catalogue/catalogue.ts';
import type { Upstream } from '../upstream/upstream.ts';
import type { Group } from './group.ts';
import { Pages } from './pages.ts';
import type { Route } from './route.ts';

/** Entries of one kind by public name or URI. */
export type Routes = Map<string, Route>;

/** All catalogues under their public names at one moment. Immutable: a change builds a new one. */
export interface Registry {
  readonly tools: ReadonlyMap<string, Route>;
  readonly prompts: ReadonlyMap<string, Route>;
  readonly resources: ReadonlyMap<string, Route>;
  readonly templates: ReadonlyMap<string, Route>;
  /** The resources that tools name as their apps and that no server lists, by public URI. */
  readonly apps: ReadonlyMap<string, AppResource>;
  readonly pages: Readonly<Record<Kind, Pages>>;
  /** The configured servers; the gateway's own server is not one of them. */
  readonly upstreams: ReadonlyMap<string, Upstream>;
}

export interface AppResource {
  readonly upstream: Upstream;
  /** The server's own URI as JSON. */
  readonly originalText: string;
}

/** Creates a registry from these routes. */
export function publish(
  routes: Record<Kind, Routes>,
  apps: Registry['apps'],
  upstreams: readonly Upstream[],
): Registry {
  const pages = Object.fromEntries(
    ALL_KINDS.map((kind) => [kind, pagesOf(kind, routes[kind], upstreams)]),
  ) as Record<Kind, Pages>;
  return {
    ...routes,
    apps,
    pages,
    upstreams: new Map(upstreams.map((upstream) => [upstream.serverKey, upstream])),
  };
}

export function pagesOf(kind: Kind, routes: Routes, upstreams: readonly Upstream[]): Pages {
  return new Pages(kind, routes, hintsOf(kind, upstreams));
}

function hintsOf(kind: Kind, upstreams: readonly Upstream[]): CacheHints {
  const listing = upstreams.filter(({ capabilities }) => capabilities[KINDS[kind].capability] !== undefined);
  if (listing.length === 0) return { ttlMs: 0, cacheScope: 'private' };
  return listing.map(({ catalogue }): CacheHints => catalogue[kind]).reduce(strictest);
}

/** Returns the part of a registry that a group has: tools by name, all else of whole servers. */
export function narrow(registry: Registry, group: Group): Registry {
  const isWhole = ({ serverKey }: { readonly serverKey: string }): boolean => group.isWhole(serverKey);
  const routes = {
    tools: partOf(registry.tools, ({ serverKey, originalName: name }) => group.hasTool({ serverKey, name })),
    prompts: partOf(registry.prompts, isWhole),
    resources: partOf(registry.resources, isWhole),
    templates: partOf(registry.templates, isWhole),
  };
  const apps = partOf(registry.apps, ({ upstream }) => isWhole(upstream));
  const upstreams = [...registry.upstreams.values()];
  return publish(
    routes,
    apps,
    upstreams.filter(({ serverKey }) => group.hasServer(serverKey)),
  );
}

function partOf<Entry>(
  entries: ReadonlyMap<string, Entry>,
  has: (entry: Entry) => boolean,
): Map<string, Entry> {
  const part = new Map<string, Entry>();
  // By `forEach`, which makes no array of each entry.
  entries.forEach((entry, name) => has(entry) && part.set(name, entry));
  return part;
}

/** Returns the kinds of which two registries list something different: another server, name, definition or order. */
export function changedKinds(before: Registry, after: Registry): Kind[] {
  return ALL_KINDS.filter((kind) => !isEqual([...before[kind].values()], [...after[kind].values()]));
}

function isEqual(one: readonly Route[], other: readonly Route[]): boolean {
  return (
    one.length === other.length &&
    one.every((route, index) => route === other[index] || route.isEqual(other[index] as Route))
  );
}

/** True where clients see two lists alike: equal definitions under equal names, in one order. */
export function isSameList(one: ReadonlyMap<string, Route>, other: ReadonlyMap<string, Route>): boolean {
  if (one.size !== other.size) return false;
  const others = [...other.values()];
  return [...one.values()].every((route, index) => route.isLike(others[index] as Route));
}
