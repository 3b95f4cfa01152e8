import type { ServerConfig } from '../config/config.generated.ts';
import { isGlob, matchesGlob } from '../config/glob.ts';
import { ALLOW_LISTS, DENY_LISTS, hasToolLists } from '../config/tool-lists.ts';
import type { Listed } from '../upstream/catalogue/catalogue.ts';

/** Another name or description that the config gives a tool. */
interface Override {
  readonly rename?: string | undefined;
  readonly description?: string | undefined;
}

/** The tools of one server that its entry in the config offers, and under which names; the server's own names decide. */
export class ToolFilter {
  /** A text that is equal for filters that say the same. */
  readonly id: string;
  readonly #denied: readonly ToolPatterns[];
  readonly #allowed: readonly ToolPatterns[];
  /** By the server's own name. */
  readonly #overrides: ReadonlyMap<string, Override>;
  /** The server's own names, by the names that the config gives. */
  readonly #renamed: ReadonlyMap<string, string>;

  private constructor(
    denied: readonly ToolPatterns[],
    allowed: readonly ToolPatterns[],
    overrides: ReadonlyMap<string, Override>,
  ) {
    this.id = JSON.stringify([denied, allowed, [...overrides]]);
    this.#denied = denied;
    this.#allowed = allowed;
    this.#overrides = overrides;
    this.#renamed = new Map(
      Array.from(overrides).flatMap(([name, { rename }]) => (rename === undefined ? [] : [[rename, name]])),
    );
  }

  /** Returns undefined for an entry that offers every tool as its server lists it. */
  static of(entry: ServerConfig): ToolFilter | undefined {
    if (!hasToolLists(entry)) return undefined;
    const denied = [...DENY_LISTS.flatMap((key) => listAt(entry, key)), ...switchedOff(entry)];
    const allowed = ALLOW_LISTS.flatMap((key) => listAt(entry, key));
    const overrides = overridesOf(entry);
    return denied.length + allowed.length + overrides.size === 0
      ? undefined
      : new ToolFilter(denied, allowed, overrides);
  }

  /** Returns the key of the list that holds a tool back; undefined for a tool that is offered. */
  heldBackBy(name: string): string | undefined {
    const denying = this.#denied.find((list) => list.has(name));
    return (denying ?? this.#allowed.find((list) => !list.has(name)))?.key;
  }

  /** Returns a listed tool under the name and with the description that the config gives it. */
  overridden(item: Listed): Listed {
    const { rename = item.key, description } = this.#overrides.get(item.key) ?? NO_OVERRIDE;
    if (rename === item.key && description === undefined) return item;
    return { ...item, key: rename, ownKey: item.key, description };
  }

  /** Returns the tool that the config gives this name, which is that of another tool. */
  renamedTo(name: string): string | undefined {
    const other = this.#renamed.get(name);
    return other === name || this.#overrides.get(name)?.rename !== undefined ? undefined : other;
  }

  /** Returns true for a name that the config gives to a tool. */
  gives(name: string): boolean {
    return this.#renamed.has(name);
  }

  /** Returns the server's name of what is offered under a name; undefined where the config renames that tool. */
  ownName(offered: string): string | undefined {
    const { rename = offered } = this.#overrides.get(offered) ?? NO_OVERRIDE;
    return this.#renamed.get(offered) ?? (rename === offered ? offered : undefined);
  }

  /** Returns the patterns that match none of these names; `*` is never one of them. */
  unmatched(names: readonly string[]): FilterPattern[] {
    const overridden = new ToolPatterns('tools', [...this.#overrides.keys()]);
    return [...this.#allowed, ...this.#denied, overridden].flatMap((list) => list.unmatched(names));
  }
}

const NO_OVERRIDE: Override = {};

function listAt(
  entry: ServerConfig,
  key: (typeof ALLOW_LISTS)[number] | (typeof DENY_LISTS)[number],
): ToolPatterns[] {
  const patterns = entry[key];
  return Array.isArray(patterns) ? [new ToolPatterns(key, patterns)] : [];
}

/** Reads `"tools": { "name": { "enabled": false } }`. */
function switchedOff({ tools = [] }: ServerConfig): ToolPatterns[] {
  if (Array.isArray(tools)) return [];
  const off = Object.keys(tools).filter((name) => tools[name]?.enabled === false);
  return off.length === 0 ? [] : [new ToolPatterns('tools', off)];
}

/** Reads `"tools": { "name": { "rename": "other", "description": "…" } }`. */
function overridesOf({ tools = [] }: ServerConfig): Map<string, Override> {
  const settings = Array.isArray(tools) ? [] : Object.entries(tools);
  const overrides = settings.map(
    ([name, { rename, description }]) => [name, { rename, description }] as const,
  );
  return new Map(
    overrides.filter(([, { rename, description }]) => rename !== undefined || description !== undefined),
  );
}

/** A pattern in a list. */
export interface FilterPattern {
  /** The key of the list. */
  readonly key: string;
  readonly pattern: string;
}

/** Patterns of tools under one key of the config. Most are plain names, which a set finds at once however many they are. */
export class ToolPatterns {
  readonly key: string;
  readonly patterns: readonly string[];
  readonly #names: ReadonlySet<string>;
  readonly #globs: readonly string[];

  constructor(key: string, patterns: readonly string[]) {
    this.key = key;
    this.patterns = patterns;
    this.#names = new Set(patterns.filter((pattern) => !isGlob(pattern)));
    this.#globs = patterns.filter(isGlob);
  }

  has(name: string): boolean {
    return this.#names.has(name) || this.#globs.some((glob) => matchesGlob(glob, name));
  }

  /** Returns the patterns that match none of these names; `*` is never one of them. */
  unmatched(names: readonly string[]): FilterPattern[] {
    const known = new Set(names);
    const globs = this.#globs.filter(
      (glob) => glob !== '*' && !names.some((name) => matchesGlob(glob, name)),
    );
    const unknown = [...this.#names].filter((name) => !known.has(name));
    return [...unknown, ...globs].map((pattern) => ({ key: this.key, pattern }));
  }
}
