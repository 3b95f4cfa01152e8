import type { JsonPath } from './json/json-path.ts';

/** Findings of the checks of a config, with paths as arrays. */
export interface Findings {
  readonly errors: ConfigFinding[];
  readonly warnings: ConfigFinding[];
  readonly unknown: UnknownKey[];
  /** True once variables are replaced; a `$` is then a character like any other. */
  readonly isExpanded: boolean;
  /** Set when a text was not judged because it may hold a variable. */
  isPending: boolean;
}

export interface ConfigFinding {
  path: JsonPath;
  message: string;
  /** The value found; for programs, never printed. */
  value?: unknown;
}

/** A key that nothing here reads, beside those that are read in its place. */
export interface UnknownKey {
  parent: JsonPath;
  key: string;
  known: readonly string[];
}

export function createFindings(isExpanded = false): Findings {
  return { errors: [], warnings: [], unknown: [], isExpanded, isPending: false };
}

/** Returns whether a text can be judged now: one that may hold a variable is judged once that is replaced. */
export function isReadable(text: string, found: Findings): boolean {
  if (found.isExpanded || !text.includes('$')) return true;
  found.isPending = true;
  return false;
}

/** An object of the config whose values are still to be looked at. */
export type UncheckedObject = Record<string, unknown>;

/** An array whose elements are still to be looked at. */
export function isList(value: unknown): value is readonly unknown[] {
  return Array.isArray(value);
}

/** Returns true for an own key with a value; inherited keys do not count. */
export function has(record: object, key: string): boolean {
  return Object.hasOwn(record, key) && (record as Record<string, unknown>)[key] !== undefined;
}
