import type { ServerConfig } from '../config/config.generated.ts';
import { didYouMean } from '../config/did-you-mean.ts';
import type { Catalogue, Listed, Listing } from '../upstream/catalogue/catalogue.ts';
import type { Upstream } from '../upstream/upstream.ts';
import { Aliases } from './aliases.ts';
import type { Claim } from './key-prefixes.ts';
import type { Owner } from './names.ts';
import { ToolFilter, type FilterPattern } from './tool-filter.ts';

/** A pattern that matches no tool of its server. */
export interface UnmatchedPattern extends FilterPattern {
  readonly serverKey: string;
  /** The tool that was probably meant. */
  readonly nearest: string | undefined;
  readonly listed: readonly string[];
}

/** A tool that a filter holds back, and the key of its server's entry that does so. */
export interface HeldBack extends Owner {
  readonly key: string;
}

/** A filter applied to one list of a server. */
interface Applied {
  readonly listing: Listing;
  readonly offered: Listing;
}

/** Tools among which that is looked for which a pattern probably meant. */
const MOST_COMPARED = 1000;

/** The filters of all servers. They run when a registry is built, so that they cost a call nothing. */
export class ToolFilters {
  readonly #onUnmatched: (found: UnmatchedPattern) => void;
  readonly #reported = new Set<string>();
  readonly #applied = new Map<string, Applied>();
  readonly #heldBack = new Aliases<HeldBack>();
  #filters: ReadonlyMap<string, ToolFilter> = new Map();

  constructor(onUnmatched: (found: UnmatchedPattern) => void) {
    this.#onUnmatched = onUnmatched;
  }

  /** Goes over to the entries of another config; returns true where a filter differs. */
  use(servers: Readonly<Record<string, ServerConfig>>): boolean {
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
    return changed.length > 0;
  }

  /** Returns what a server lists, without the tools that its filter holds back. */
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
      const key = filter.heldBackBy(item.key);
      if (key === undefined) offered.push(item);
      else heldBack.push({ serverKey, name: item.key, key });
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

  /** Returns the key in a server's entry that holds a tool back; undefined for a tool that is offered. */
  heldBackBy({ serverKey, name }: Owner): string | undefined {
    return this.#filters.get(serverKey)?.heldBackBy(name);
  }

  /** Returns the listed tool that is held back and that a name would otherwise lead to. */
  heldBackAs(name: string, claim: Claim | undefined): HeldBack | undefined {
    return this.#heldBack.entriesFor(name, claim)[0];
  }

  /** A filter with a typing mistake is reported once, however often the server lists its tools. */
  #report(filter: ToolFilter, serverKey: string, listed: readonly string[]): void {
    for (const { key, pattern } of filter.unmatched(listed)) {
      const id = JSON.stringify([serverKey, key, pattern]);
      if (this.#reported.has(id)) continue;
      this.#reported.add(id);
      this.#onUnmatched({
        serverKey,
        key,
        pattern,
        nearest: didYouMean(pattern, listed.slice(0, MOST_COMPARED)),
        listed,
      });
    }
  }
}
