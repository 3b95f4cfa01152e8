import type { ServerConfig } from '../config/config.generated.ts';
import {
  ALL_KINDS,
  KINDS,
  NOTHING,
  strictest,
  type CacheHints,
  type Catalogue,
  type Kind,
  type Listing,
} from '../upstream/catalogue.ts';
import type { Upstream } from '../upstream/upstream.ts';
import { encode } from '../wire/splice.ts';
import { allAppUris } from './apps.ts';
import { NameBook, type Collision, type NameRules } from './name-book.ts';
import type { Owner } from './names.ts';
import { Pages } from './pages.ts';
import { ToolFilters, type HeldBack, type UnmatchedPattern } from './tool-filters.ts';
import { addServerTools, removeServerTools, Route } from './tool-registry.ts';
import { UriBook, type CoveringTemplate } from './uri-book.ts';

type Routes = Map<string, Route>;

/** All catalogues under their public names at one moment. It is never changed, only replaced. */
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
  readonly client: Upstream;
  /** The server's own URI as JSON. */
  readonly originalText: string;
}

/** A public name that another server has now. */
interface PassedOn {
  readonly publicName: string;
  readonly from: Owner;
  readonly to: Owner;
}

export interface RegistryEvents {
  collided(kind: Kind, collision: Collision): void;
  passedOn(kind: Kind, passed: PassedOn): void;
  /** A template covers what another server lists. */
  covering(template: CoveringTemplate): void;
  /** A filter names a tool that its server does not list. */
  unmatched(pattern: UnmatchedPattern): void;
}

/** A server, and what of its lists is offered. */
interface Offer {
  readonly upstream: Upstream;
  readonly serverKey: string;
  readonly catalogue: Catalogue;
}

/** The routes of one list of a server, and what they were made of beside that list. */
interface Part {
  readonly upstream: Upstream;
  readonly stamp: number;
  readonly routes: Routes;
}

/** Makes registries, and remembers which names and URIs have been seen since the gateway started. */
export class RegistryBuilder {
  readonly books: Readonly<Record<'tools' | 'prompts', NameBook>>;
  readonly uris: UriBook;
  readonly #on: RegistryEvents;
  readonly #filters: ToolFilters;
  /** What each server listed when its names were last entered. */
  readonly #noted = new Map<string, Catalogue>();
  /** Made anew only where a list, or what its names depend on, has changed. */
  readonly #parts = new WeakMap<Listing, Part>();

  constructor(rules: NameRules, on: RegistryEvents) {
    const book = (kind: Kind): NameBook =>
      new NameBook(rules, (publicName, from, to) => on.passedOn(kind, { publicName, from, to }));
    this.books = { tools: book('tools'), prompts: book('prompts') };
    this.uris = new UriBook(rules.order, (template) => on.covering(template));
    this.#on = on;
    this.#filters = new ToolFilters((pattern) => on.unmatched(pattern));
  }

  /** Goes over to the filters of another config; returns true where one differs. */
  filter(servers: Readonly<Record<string, ServerConfig>>): boolean {
    const isChanged = this.#filters.use(servers);
    if (!isChanged) return false;
    this.books.tools.release((owner) => this.heldBackBy(owner) !== undefined);
    return true;
  }

  /** Returns the key in a server's entry that holds a tool of this name back, listed or not. */
  heldBackBy(tool: Owner): string | undefined {
    return this.#filters.heldBackBy(tool);
  }

  /** Returns the tool that is held back and that this name would otherwise lead to. */
  heldBack(alias: string): HeldBack | undefined {
    return this.#filters.meant(alias, this.books.tools.claimOf(alias));
  }

