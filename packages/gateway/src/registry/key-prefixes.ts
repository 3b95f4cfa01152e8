import { ALIAS_SEPARATORS, OWN_KEY, prefixesOf, type Owner } from './names.ts';
import { PrefixTable, type PrefixMatch } from './prefix-table.ts';

/** The server keys that one beginning of a name stands for: several where keys become equal when made host-safe. */
type Keys = readonly string[];

/** The configured servers whose key a name begins with. */
export interface Claim {
  /** The servers that the name belongs to: those of the longest key. */
  readonly owners: Keys;
  /** What the name may mean: the own name that each fitting key leaves, the shortest key first. */
  readonly readings: readonly Owner[];
}

/**
 * The beginnings of names that belong to configured servers, whether or not these run: each key with the separator, and
 * with those of aliases. A name with the separator is judged by that alone.
 */
export class KeyPrefixes {
  readonly #full = new PrefixTable<Keys>();
  readonly #alias = new PrefixTable<Keys>();
  /** The keys whose prefix another key's prefix begins with. */
  readonly #nesting: ReadonlySet<string>;

  constructor(serverKeys: readonly string[], separator: string) {
    for (const key of serverKeys) {
      add(this.#full, key, separator);
      for (const other of ALIAS_SEPARATORS) add(this.#alias, key, other);
    }
    this.#nesting = nestingKeys(this.#full);
    // The gateway's own tools need no place among the full names: they are listed only where no server has the name.
    if (!serverKeys.includes(OWN_KEY))
      for (const other of new Set([separator, ...ALIAS_SEPARATORS])) add(this.#alias, OWN_KEY, other);
  }

  /** Returns undefined for a name that begins with no key. */
  claim(name: string): Claim | undefined {
    const [full] = this.#full.matches(name);
    const matches = full === undefined ? this.#alias.matches(name) : [full];
    const [longest] = matches;
    if (longest === undefined) return undefined;
    return {
      owners: longest.value,
      readings: matches.toReversed().flatMap((match) => readingsOf(match, name)),
    };
  }

  /**
   * Returns the servers that a public name would belong to in place of the one that lists it; undefined where it may have
   * it. Bare names may begin with any key.
   */
  rivals(serverKey: string, publicName: string, isBare: boolean): Keys | undefined {
    if (!isBare && !this.#nesting.has(serverKey)) return undefined;
    const owners = this.#full.matches(publicName)[0]?.value;
    return owners?.includes(serverKey) === true ? undefined : owners;
  }
}

function add(table: PrefixTable<Keys>, serverKey: string, separator: string): void {
  for (const prefix of prefixesOf(serverKey, separator))
    table.set(prefix, [...(table.get(prefix) ?? []), serverKey]);
}

function readingsOf({ prefix, value }: PrefixMatch<Keys>, name: string): Owner[] {
  return value.map((serverKey) => ({ serverKey, name: name.slice(prefix.length) }));
}

/** Sorted, prefixes that begin alike stand together. */
function nestingKeys(full: PrefixTable<Keys>): Set<string> {
  const sorted = full.prefixes().toSorted();
  const nesting = sorted.filter((prefix, index) => sorted[index + 1]?.startsWith(prefix));
  return new Set(nesting.flatMap((prefix) => full.get(prefix) ?? []));
}
