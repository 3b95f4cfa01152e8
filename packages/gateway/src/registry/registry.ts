import type { ServerConfig } from '../config/config.generated.ts';
import {
  ALL_KINDS,
  KINDS,
  strictest,
  type CacheHints,
  type Catalogue,
  type Kind,
} from '../upstream/catalogue.ts';
import type { Upstream } from '../upstream/upstream.ts';
import { encode } from '../wire/splice.ts';
import { allAppUris } from './apps.ts';
import { aliasesOf, NameBook, type Collision, type NameRules, type Owner } from './name-book.ts';
import { joinName } from './names.ts';
import { Pages } from './pages.ts';
import { ToolFilters, type UnmatchedPattern } from './tool-filters.ts';
import { addServerTools, removeServerTools, Route } from './tool-registry.ts';
import { INSTRUCTIONS, joinUri, splitUri } from './uris.ts';

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
  /** A filter names a tool that its server does not list. */
  unmatched(pattern: UnmatchedPattern): void;
}

/** A server, and what of its lists is offered. */
interface Offer {
  readonly upstream: Upstream;
  readonly serverKey: string;
  readonly catalogue: Catalogue;
}

/** A tool that a filter holds back, and the key of its server's entry that does so. */
export interface HeldBack extends Owner {
  readonly key: string;
}

/** Makes registries, and remembers which names and URIs have been seen since the gateway started. */
export class RegistryBuilder {
  readonly books: Readonly<Record<'tools' | 'prompts', NameBook>>;
  readonly #listers = new Map<string, Set<string>>();
  readonly #sharers = new Map<string, Set<string>>();
  #shares = 0;
  readonly #on: RegistryEvents;
  readonly #filters: ToolFilters;
  /** By every name under which a call would reach them. Made when a name leads nowhere. */
  #heldBack: ReadonlyMap<string, HeldBack> | undefined;

  constructor(rules: NameRules, on: RegistryEvents) {
    const book = (kind: Kind): NameBook =>
      new NameBook(rules, (publicName, from, to) => on.passedOn(kind, { publicName, from, to }));
    this.books = { tools: book('tools'), prompts: book('prompts') };
    this.#on = on;
    this.#filters = new ToolFilters((pattern) => on.unmatched(pattern));
  }

  /** Goes over to the filters of another config; returns true where one differs. */
  filter(servers: Readonly<Record<string, ServerConfig>>): boolean {
    const isChanged = this.#filters.use(servers);
    if (!isChanged) return false;
    this.#heldBack = undefined;
    this.books.tools.release((owner) => this.heldBackBy(owner) !== undefined);
    return true;
  }

  /** Returns the key in a server's entry that holds a tool of this name back, listed or not. */
  heldBackBy(tool: Owner): string | undefined {
    return this.#filters.heldBackBy(tool);
  }

  /** Returns the tool that is held back and that this name would otherwise lead to. */
  heldBack(alias: string): HeldBack | undefined {
    this.#heldBack ??= this.#collectHeldBack();
    return this.#heldBack.get(alias);
  }

  /** The servers of another config, in its order: what those that are not in it have had is free again. */
  meant(serverKeys: readonly string[]): void {
    const meant = new Set(serverKeys);
    for (const book of Object.values(this.books)) book.meant(serverKeys);
    for (const [uri, listers] of this.#listers) {
      for (const lister of listers) if (!meant.has(lister)) listers.delete(lister);
      if (listers.size === 0) this.#listers.delete(uri);
    }
  }

