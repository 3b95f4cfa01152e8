import { ListChangeNotifier, type ListName } from '../call/list-change-notifier.ts';
import type { ServerConfig } from '../config/config.generated.ts';
import { Texts } from '../errors.ts';
import type { Log } from '../log.ts';
import { Collisions } from '../registry/collisions.ts';
import { DEFAULT_SEPARATOR, validateSeparator } from '../registry/names.ts';
import type { Collision } from '../registry/public-names.ts';
import type { CoveringTemplate } from '../registry/public-uris.ts';
import { isSameList, RegistryBuilder, type Registry } from '../registry/registry.ts';
import { listedKinds, type Kind } from '../upstream/catalogue/catalogue.ts';
import { differingKinds } from '../upstream/lazy/catalogue-snapshot.ts';
import type { Upstream } from '../upstream/upstream.ts';

/** Templates that are reported because they cover what other servers list: a server may list them without end. */
const MOST_COVERING = 1000;

export interface PublicationOptions {
  readonly separator?: string;
  readonly noPrefix?: boolean;
  /** Names that two servers want are no reason to fail. */
  readonly keepGoing?: boolean;
  readonly log: Log;
  /** What can be published now, in the order of the config. */
  snapshot(): readonly Upstream[];
  /** The gateway's own server. */
  readonly own: Upstream;
  /** Has the own server offer what it should beside these servers; returns the kinds of which its list has changed. */
  offerOwn(upstreams: readonly Upstream[]): readonly Kind[];
  /** Another registry counts from now on. */
  published(): void;
  /** Clients are to be told. */
  listsChanged(lists: ReadonlySet<ListName>): void;
}

/** What all servers offer together, under public names: replaced whole whenever one of them comes, goes or changes. */
export class Publication {
  readonly builder: RegistryBuilder;
  readonly #options: PublicationOptions;
  readonly #collisions = new Collisions();
  readonly #notices: ListChangeNotifier;
  /** The configured servers alone. */
  #servers: Registry;
  #registry: Registry;
  #isOpen = false;
  #covering = 0;

  constructor(servers: Readonly<Record<string, ServerConfig>>, options: PublicationOptions) {
    const { separator = DEFAULT_SEPARATOR, noPrefix = false, log } = options;
    validateSeparator(separator);
    this.#options = options;
    this.#notices = new ListChangeNotifier((lists) => options.listsChanged(lists));
    this.builder = new RegistryBuilder(
      { separator, noPrefix, order: Object.keys(servers) },
      {
        collided: (kind, collision) => this.#collided(kind, collision),
        passedOn: (kind, passed) => {
          log.warn(Texts.nameHasPassed(passed));
          this.#notices.changed([kind]);
        },
        covering: (template) => this.#covers(template),
        unmatched: (pattern) => log.warn(Texts.filterUnmatched(pattern)),
        taken: (tool) => log.warn(Texts.nameTaken(tool)),
      },
    );
    this.builder.filter(servers);
    this.#servers = this.builder.build([]);
    this.#registry = this.#servers;
  }

  get registry(): Registry {
    return this.#registry;
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
    if (!this.#isOpen) this.#options.offerOwn(this.#options.snapshot());
  }

  /** A server runs; `before` is what stood in for it. */
  add(server: Upstream, before: Upstream | undefined): void {
    this.rebuild(before === undefined ? listedKinds(server.catalogue) : this.#corrected(server, before));
  }

  /** Nothing is offered any more in place of this server. */
  remove({ serverKey, catalogue }: Upstream): void {
    if (!this.#isOpen) return;
    this.#replace(this.builder.without(this.#servers, serverKey), listedKinds(catalogue));
  }

  /** What servers offer of these kinds has changed. Before the first list can be answered there is nothing to replace. */
  rebuild(kinds: readonly Kind[]): void {
    if (!this.#isOpen) return;
    const { shares } = this.builder.uris;
    this.#replace(this.builder.build(this.#options.snapshot()), kinds);
    // Where a URI or a template has moved, tools that name it have changed as well.
    if (this.builder.uris.shares !== shares) this.#notices.changed(['tools', 'resources']);
  }

  /** Publishes what the own server offers by now, where that has changed. */
  refresh(): void {
    if (this.#isOpen) this.#publishOwn();
  }

  /** What changes until then is one notice. */
  hold(until: Promise<unknown>): void {
    void this.#notices.hold(until);
  }

  /** Nobody is told of anything any more. */
  close(): void {
    this.#notices.stop();
  }

  /** Announces those of these kinds that clients see differently: what a filter holds back may have changed alone. */
  #replace(servers: Registry, kinds: readonly Kind[]): void {
    const before = this.#servers;
    this.#publish(servers);
    this.#notices.changed(kinds.filter((kind) => !isSameList(before[kind], servers[kind])));
  }

  #publish(servers: Registry): void {
    this.#servers = servers;
    this.#publishOwn(true);
  }

  #publishOwn(isDue = false): void {
    const changed = this.#options.offerOwn([...this.#servers.upstreams.values()]);
    if (!isDue && changed.length === 0) return;
    this.#registry = this.builder.withOwn(this.#servers, this.#options.own);
    this.#options.published();
    if (this.#isOpen) this.#notices.changed(changed);
  }

  /** What a server lists otherwise than was remembered; changed tools that are to wait for approval would be held back here. */
  #corrected({ serverKey, catalogue }: Upstream, before: Upstream): Kind[] {
    const kinds = differingKinds(before.catalogue, catalogue);
    if (kinds.length > 0) this.#options.log.info(Texts.listsDiffer(serverKey, kinds));
    return kinds;
  }

  #covers(template: CoveringTemplate): void {
    if (this.#covering++ < MOST_COVERING) this.#options.log.warn(Texts.templateCovers(template));
  }

  #collided(kind: Kind, collision: Collision): void {
    const isNew = this.#collisions.note(kind, collision);
    if (!isNew || (!this.#isOpen && this.#options.keepGoing !== true)) return;
    this.#options.log.warn(`${Texts.namesCollide(collision)}. ${Texts.heldBack(collision)}.`);
  }
}
