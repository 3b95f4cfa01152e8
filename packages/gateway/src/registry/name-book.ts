import { ALIAS_SEPARATORS, isHostSafe, joinName, SAFE_SEPARATOR, withHash } from './names.ts';

/** One thing that a server offers under its own name. */
export interface Owner {
  readonly serverKey: string;
  readonly name: string;
}

/** Two servers that want the same public name. */
export interface Collision {
  readonly publicName: string;
  readonly keeper: Owner;
  readonly heldBack: Owner;
}

export interface NameRules {
  readonly separator: string;
  /** Bare names, without the server's key. */
  readonly noPrefix: boolean;
  /** Server keys in the order of the config: of two that want a name the first one keeps it. */
  readonly order: readonly string[];
}

/** Told when a name that was freed has another owner now. */
type PassedOn = (publicName: string, from: Owner, to: Owner) => void;

/**
 * Who has which public name. Entries stay until the gateway ends or the server is taken out of its config, so that a
 * name never passes to another server because its owner crashed.
 */
export class NameBook {
  #rules: NameRules;
  readonly #onPassedOn: PassedOn;
  readonly #freed = new Map<string, Owner>();
  readonly #owners = new Map<string, Owner>();
  readonly #publicNames = new Map<string, Map<string, string>>();
  #aliases: Map<string, Owner[]> | undefined;

  /** A host-safe separator makes names safe, and what that makes equal is told apart by a suffix. */
  readonly #makesSafe: boolean;
  #ambiguous: ReadonlySet<string>;

  constructor(rules: NameRules, onPassedOn: PassedOn = () => {}) {
    this.#rules = rules;
    this.#onPassedOn = onPassedOn;
    this.#makesSafe = !rules.noPrefix && isHostSafe(rules.separator);
    this.#ambiguous = new Set(this.#makesSafe ? ambiguousKeys(rules) : []);
  }

  get rules(): NameRules {
    return this.#rules;
  }

