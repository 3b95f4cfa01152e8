import type { ServerConfig } from '../config/config.generated.ts';
import { didYouMean } from '../config/did-you-mean.ts';
import { quoted, someOf } from '../errors.ts';
import type { Catalogue, Listed, Listing } from '../upstream/catalogue/catalogue.ts';
import type { Upstream } from '../upstream/upstream.ts';
import { Aliases, type IsSeen } from './aliases.ts';
import type { KeyClaim } from './key-prefixes.ts';
import type { Owner } from './names.ts';
import { ToolFilter, type FilterPattern } from './tool-filter.ts';

/** A pattern that matches no tool of its server. */
interface UnmatchedPattern extends FilterPattern {
  readonly serverKey: string;
  /** The tool that was probably meant. */
  readonly nearest: string | undefined;
  readonly listed: readonly string[];
}

/** A name under which the config offers no tool, and the key of its server's entry that says so. */
export interface HeldBack extends Owner {
  readonly key: string;
  /** The name that the tool has got instead. */
  readonly rename?: string | undefined;
}

/** A tool that is left out because the config gives its name to another one. */
interface TakenName extends Owner {
  /** The server's own name of the other one. */
  readonly by: string;
}

export interface FilterEvents {
  /** A filter or an override names a tool that its server does not list. */
  unmatched(found: UnmatchedPattern): void;
  /** A tool is left out. */
  taken(found: TakenName): void;
}

/** Says which pattern matches nothing, and what to write instead. */
export function describeUnmatchedPattern(found: UnmatchedPattern): string {
  const { serverKey, key, pattern, nearest, listed } = found;
  const hint = nearest === undefined ? `it lists ${someOf(listed)}` : `did you mean "${quoted(nearest)}"?`;
  return `"${key}" of server '${serverKey}' names "${pattern}", but the server lists no such tool; ${hint}`;
}

/** Says which tool is left out, and what to do. */
export function describeTakenName({ serverKey, name, by }: TakenName): string {
  return `Tool "${quoted(name)}" of server '${serverKey}' is left out, because the config renames "${by}" to that name; give one of them another "rename" in "tools"`;
}

/** A filter applied to one list of a server. */
interface Applied {
  readonly listing: Listing;
  readonly offered: Listing;
}

/** Tools among which that is looked for which a pattern probably meant. */
const MOST_COMPARED = 1000;

/** The filters and overrides of all servers. They run when a registry is built, so that they cost a call nothing. */
export class ToolFilters {
  readonly #on: FilterEvents;
  readonly #reported = new Set<string>();
  readonly #applied = new Map<string, Applied>();
  readonly #heldBack = new Aliases<HeldBack>();
  #filters: ReadonlyMap<string, ToolFilter> = new Map();

  constructor(on: FilterEvents) {
    this.#on = on;
  }

  /** Goes over to the entries of another config; returns which names lead elsewhere now, undefined where no filter differs. */
  takeConfig(servers: Readonly<Record<string, ServerConfig>>): ((name: Owner) => boolean) | undefined {
    const before = this.#filters;
    const filters = new Map<string, ToolFilter>();
    for (const [key, entry] of Object.entries(servers)) {
      const filter = ToolFilter.of(entry);
      if (filter !== undefined) filters.set(key, filter);
    }
    this.#filters = filters;
    const all = new Set([...before.keys(), ...filters.keys()]);
    const changed = [...all].filter((key) => before.get(key)?.id !== filters.get(key)?.id);
    for (const key of changed) {
      this.#applied.delete(key);
      for (const tool of this.#heldBack.of(key)) this.#heldBack.delete(tool);
    }
    if (changed.length === 0) return undefined;
    return (owner) =>
      this.heldBackBy(owner) !== undefined ||
      this.ownName(owner) !== (before.get(owner.serverKey)?.ownName(owner.name) ?? owner.name);
  }

  /** Returns what a server lists, without the tools that its filter holds back and with the overrides of the others. */
  catalogueOf({ serverKey, catalogue }: Upstream): Catalogue {
    if (!this.#filters.has(serverKey)) return catalogue;
    for (const steps = this.apply(serverKey, catalogue.tools); steps.next().done !== true;);
    return { ...catalogue, tools: this.offered(serverKey, catalogue.tools) };
  }

  /** Returns what a filter that has been applied to a list leaves of it. */
  offered(serverKey: string, listing: Listing): Listing {
    const applied = this.#applied.get(serverKey);
    return applied?.listing === listing ? applied.offered : listing;
  }

  /** Applies the filter of a server to a new list, one tool at each step. */
  *apply(serverKey: string, listing: Listing): Generator<void, void> {
    const filter = this.#filters.get(serverKey);
    if (filter === undefined || this.#applied.get(serverKey)?.listing === listing) return;
    const offered: Listed[] = [];
    const heldBack: HeldBack[] = [];
    for (const item of listing.items) {
      const { key: name } = item;
      const key = filter.heldBackBy(name) ?? this.#takenBy(filter, { serverKey, name });
      const tool = key === undefined ? filter.overridden(item) : item;
      if (key === undefined) offered.push(tool);
      const rename = key === undefined && tool.key !== name ? tool.key : undefined;
      // A name that the config gives to another tool leads to that one.
      const isFree = (key !== undefined || rename !== undefined) && !filter.gives(name);
      if (isFree) heldBack.push({ serverKey, name, key: key ?? 'tools', rename });
      yield;
    }
    for (const tool of this.#heldBack.of(serverKey)) this.#heldBack.delete(tool);
    for (const tool of heldBack) this.#heldBack.add(tool);
    this.#applied.set(serverKey, { listing, offered: { ...listing, items: offered } });
    this.#report(
      filter,
      serverKey,
      listing.items.map(({ key }) => key),
    );
  }

  /** Returns the key in a server's entry for which nothing is offered under this name; undefined where something may be. */
  heldBackBy({ serverKey, name }: Owner): string | undefined {
    const filter = this.#filters.get(serverKey);
    if (filter === undefined) return undefined;
    const ownName = filter.ownName(name);
    return ownName === undefined ? 'tools' : filter.heldBackBy(ownName);
  }

  /** Returns the name that its server gives what is offered under this name. */
  ownName({ serverKey, name }: Owner): string {
    return this.#filters.get(serverKey)?.ownName(name) ?? name;
  }

  /** Returns the listed tool that is held back and that a name would otherwise lead to. */
  heldBackAs(name: string, claim: KeyClaim | undefined, isSeen?: IsSeen): HeldBack | undefined {
    return this.#heldBack.entriesFor(name, claim, isSeen)[0];
  }

  /** Leaves out a tool whose name the config gives to another one: a server cannot take that name by listing it. */
  #takenBy(filter: ToolFilter, { serverKey, name }: Owner): string | undefined {
    const by = filter.renamedTo(name);
    if (by === undefined) return undefined;
    const id = JSON.stringify([serverKey, name]);
    if (!this.#reported.has(id)) this.#on.taken({ serverKey, name, by });
    this.#reported.add(id);
    return 'tools';
  }

  /** A filter with a typing mistake is reported once, however often the server lists its tools. */
  #report(filter: ToolFilter, serverKey: string, listed: readonly string[]): void {
    for (const { key, pattern } of filter.unmatched(listed)) {
      const id = JSON.stringify([serverKey, key, pattern]);
      if (this.#reported.has(id)) continue;
      this.#reported.add(id);
      this.#on.unmatched({
        serverKey,
        key,
        pattern,
        nearest: didYouMean(pattern, listed.slice(0, MOST_COMPARED)),
        listed,
      });
    }
  }
}