  /** The servers of another config, in its order: what those that are not in it have had is free again. */
  meant(serverKeys: readonly string[]): void {
    for (const book of Object.values(this.books)) book.meant(serverKeys);
    this.uris.meant(this.books.tools.rules.order);
    for (const key of this.#noted.keys()) if (!this.books.tools.isConfigured(key)) this.#noted.delete(key);
  }

  /** From the running servers, in the order of the config. */
  build(upstreams: readonly Upstream[]): Registry {
    const offers = upstreams.map((upstream): Offer => {
      const catalogue = this.#filters.catalogueOf(upstream);
      return { upstream, serverKey: upstream.serverKey, catalogue };
    });
    this.#note(offers);
    const routes = {
      tools: this.#joined('tools', offers),
      prompts: this.#joined('prompts', offers),
      resources: this.#joined('resources', offers),
      templates: this.#joined('templates', offers),
    };
    return publish(routes, this.#apps(offers, routes.resources), upstreams);
  }

  /** The same without one server. */
  without(registry: Registry, serverKey: string): Registry {
    const routes = Object.fromEntries(
      ALL_KINDS.map((kind) => {
        const rest = new Map(registry[kind]);
        removeServerTools(rest, serverKey);
        return [kind, rest];
      }),
    ) as Record<Kind, Routes>;
    const apps = [...registry.apps].filter(([, { client }]) => client.serverKey !== serverKey);
    return publish(
      routes,
      new Map(apps),
      [...registry.upstreams.values()].filter((upstream) => upstream.serverKey !== serverKey),
    );
  }

  /** The same with the tools and resources of the gateway's own server; what servers list stays as it is. */
  withOwn(registry: Registry, own: Upstream): Registry {
    const { serverKey, catalogue } = own;
    const { tools, resources } = catalogue;
    if (tools.items.length === 0 && resources.items.length === 0) return registry;
    const routes = { tools: new Map(registry.tools), resources: new Map(registry.resources) };
    for (const tool of tools.items) {
      const publicName = this.books.tools.freeName(serverKey, tool.key);
      routes.tools.set(publicName, new Route(own, tool, { serverKey, publicName }));
    }
    for (const resource of resources.items) {
      const publicName = resource.key;
      if (!routes.resources.has(publicName))
        routes.resources.set(publicName, new Route(own, resource, { serverKey, publicName }));
    }
    const upstreams = [...registry.upstreams.values(), own];
    const pages = {
      ...registry.pages,
      tools: pagesOf('tools', routes.tools, upstreams),
      resources: pagesOf('resources', routes.resources, upstreams),
    };
    return { ...registry, ...routes, pages };
  }

  /** Enters what has changed since the last time: who has listed which names and URIs. */
  #note(offers: readonly Offer[]): void {
    const changed = offers.filter(({ serverKey, catalogue }) => {
      const noted = this.#noted.get(serverKey);
      return ALL_KINDS.some((kind) => noted?.[kind] !== catalogue[kind]);
    });
    for (const { serverKey, catalogue } of changed) this.#noteUris(serverKey, catalogue);
    for (const kind of ['tools', 'prompts'] as const) {
      for (const { serverKey, catalogue } of changed) this.#noteNames(kind, serverKey, catalogue[kind]);
    }
    for (const { serverKey, catalogue } of changed) this.#noted.set(serverKey, catalogue);
  }

  /** Who is called exactly so keeps the name, in whatever order a server lists what becomes equal. */
  #noteNames(kind: 'tools' | 'prompts', serverKey: string, listing: Listing): void {
    if (listing === NOTHING || listing === this.#noted.get(serverKey)?.[kind]) return;
    const book = this.books[kind];
    for (const { key } of listing.items) book.assignExact(serverKey, key);
    book.listed(serverKey, new Set(listing.items.map(({ key }) => key)));
  }

  #noteUris(serverKey: string, { resources, templates, tools }: Catalogue): void {
    const noted = this.#noted.get(serverKey);
    const isSame = noted?.resources === resources && noted.templates === templates && noted.tools === tools;
    if (isSame || (resources === NOTHING && templates === NOTHING && tools === NOTHING)) return;
    const apps = allAppUris(tools).map(({ uri }) => uri);
    const items = [...resources.items, ...templates.items];
    if (noted === undefined && items.length + apps.length === 0) return;
    this.uris.listed(serverKey, new Set([...items.map(({ key }) => key), ...apps]));
  }

