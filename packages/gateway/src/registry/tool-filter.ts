import type { ServerConfig } from '../config/config.generated.ts';
import { isGlob, matchesGlob } from '../config/glob.ts';
import { ALLOW_LISTS, DENY_LISTS, hasToolLists } from '../config/tool-lists.ts';

/** A pattern in one of the lists. */
export interface FilterPattern {
  /** The key of the list. */
  readonly key: string;
  readonly pattern: string;
}

/** The tools of one server that its entry in the config offers, by the names that the server gives them. */
export class ToolFilter {
  /** A text that is equal for filters that say the same. */
  readonly id: string;
  readonly #denied: readonly List[];
  readonly #allowed: readonly List[];

  private constructor(denied: readonly List[], allowed: readonly List[]) {
    this.id = JSON.stringify([denied, allowed]);
    this.#denied = denied;
    this.#allowed = allowed;
  }

  /** Returns undefined for an entry that offers every tool. */
  static of(entry: ServerConfig): ToolFilter | undefined {
    if (!hasToolLists(entry)) return undefined;
    const denied = [...DENY_LISTS.flatMap((key) => listAt(entry, key)), ...switchedOff(entry)];
    const allowed = ALLOW_LISTS.flatMap((key) => listAt(entry, key));
    return denied.length + allowed.length === 0 ? undefined : new ToolFilter(denied, allowed);
  }

  /** Returns the key of the list that holds a tool back; undefined for a tool that is offered. */
  heldBackBy(name: string): string | undefined {
    const denying = this.#denied.find((list) => list.has(name));
    return (denying ?? this.#allowed.find((list) => !list.has(name)))?.key;
  }

  /** Returns the patterns that match none of these names; `*` is never one of them. */
  unmatched(names: readonly string[]): FilterPattern[] {
    return [...this.#allowed, ...this.#denied].flatMap((list) => list.unmatched(names));
  }
}

/** The patterns under one key. Most are plain names, which a set finds at once however many they are. */
class List {
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

  unmatched(names: readonly string[]): FilterPattern[] {
    const known = new Set(names);
    const globs = this.#globs.filter(
      (glob) => glob !== '*' && !names.some((name) => matchesGlob(glob, name)),
    );
    const unknown = [...this.#names].filter((name) => !known.has(name));
    return [...unknown, ...globs].map((pattern) => ({ key: this.key, pattern }));
  }
}

function listAt(
  entry: ServerConfig,
  key: (typeof ALLOW_LISTS)[number] | (typeof DENY_LISTS)[number],
): List[] {
  const patterns = entry[key];
  return Array.isArray(patterns) ? [new List(key, patterns)] : [];
}

/** Reads `"tools": { "name": { "enabled": false } }`. */
function switchedOff({ tools = [] }: ServerConfig): List[] {
  if (Array.isArray(tools)) return [];
  const off = Object.keys(tools).filter((name) => tools[name]?.enabled === false);
  return off.length === 0 ? [] : [new List('tools', off)];
}
