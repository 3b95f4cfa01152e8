import type { ServerConfig } from '../config/config.generated.ts';
import {
  ALL_KINDS,
  NOTHING,
  type Catalogue,
  type Kind,
  type Listing,
} from '../upstream/catalogue/catalogue.ts';
import type { Upstream } from '../upstream/upstream.ts';
import type { Account } from '../wire/account.ts';
import { encode } from '../wire/json/splice.ts';
import { workThrough } from '../wire/slices.ts';
import { MOST_ELEMENTS } from '../wire/turns.ts';
import type { IsSeen } from './aliases.ts';
import { allAppUris, mayHaveApps, readAppUris } from './app-uris.ts';
import type { PassedName } from './collisions.ts';
import type { Owner } from './names.ts';
import { PublicNames, type Collision, type NameRules } from './public-names.ts';
import { PublicUris, type CoveringTemplate } from './public-uris.ts';
import { pagesOf, publish, type AppResource, type Registry, type Routes } from './registry.ts';
import { Route } from './route.ts';
import { ToolFilters, type FilterEvents, type HeldBack } from './tool-filters.ts';
import { addServerTools, removeServerTools, type Naming } from './tool-registry.ts';

export interface RegistryEvents extends FilterEvents {
  collided(kind: Kind, collision: Collision): void;
  passedOn(kind: Kind, passed: PassedName): void;
  /** A template covers what another server lists. */
  covering(template: CoveringTemplate): void;
}

/** A server, and what of its lists is offered. */
interface Offer {
  readonly upstream: Upstream;
  readonly serverKey: string;
  readonly catalogue: Catalogue;
}

/** The routes of one list of a server, and what they were made of beside that list. */
interface ListRoutes {
  readonly upstream: Upstream;
  readonly stamp: number;
  readonly routes: Routes;
}

/** Makes registries, and remembers which names and URIs have been seen since the gateway started. */
export class RegistryBuilder {
  readonly books: Readonly<Record<'tools' | 'prompts', PublicNames>>;
  readonly uris: PublicUris;
  readonly #on: RegistryEvents;
  readonly #filters: ToolFilters;
  /** The lists whose names and URIs have been entered. */
  readonly #entered = new WeakSet<Listing>();
  /** Bytes that each server's account is charged for names that it no longer lists. */
  readonly #charged = new Map<string, { readonly account: Account; readonly bytes: number }>();
  /** Made anew only where a list, or what its names depend on, has changed. */
  readonly #parts = new WeakMap<Listing, ListRoutes>();

  constructor(rules: NameRules, on: RegistryEvents) {
    const book = (kind: Kind): PublicNames =>
      new PublicNames(rules, (publicName, from, to) => on.passedOn(kind, { publicName, from, to }));
    this.books = { tools: book('tools'), prompts: book('prompts') };
    this.uris = new PublicUris(rules.order, (template) => on.covering(template));
    this.#on = on;
    this.#filters = new ToolFilters(on);
  }

  /** Goes over to the filters and overrides of another config; returns true where one differs. */
  filter(servers: Readonly<Record<string, ServerConfig>>): boolean {
    const leadsElsewhere = this.#filters.takeConfig(servers);
    if (leadsElsewhere === undefined) return false;
    this.books.tools.release(leadsElsewhere);
    return true;
  }

  /** Returns the key in a server's entry for which it offers nothing under this name, listed or not. */
  heldBackBy(tool: Owner): string | undefined {
    return this.#filters.heldBackBy(tool);
  }

  /** Returns the name that its server gives what is offered under this one. */
  ownName(tool: Owner): string {
    return this.#filters.ownName(tool);
  }

  /** Returns the tool that is held back or renamed and that this name would otherwise lead to. */
  heldBack(alias: string, isSeen?: IsSeen): HeldBack | undefined {
    return this.#filters.heldBackAs(alias, this.books.tools.claimOf(alias), isSeen);
  }