  /** From the running servers, in the order of the config. */
  build(upstreams: readonly Upstream[]): Registry {
    const offers = upstreams.map((upstream): Offer => {
      const catalogue = this.#filters.catalogueOf(upstream);
      return { upstream, serverKey: upstream.serverKey, catalogue };
    });
    this.#heldBack = undefined;
    for (const offer of offers) this.#note(offer);
    const routes = {
      tools: this.#named('tools', offers),
      prompts: this.#named('prompts', offers),
      resources: this.#located('resources', offers),
      templates: this.#located('templates', offers),
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

  publicUri(serverKey: string, uri: string): string {
    return this.sharedUri(serverKey, uri) ?? uri;
  }

  /** The URI of a server's own for what several servers have listed; undefined where a URI has one owner. */
  sharedUri(serverKey: string, uri: string): string | undefined {
    return this.#sharers.get(serverKey)?.has(uri) ? joinUri(serverKey, uri) : undefined;
  }

  /** How many URIs servers have of their own for what they share; never fewer than before. */
  get shares(): number {
    return this.#shares;
  }

  /** The servers that have listed a URI since the gateway started. */
  listersOf(uri: string): readonly string[] {
    return [...(this.#listers.get(uri) ?? [])];
  }

  sharesUris(serverKey: string): boolean {
    return this.#sharers.has(serverKey);
  }

  #named(kind: 'tools' | 'prompts', offers: readonly Offer[]): Routes {
    const routes: Routes = new Map();
    const nameOf = (serverKey: string, name: string): string | undefined => {
      const assigned = this.books[kind].assign(serverKey, name);
      if (typeof assigned === 'string') return assigned;
      this.#on.collided(kind, assigned);
      return undefined;
    };
    const uriOf = (serverKey: string, uri: string): string | undefined => this.sharedUri(serverKey, uri);
    this.#assignExact(kind, offers);
    for (const { upstream, serverKey, catalogue } of offers) {
      const naming = { nameOf, uriOf: kind === 'tools' && this.sharesUris(serverKey) ? uriOf : undefined };
      addServerTools(routes, serverKey, upstream, catalogue[kind].items, naming);
    }
    return routes;
  }

  /** Who is called exactly so keeps the name, in whatever order a server lists what becomes equal. */
  #assignExact(kind: 'tools' | 'prompts', offers: readonly Offer[]): void {
    const book = this.books[kind];
    for (const { serverKey, catalogue } of offers) {
      for (const { key } of catalogue[kind].items) book.assignExact(serverKey, key);
    }
  }

  #located(kind: 'resources' | 'templates', offers: readonly Offer[]): Routes {
    const routes: Routes = new Map();
    for (const { upstream, serverKey, catalogue } of offers) {
      for (const item of catalogue[kind].items) {
        const uri = this.publicUri(serverKey, item.key);
        routes.set(uri, new Route(upstream, item, { serverKey, publicName: uri }));
      }
    }
    return routes;
  }

  #apps(offers: readonly Offer[], listed: Routes): Map<string, AppResource> {
    const apps = new Map<string, AppResource>();
    for (const { upstream: client, serverKey, catalogue } of offers) {
      for (const { uri } of allAppUris(catalogue.tools)) {
        const publicUri = this.publicUri(serverKey, uri);
        if (!listed.has(publicUri)) apps.set(publicUri, { client, originalText: encode(uri) });
      }
    }
    return apps;
  }

  /** Remembers who listed what: once a URI has several owners it stays theirs under separate URIs. */
  #note({ serverKey, catalogue: { resources, templates, tools } }: Offer): void {
    for (const { key } of [...resources.items, ...templates.items]) this.#noteUri(serverKey, key);
    for (const { uri } of allAppUris(tools)) this.#noteUri(serverKey, uri);
  }

  #collectHeldBack(): Map<string, HeldBack> {
    const { separator } = this.books.tools.rules;
    const found = new Map<string, HeldBack>();
    for (const owner of this.#filters.heldBack()) {
      const { serverKey, name } = owner;
      const heldBack = { ...owner, key: this.heldBackBy(owner) ?? '' };
      const names = [`${serverKey}${separator}${name}`, joinName(serverKey, name, separator)];
      for (const alias of [...aliasesOf(owner), ...names]) found.set(alias, heldBack);
    }
    return found;
  }

  #noteUri(lister: string, uri: string): void {
    const listers = this.#listers.get(uri) ?? new Set<string>();
    this.#listers.set(uri, listers.add(lister));
    if (listers.size > 1) for (const serverKey of listers) this.#share(serverKey, uri);
    else if (this.#isOfOurForm(uri)) this.#share(lister, uri);
  }

  /** Whoever lists such a URI might be taken for the server that it names. */
  #isOfOurForm(uri: string): boolean {
    const named = splitUri(uri)?.serverKey;
    return named !== undefined && (named === INSTRUCTIONS || this.books.tools.rules.order.includes(named));
  }

  #share(serverKey: string, uri: string): void {
    const shared = this.#sharers.get(serverKey) ?? new Set<string>();
    if (!shared.has(uri)) this.#shares++;
    this.#sharers.set(serverKey, shared.add(uri));
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
