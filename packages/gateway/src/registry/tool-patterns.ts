import { isGlob, matchesGlob } from '../config/glob.ts';

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