  /** The servers of another config, in its order: what those that are not in it have had is free again. */
  setServers(serverKeys: readonly string[]): void {
    for (const book of Object.values(this.books)) book.setServers(serverKeys);
    this.uris.setServers(this.books.tools.rules.order);
    for (const key of this.#charged.keys())
      if (!this.books.tools.isConfigured(key)) this.#charged.delete(key);
  }

  /** From the running servers, in the order of the config. */
  build(upstreams: readonly Upstream[]): Registry {
    const offers = upstreams.map((upstream): Offer => {
      const catalogue = this.#filters.catalogueOf(upstream);
      return { upstream, serverKey: upstream.serverKey, catalogue };
    });
    for (const { upstream, catalogue } of offers) {
      for (const kind of ALL_KINDS) {
        const listing = catalogue[kind];
        if (listing !== NOTHING && !this.#entered.has(listing))
          runThrough(this.#enter(upstream, kind, listing));
      }
    }
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
    const apps = [...registry.apps].filter(([, { upstream }]) => upstream.serverKey !== serverKey);
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

  /**
   * Enters a new list of a server in slices, before it is published: to publish it then costs little. Returns undefined for
   * a list that is short.
   */
  prepare(upstream: Upstream, kind: Kind, listing: Listing): Promise<void> | undefined {
    if (listing.items.length <= MOST_ELEMENTS) return undefined;
    const steps = this.#prepare(upstream, kind, listing);
    return workThrough('names', () => steps.next().done !== true);
  }

  *#prepare(upstream: Upstream, kind: Kind, listing: Listing): Generator<void, void> {
    const { serverKey } = upstream;
    if (kind === 'tools') yield* this.#filters.apply(serverKey, listing);
    const offered = kind === 'tools' ? this.#filters.offered(serverKey, listing) : listing;
    yield* this.#enter(upstream, kind, offered);
    for (const route of (yield* this.#createRoutes(upstream, kind, offered)).values()) {
      route.prepare();
      yield;
    }
  }

  /** Enters the names and URIs of a list that is new, one at each step. */
  *#enter(upstream: Upstream, kind: Kind, listing: Listing): Generator<void, void> {
    if (this.#entered.has(listing)) return;
    const { serverKey } = upstream;
    const { items } = listing;
    if (kind === 'tools' || kind === 'prompts') yield* this.books[kind].enter(serverKey, items);
    else {
      const uris = items.map(({ key }) => key);
      yield* this.uris.enter(serverKey, kind, uris);
    }
    if (kind === 'tools') {
      if (mayHaveApps(listing)) yield* readAppUris(listing);
      const apps = allAppUris(listing).map(({ uri }) => uri);
      if (apps.length > 0 || this.uris.knows(serverKey)) yield* this.uris.enter(serverKey, kind, apps);
    }
    this.#entered.add(listing);
    this.#charge(upstream);
  }

  /** Charges a server for the names and URIs that are kept for it beside those that it lists. */
  #charge(upstream: Upstream): void {
    const { serverKey } = upstream;
    const { tools, prompts } = this.books;
    const bytes = tools.pastBytes(serverKey) + prompts.pastBytes(serverKey) + this.uris.pastBytes(serverKey);
    const charged = this.#charged.get(serverKey);
    // At a start there is nothing to charge, and the account of a remembered server is not made for that.
    if (bytes === 0 && charged === undefined) return;
    const { account } = upstream.peer;
    account.chargeList(charged?.account === account ? bytes - charged.bytes : bytes);
    this.#charged.set(serverKey, { account, bytes });
  }

  #joined(kind: Kind, offers: readonly Offer[]): Routes {
    const listing = offers.filter(({ catalogue }) => catalogue[kind].items.length > 0);
    const [only, ...others] = listing;
    if (only !== undefined && others.length === 0) return this.#part(kind, only);
    const joined: Routes = new Map();
    // By `forEach`, which makes no array of each entry.
    for (const offer of listing)
      this.#part(kind, offer).forEach((route, publicName) => joined.set(publicName, route));
    return joined;
  }

  /** Returns the routes of one list. They are made anew where a name is held back: it may be free by now. */
  #part(kind: Kind, { upstream, serverKey, catalogue }: Offer): Routes {
    const listing = catalogue[kind];
    const known = this.#parts.get(listing);
    const isWhole = known?.routes.size === listing.items.length;
    if (known?.upstream === upstream && isWhole && known.stamp === this.#stamp(kind, serverKey))
      return known.routes;
    return runThrough(this.#createRoutes(upstream, kind, listing));
  }

  /** Creates the routes of a list, one at each step. */
  *#createRoutes(upstream: Upstream, kind: Kind, listing: Listing): Generator<void, Routes> {
    const { serverKey } = upstream;
    const stamp = this.#stamp(kind, serverKey);
    const routes: Routes = new Map();
    const naming = this.#naming(kind, serverKey);
    // Short lists take one step: 300 steps of their own showed in every start.
    const stepSize = listing.items.length > MOST_ELEMENTS ? 1 : MOST_ELEMENTS;
    for (let at = 0; at < listing.items.length; at += stepSize) {
      addServerTools(routes, serverKey, upstream, listing.items.slice(at, at + stepSize), naming);
      yield;
    }
    if (listing !== NOTHING) this.#parts.set(listing, { upstream, stamp, routes });
    return routes;
  }

  /** Returns a number that differs once the routes of a server's list have to be made anew. */
  #stamp(kind: Kind, serverKey: string): number {
    if (kind === 'prompts') return this.books.prompts.lossesOf(serverKey);
    const shares = this.uris.sharesOf(serverKey);
    return kind === 'tools' ? this.books.tools.lossesOf(serverKey) + shares : shares;
  }

  #naming(kind: Kind, serverKey: string): Naming {
    if (kind === 'resources' || kind === 'templates')
      return { nameOf: (key, uri) => this.uris.publicUri(key, uri) };
    const nameOf = (key: string, name: string): string | undefined => {
      const assigned = this.books[kind].assign(key, name);
      if (typeof assigned === 'string') return assigned;
      this.#on.collided(kind, assigned);
      return undefined;
    };
    if (kind === 'prompts' || !this.uris.sharesUris(serverKey)) return { nameOf };
    return { nameOf, publicUri: (uri) => this.uris.sharedUri(serverKey, uri) };
  }

  #apps(offers: readonly Offer[], listed: Routes): Map<string, AppResource> {
    const apps = new Map<string, AppResource>();
    for (const { upstream, serverKey, catalogue } of offers) {
      for (const { uri } of allAppUris(catalogue.tools)) {
        const publicUri = this.uris.publicUri(serverKey, uri);
        if (!listed.has(publicUri)) apps.set(publicUri, { upstream, originalText: encode(uri) });
      }
    }
    return apps;
  }
}

/** Takes all steps at once; returns the result. */
function runThrough<Result>(steps: Generator<void, Result>): Result {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}