  #joined(kind: Kind, offers: readonly Offer[]): Routes {
    const parts = offers.map((offer) => this.#part(kind, offer)).filter(({ size }) => size > 0);
    const [first = new Map<string, Route>(), ...others] = parts;
    if (others.length === 0) return first;
    const joined: Routes = new Map(first);
    for (const part of others) for (const [publicName, route] of part) joined.set(publicName, route);
    return joined;
  }

  /** Returns the routes of one list. They are made anew where a name is held back: it may be free by now. */
  #part(kind: Kind, offer: Offer): Routes {
    const { upstream, serverKey, catalogue } = offer;
    const listing = catalogue[kind];
    const known = this.#parts.get(listing);
    const stamp = this.#stamp(kind, serverKey);
    if (known?.upstream === upstream && known.stamp === stamp && known.routes.size === listing.items.length)
      return known.routes;
    const routes =
      kind === 'tools' || kind === 'prompts' ? this.#named(kind, offer) : this.#located(kind, offer);
    if (listing !== NOTHING) this.#parts.set(listing, { upstream, stamp, routes });
    return routes;
  }

  /** Returns a number that differs once the routes of a server's list have to be made anew. */
  #stamp(kind: Kind, serverKey: string): number {
    if (kind === 'prompts') return this.books.prompts.lossesOf(serverKey);
    const shares = this.uris.sharesOf(serverKey);
    return kind === 'tools' ? this.books.tools.lossesOf(serverKey) + shares : shares;
  }

  #named(kind: 'tools' | 'prompts', { upstream, serverKey, catalogue }: Offer): Routes {
    const nameOf = (key: string, name: string): string | undefined => {
      const assigned = this.books[kind].assign(key, name);
      if (typeof assigned === 'string') return assigned;
      this.#on.collided(kind, assigned);
      return undefined;
    };
    const uriOf = (key: string, uri: string): string | undefined => this.uris.sharedUri(key, uri);
    const renamesUris = kind === 'tools' && this.uris.sharesUris(serverKey);
    const routes: Routes = new Map();
    const naming = { nameOf, uriOf: renamesUris ? uriOf : undefined };
    addServerTools(routes, serverKey, upstream, catalogue[kind].items, naming);
    return routes;
  }

  #located(kind: 'resources' | 'templates', { upstream, serverKey, catalogue }: Offer): Routes {
    const routes: Routes = new Map();
    for (const item of catalogue[kind].items) {
      const uri = this.uris.publicUri(serverKey, item.key);
      routes.set(uri, new Route(upstream, item, { serverKey, publicName: uri }));
    }
    return routes;
  }

  #apps(offers: readonly Offer[], listed: Routes): Map<string, AppResource> {
    const apps = new Map<string, AppResource>();
    for (const { upstream: client, serverKey, catalogue } of offers) {
      for (const { uri } of allAppUris(catalogue.tools)) {
        const publicUri = this.uris.publicUri(serverKey, uri);
        if (!listed.has(publicUri)) apps.set(publicUri, { client, originalText: encode(uri) });
      }
    }
    return apps;
  }
}

function publish(
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

function pagesOf(kind: Kind, routes: Routes, upstreams: readonly Upstream[]): Pages {
  return new Pages(kind, routes, hintsOf(kind, upstreams));
}

/** True where clients see two lists alike: equal definitions under equal names, in one order. */
export function isSameList(one: ReadonlyMap<string, Route>, other: ReadonlyMap<string, Route>): boolean {
  if (one.size !== other.size) return false;
  const others = [...other.values()];
  return [...one.values()].every((route, index) => route.isLike(others[index] as Route));
}

function hintsOf(kind: Kind, upstreams: readonly Upstream[]): CacheHints {
  const listing = upstreams.filter(({ capabilities }) => capabilities[KINDS[kind].capability] !== undefined);
  if (listing.length === 0) return { ttlMs: 0, cacheScope: 'private' };
  return listing.map(({ catalogue }): CacheHints => catalogue[kind]).reduce(strictest);
}