  /** The servers of another config. Newcomers come last, wherever they stand in it: nobody loses a name to them. */
  meant(serverKeys: readonly string[]): void {
    const { order } = this.#rules;
    const stay = order.filter((serverKey) => serverKeys.includes(serverKey));
    const come = serverKeys.filter((serverKey) => !order.includes(serverKey));
    for (const serverKey of order) if (!serverKeys.includes(serverKey)) this.#free(serverKey);
    this.#rules = { ...this.#rules, order: [...stay, ...come] };
    if (this.#makesSafe) this.#ambiguous = new Set(ambiguousKeys(this.#rules));
  }

  /** The public name of what a server lists, or the collision that holds it back. */
  assign(serverKey: string, name: string): string | Collision {
    return (
      this.publicName(serverKey, name) ?? this.#assign({ serverKey, name }, this.#wanted(serverKey, name))
    );
  }

  /** The same where nothing in the name has to be replaced: such names come first. */
  assignExact(serverKey: string, name: string): void {
    if (this.publicName(serverKey, name) !== undefined) return;
    const wanted = this.#wanted(serverKey, name);
    if (this.#isExact(wanted, serverKey, name)) this.#assign({ serverKey, name }, wanted);
  }

  #assign(owner: Owner, wanted: string): string | Collision {
    const { serverKey, name } = owner;
    const keeper = this.#owners.get(wanted);
    const isTaken =
      keeper !== undefined || (this.#ambiguous.has(serverKey) && !this.#isExact(wanted, serverKey, name));
    if (isTaken && this.#makesSafe) return this.#enter(this.#hashedName(wanted, owner), owner);
    return keeper === undefined ? this.#enter(wanted, owner) : this.#contest(wanted, keeper, owner);
  }

  /**
   * A public name for a tool of the gateway itself, which no server has: a suffix tells it apart. Nothing is entered, so
   * that a server which lists the name later gets it. It has a prefix always: a bare name would not say whose tool it is.
   */
  freeName(key: string, name: string): string {
    const { noPrefix, separator, order } = this.rules;
    const wanted = joinName(key, name, noPrefix ? SAFE_SEPARATOR : separator);
    for (let number = order.includes(key) ? 2 : 1; ; number++) {
      const free = number === 1 ? wanted : `${wanted}_${number}`;
      if (!this.#owners.has(free)) return free;
    }
  }

  #wanted(serverKey: string, name: string): string {
    const { noPrefix, separator } = this.rules;
    return noPrefix ? name : joinName(serverKey, name, separator);
  }

  /** True where nothing had to be replaced. */
  #isExact(wanted: string, serverKey: string, name: string): boolean {
    const { noPrefix, separator } = this.rules;
    return noPrefix || wanted === `${serverKey}${separator}${name}`;
  }

  publicName(serverKey: string, name: string): string | undefined {
    return this.#publicNames.get(serverKey)?.get(name);
  }

  ownerOf(publicName: string): Owner | undefined {
    return this.#owners.get(publicName);
  }

  /** All that another spelling of a name may mean: another separator, or no prefix at all. */
  ownersByAlias(alias: string): readonly Owner[] {
    this.#aliases ??= this.#collectAliases();
    return this.#aliases.get(alias) ?? [];
  }

  /** Frees the names of what is not offered any more. */
  release(isReleased: (owner: Owner) => boolean): void {
    for (const [publicName, owner] of this.#owners) if (isReleased(owner)) this.#freeName(publicName, owner);
  }

  /** The hash of a name that another tool has is made anew, with one character more each time. */
  #hashedName(wanted: string, { serverKey, name }: Owner): string {
    let hashed = withHash(wanted, serverKey, name);
    for (let salted = `${name}\0`; this.#owners.has(hashed); salted += '\0')
      hashed = withHash(wanted, serverKey, salted);
    return hashed;
  }

  #contest(publicName: string, keeper: Owner, newcomer: Owner): string | Collision {
    const { order } = this.rules;
    if (order.indexOf(newcomer.serverKey) >= order.indexOf(keeper.serverKey)) {
      return { publicName, keeper, heldBack: newcomer };
    }
    this.#publicNames.get(keeper.serverKey)?.delete(keeper.name);
    return this.#enter(publicName, newcomer);
  }

  #free(serverKey: string): void {
    for (const publicName of this.#publicNames.get(serverKey)?.values() ?? [])
      this.#freeName(publicName, this.#owners.get(publicName) as Owner);
  }

  #freeName(publicName: string, owner: Owner): void {
    this.#freed.set(publicName, owner);
    this.#owners.delete(publicName);
    this.#publicNames.get(owner.serverKey)?.delete(owner.name);
    this.#aliases = undefined;
  }

  #enter(publicName: string, owner: Owner): string {
    const before = this.#freed.get(publicName);
    this.#freed.delete(publicName);
    if (before !== undefined && before.serverKey !== owner.serverKey)
      this.#onPassedOn(publicName, before, owner);
    this.#owners.set(publicName, owner);
    const names = this.#publicNames.get(owner.serverKey) ?? new Map<string, string>();
    this.#publicNames.set(owner.serverKey, names.set(owner.name, publicName));
    this.#aliases = undefined;
    return publicName;
  }

  #collectAliases(): Map<string, Owner[]> {
    const aliases = new Map<string, Owner[]>();
    for (const owner of this.#owners.values()) {
      for (const alias of aliasesOf(owner)) {
        const owners = aliases.get(alias);
        if (owners === undefined) aliases.set(alias, [owner]);
        else owners.push(owner);
      }
    }
    return aliases;
  }
}

/** Keys of the config that become equal when made safe, whether or not their servers run. */
function ambiguousKeys({ order, separator }: NameRules): string[] {
  const safe = order.map((key) => joinName(key, '', separator));
  return order.filter((_, i) => safe.indexOf(safe[i] as string) !== safe.lastIndexOf(safe[i] as string));
}

/** Returns every name under which a call reaches what a server lists. */
export function aliasesOf({ serverKey, name }: Owner): Set<string> {
  return new Set([
    name,
    ...ALIAS_SEPARATORS.flatMap((s) => [`${serverKey}${s}${name}`, joinName(serverKey, name, s)]),
  ]);
}
