import { ListChangeNotifier, type ListName } from '../call/list-change-notifier.ts';
import type { ServerConfig } from '../config/config.generated.ts';
import { didYouMean } from '../config/did-you-mean.ts';
import { ConfigError, ConfigErrorCode, quoted, someOf } from '../errors.ts';
import type { Log } from '../log.ts';
import { Collisions, collisionWarning, describePassedName } from '../registry/collisions.ts';
import { describeUnmatched, Group } from '../registry/group.ts';
import { DEFAULT_SEPARATOR, validateSeparator } from '../registry/names.ts';
import type { Collision } from '../registry/public-names.ts';
import { describeCovering, type CoveringTemplate } from '../registry/public-uris.ts';
import { RegistryBuilder } from '../registry/registry-builder.ts';
import { changedKinds, isSameList, narrow, type Registry } from '../registry/registry.ts';
import { describeTakenName, describeUnmatchedPattern } from '../registry/tool-filters.ts';
import { listedKinds, type Kind } from '../upstream/catalogue/catalogue.ts';
import { differingKinds } from '../upstream/lazy/catalogue-snapshot.ts';
import type { Upstream } from '../upstream/upstream.ts';
import type { OwnServer } from './own-server.ts';
import { View } from './view.ts';

/** Templates that are reported because they cover what other servers list: a server may list them without end. */
const MOST_COVERING = 1000;

export interface PublicationOptions {
  readonly separator?: string;
  readonly noPrefix?: boolean;
  /** Starts also where two servers want the same name. */
  readonly keepGoing?: boolean;
  readonly log: Log;
  /** Returns the servers to publish, in the order of the config. */
  snapshot(): readonly Upstream[];
  /** Creates the gateway's own server of a view. */
  createOwn(view: View): OwnServer;
  /** Has the own server of a view offer what it should beside these servers; returns the kinds of which its list has changed. */
  offerOwn(view: View, upstreams: readonly Upstream[]): readonly Kind[];
  /** Another registry counts from now on. */
  published(): void;
  /** The clients of a view are to be told. */
  listsChanged(view: View, lists: ReadonlySet<ListName>): void;
}

/** The registry of all servers and its views. Replaces them whole whenever a server starts, stops or changes a list. */
export class Publication {
  readonly builder: RegistryBuilder;
  /** All that is offered. */
  readonly whole: View;
  /** The parts that groups have, by name. */
  readonly #parts = new Map<string, View>();
  readonly #options: PublicationOptions;
  readonly #collisions = new Collisions();
  readonly #notices: ListChangeNotifier<View>;
  readonly #empty: Registry;
  #isOpen = false;
  #covering = 0;

  constructor(servers: Readonly<Record<string, ServerConfig>>, options: PublicationOptions) {
    const { separator = DEFAULT_SEPARATOR, noPrefix = false, log } = options;
    validateSeparator(separator);
    this.#options = options;
    this.#notices = new ListChangeNotifier((view, lists) => options.listsChanged(view, lists));
    this.builder = new RegistryBuilder(
      { separator, noPrefix, order: Object.keys(servers) },
      {
        collided: (kind, collision) => this.#collided(kind, collision),
        passedOn: (kind, passed) => {
          log.warn(describePassedName(passed));
          this.#notices.changed(this.whole, [kind]);
        },
        covering: (template) => this.#covers(template),
        unmatched: (pattern) => log.warn(describeUnmatchedPattern(pattern)),
        taken: (tool) => log.warn(describeTakenName(tool)),
      },
    );
    this.builder.filter(servers);
    this.#empty = this.builder.build([]);
    this.whole = this.#createView(undefined);
  }

