import { ALIAS_SEPARATORS, OWN_KEY, prefixesOf, type Owner } from './names.ts';
import { PrefixTable, type PrefixMatch } from './prefix-table.ts';

/** The server keys that one beginning of a name stands for: several where keys become equal when made host-safe. */
type Keys = readonly string[];

/** The configured servers whose key a name begins with. */
export interface KeyClaim {
  /** The servers that the name belongs to: those of the longest key. */
  readonly owners: Keys;
  /** Possible owners: each matching key with the rest of the name, the shortest key first. */
  readonly readings: readonly Owner[];
}

/**
 * The beginnings of names that belong to configured servers, whether or not these run: each key with the separator, and
 * with those of aliases. A name with the separator is judged by that alone.
 */
export class KeyPrefixes {
  readonly #serverKeys: readonly string[];
  readonly #separator: string;
  /** Made when first needed, the other one with the first name that is not listed. */
  #full: PrefixTable<Keys> | undefined;
  #alias: PrefixTable<Keys> | undefined;
  /** The keys whose prefix another key's prefix begins with. */
  #nesting: ReadonlySet<string> | undefined;

  constructor(serverKeys: readonly string[], separator: string) {
    this.#serverKeys = serverKeys;
    this.#separator = separator;
  }

  /** Returns undefined for a name that begins with no key. */
  claim(name: string): KeyClaim | undefined {
    const [full] = this.#fullPrefixes().matches(name);
    const matches = full === undefined ? this.#aliasPrefixes().matches(name) : [full];
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
    this.#nesting ??= this.#nestingKeys();
    if (!isBare && !this.#nesting.has(serverKey)) return undefined;
    const owners = this.#fullPrefixes().matches(publicName)[0]?.value;
    return owners?.includes(serverKey) === true ? undefined : owners;
  }

  /** Nearly always there are none, which is seen without a table. */
  #nestingKeys(): ReadonlySet<string> {
    const isPlain = this.#serverKeys.every((key) => isPlainPrefix(key, this.#separator));
    return isPlain ? NONE : nestingKeys(this.#fullPrefixes());
  }

  #fullPrefixes(): PrefixTable<Keys> {
    this.#full ??= tableOf(this.#serverKeys, [this.#separator]);
    return this.#full;
  }

  /** The gateway's own tools need no place among the full names: they are listed only where no server has the name. */
  #aliasPrefixes(): PrefixTable<Keys> {
    this.#alias ??= tableOf(
      [...new Set([...this.#serverKeys, OWN_KEY])],
      [this.#separator, ...ALIAS_SEPARATORS],
    );
    return this.#alias;
  }
}

const NONE: ReadonlySet<string> = new Set();

/** Returns true for a key whose one prefix has the separator at its end alone, so that it begins with no other prefix. */
function isPlainPrefix(serverKey: string, separator: string): boolean {
  const prefixes = prefixesOf(serverKey, separator);
  return prefixes.length === 1 && prefixes[0]?.indexOf(separator) === serverKey.length;
}

function tableOf(serverKeys: readonly string[], separators: readonly string[]): PrefixTable<Keys> {
  const table = new PrefixTable<Keys>();
  for (const serverKey of serverKeys) {
    for (const separator of separators) {
      for (const prefix of prefixesOf(serverKey, separator)) {
        const keys = table.get(prefix);
        if (keys === undefined) table.set(prefix, [serverKey]);
        else if (!keys.includes(serverKey)) table.set(prefix, [...keys, serverKey]);
      }
    }
  }
  return table;
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