  /** The view of all, and those of groups. */
  get views(): View[] {
    return [this.whole, ...this.#parts.values()];
  }

  /** Returns the view of a group, or that of all; undefined where the config has no such group. */
  findView(group?: string): View | undefined {
    if (group === undefined) return this.whole;
    const view = this.#parts.get(group);
    return view?.isConfigured === true ? view : undefined;
  }

  /** Returns the same; throws a `ConfigError` that names the nearest group where there is none. */
  view(group?: string): View {
    const view = this.findView(group);
    if (view !== undefined) return view;
    const configured = [...this.#parts].filter(([, { isConfigured }]) => isConfigured);
    const text = noSuchGroup(
      group ?? '',
      configured.map(([name]) => name),
    );
    throw new ConfigError(text, ConfigErrorCode.INVALID_SCHEMA);
  }

  /**
   * Goes over to the groups of another config; returns the names of those that differ. Sessions of a group that is gone see
   * nothing; `isUsed` tells which views have sessions.
   */
  setGroups(groups: ReadonlyMap<string, Group>, isUsed: (view: View) => boolean): string[] {
    for (const [name, view] of this.#parts) {
      const isConfigured = groups.has(name);
      // An earlier config removed the group already, and its last session has ended.
      if (!isConfigured && !view.isConfigured && !isUsed(view)) this.#parts.delete(name);
      view.isConfigured = isConfigured;
    }
    const names = new Set([...this.#parts.keys(), ...groups.keys()]);
    const changed = [...names].filter((name) => this.#setGroup(groups.get(name) ?? new Group(name, [], [])));
    if (changed.length > 0 && this.#isOpen) this.#publish(this.whole.servers);
    return changed;
  }

  #setGroup(group: Group): boolean {
    const view = this.#parts.get(group.name);
    if (view?.group?.id === group.id) return false;
    if (view === undefined) this.#parts.set(group.name, this.#createView(group));
    else view.group = group;
    return true;
  }

  #createView(group: Group | undefined): View {
    return new View(group, this.#empty, (view) => this.#options.createOwn(view));
  }

  /** The first time; throws where names collide that must not. */
  open(): void {
    const { noPrefix = false, keepGoing = false } = this.#options;
    this.#publish(this.builder.build(this.#options.snapshot()));
    if (this.#collisions.size > 0 && !keepGoing) throw this.#collisions.error(noPrefix);
    this.#isOpen = true;
  }

  /** Makes instructions of what is offered by now, for clients that open the conversation before the first list. */
  preview(): void {
    if (this.#isOpen) return;
    const upstreams = this.#options.snapshot();
    for (const view of this.views)
      this.#options.offerOwn(
        view,
        upstreams.filter(({ serverKey }) => view.hasServer(serverKey)),
      );
  }

  /** A server runs; `before` is what stood in for it. */
  add(server: Upstream, before: Upstream | undefined): void {
    this.rebuild(before === undefined ? listedKinds(server.catalogue) : this.#corrected(server, before));
  }

  /** Nothing is offered any more in place of this server. */
  remove({ serverKey, catalogue }: Upstream): void {
    if (!this.#isOpen) return;
    this.#replace(this.builder.without(this.whole.servers, serverKey), listedKinds(catalogue));
  }

  /** Builds a new registry because lists of these kinds have changed. Does nothing before `open`. */
  rebuild(kinds: readonly Kind[]): void {
    if (!this.#isOpen) return;
    const { shares } = this.builder.uris;
    this.#replace(this.builder.build(this.#options.snapshot()), kinds);
    // Tool definitions contain URIs, so a new public URI changes tools as well.
    if (this.builder.uris.shares !== shares) this.#notices.changed(this.whole, ['tools', 'resources']);
  }

  /** Publishes what the own server offers by now, where that has changed. */
  refresh(): void {
    if (this.#isOpen) this.#publishViews(false);
  }

  /** Holds list_changed notifications back until the promise settles, so that clients get one for all changes. */
  hold(until: Promise<unknown>): void {
    void this.#notices.hold(until);
  }

  /** Stops all notifications. */
  close(): void {
    this.#notices.stop();
  }

  /** Announces those of these kinds that clients see differently: what a filter holds back may have changed alone. */
  #replace(servers: Registry, kinds: readonly Kind[]): void {
    const before = this.whole.servers;
    this.#publish(servers);
    this.#notices.changed(
      this.whole,
      kinds.filter((kind) => !isSameList(before[kind], servers[kind])),
    );
  }

  #publish(servers: Registry): void {
    for (const view of this.views) {
      view.servers = view.group === undefined ? servers : narrow(servers, view.group);
      for (const pattern of view.group?.unmatched(view.servers.upstreams.values()) ?? [])
        this.#options.log.warn(describeUnmatched(pattern));
    }
    this.#publishViews(true);
  }

  /** Replaces the registry of each view where that is due, or where its own server offers something else by now. */
  #publishViews(isDue: boolean): void {
    const changed = this.views.filter((view) => this.#publishView(view, isDue));
    if (changed.length > 0) this.#options.published();
  }

  #publishView(view: View, isDue: boolean): boolean {
    const before = view.registry;
    const changed = this.#options.offerOwn(view, [...view.servers.upstreams.values()]);
    if (!isDue && changed.length === 0) return false;
    view.registry = this.builder.withOwn(view.servers, view.own);
    // `#replace` announces changes of the servers to the whole view; a group compares its registries.
    const kinds = view.group === undefined ? changed : changedKinds(before, view.registry);
    if (this.#isOpen) this.#notices.changed(view, kinds);
    return true;
  }

  /** Returns the kinds of lists that differ from the cached catalogue. An approval of changed tools would belong here. */
  #corrected({ serverKey, catalogue }: Upstream, before: Upstream): Kind[] {
    const kinds = differingKinds(before.catalogue, catalogue);
    if (kinds.length > 0)
      this.#options.log.info(
        `The ${kinds.join(' and ')} of server '${serverKey}' differ from the cached lists; Weir notifies the clients`,
      );
    return kinds;
  }

  #covers(template: CoveringTemplate): void {
    if (this.#covering++ < MOST_COVERING) this.#options.log.warn(describeCovering(template));
  }

  #collided(kind: Kind, collision: Collision): void {
    const isNew = this.#collisions.note(kind, collision);
    if (!isNew || (!this.#isOpen && this.#options.keepGoing !== true)) return;
    this.#options.log.warn(collisionWarning(collision));
  }
}

function noSuchGroup(group: string, known: readonly string[]): string {
  const nearest = didYouMean(group, known);
  const hint =
    nearest === undefined ? `"groups" in the config has ${someOf(known)}` : `did you mean '${nearest}'?`;
  return `There is no group '${quoted(group)}'; ${hint}`;
}
