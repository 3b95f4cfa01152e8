import { MOST_ELEMENTS } from '../wire/turns.ts';
import { Aliases, type IsSeen } from './aliases.ts';
import { KeyPrefixes, type KeyClaim } from './key-prefixes.ts';
import { isHostSafe, joinName, SAFE_SEPARATOR, withHash, type Owner } from './names.ts';
import { SeenNames } from './seen-names.ts';

/** An entry of a server, with its public name. */
interface Named extends Owner {
  readonly publicName: string;
}

/** Two servers that want the same public name. */
export interface Collision {
  readonly publicName: string;
  readonly keeper: Owner;
  readonly heldBack: Owner;
  /** The name begins with the key of the server that keeps it, whether or not that server lists it. */
  readonly isByKey: boolean;
}

/** Possible owners of a name that is not listed. */
export interface Meaning {
  /** Entries that servers have listed since the gateway started. */
  readonly owners: readonly Named[];
  /** The configured servers whose key the name begins with. */
  readonly claim: KeyClaim | undefined;
}

export interface NameRules {
  readonly separator: string;
  /** Bare names, without the server's key. */
  readonly noPrefix: boolean;
  /** Server keys in the order of the config: of two that want a name the first one keeps it. */
  readonly order: readonly string[];
}

/** Called when a name that was freed has another owner now. */
type OnPassedOn = (publicName: string, from: Owner, to: Owner) => void;

/** Freed names of which it is told when another server gets them. */
const MOST_FREED = 10_000;

/**
 * Assigns public names to servers. Names stay with their server, within the bounds of `SeenNames`, until the gateway ends
 * or the server is taken out of its config, so that none passes to another server because its owner crashed.
 */
export class PublicNames {
  #rules: NameRules;
  readonly #onPassedOn: OnPassedOn;
  readonly #freed = new Map<string, Owner>();
  readonly #owners = new Map<string, Named>();
  readonly #aliases = new Aliases<Named>();
  readonly #seen = new Map<string, SeenNames>();
  /** Number of names that each server has lost: to another server, or because it no longer offers them. */
  readonly #losses = new Map<string, number>();
  #keys: ReadonlySet<string>;
  #prefixes: KeyPrefixes;

  /** A host-safe separator makes names safe, and what that makes equal is told apart by a suffix. */
  readonly #makesSafe: boolean;
  #ambiguous: ReadonlySet<string>;

  constructor(rules: NameRules, onPassedOn: OnPassedOn = () => {}) {
    this.#rules = rules;
    this.#onPassedOn = onPassedOn;
    this.#makesSafe = !rules.noPrefix && isHostSafe(rules.separator);
    this.#ambiguous = new Set(this.#makesSafe ? ambiguousKeys(rules) : []);
    this.#keys = new Set(rules.order);
    this.#prefixes = new KeyPrefixes(rules.order, rules.separator);
  }

  get rules(): NameRules {
    return this.#rules;
  }

  /** Sets the servers of another config. New servers rank last wherever they stand in it, so that no server loses a name to them. */
  setServers(serverKeys: readonly string[]): void {
    const { order } = this.#rules;
    const meant = new Set(serverKeys);
    const stay = order.filter((serverKey) => meant.has(serverKey));
    const come = serverKeys.filter((serverKey) => !this.#keys.has(serverKey));
    for (const serverKey of order) if (!meant.has(serverKey)) this.#dismiss(serverKey);
    this.#keys = meant;
    this.#rules = { ...this.#rules, order: [...stay, ...come] };
    this.#prefixes = new KeyPrefixes(this.#rules.order, this.#rules.separator);
    if (this.#makesSafe) this.#ambiguous = new Set(ambiguousKeys(this.#rules));
  }

  /** The public name of what a server lists, or the collision that holds it back. */
  assign(serverKey: string, name: string): string | Collision {
    return (
      this.publicName(serverKey, name) ?? this.#assign({ serverKey, name }, this.#wanted(serverKey, name))
    );
  }

  #assignExact(serverKey: string, name: string): void {
    if (this.publicName(serverKey, name) !== undefined) return;
    const { noPrefix, separator } = this.#rules;
    const exact = noPrefix ? name : `${serverKey}${separator}${name}`;
    if (!this.#makesSafe || isHostSafe(exact)) this.#assign({ serverKey, name }, exact);
  }

  #assign(owner: Owner, wanted: string): string | Collision {
    const { serverKey, name } = owner;
    const rival = this.#prefixes.rivals(serverKey, wanted, this.#rules.noPrefix)?.[0];
    const keeper = this.#owners.get(wanted);
    const isTaken =
      keeper !== undefined ||
      rival !== undefined ||
      (this.#ambiguous.has(serverKey) && !this.#isExact(wanted, serverKey, name));
    if (isTaken && this.#makesSafe) return this.#enter(this.#hashedName(wanted, owner), owner);
    if (rival !== undefined) return this.#ofKey(wanted, rival, owner);
    return keeper === undefined ? this.#enter(wanted, owner) : this.#contest(wanted, keeper, owner);
  }

  /**
   * Enters the names of a new list: first those in which nothing has to be replaced, so that they keep their names in
   * whatever order the server lists what becomes equal. Keeps names that are no longer listed, up to a limit. A long list
   * takes one step for each name; a short one takes one step in all, because every start enters many of them.
   */
  *enter(serverKey: string, listed: readonly { readonly key: string }[]): Generator<void, void> {
    const isLong = listed.length > MOST_ELEMENTS;
    if (this.#aliases.has(serverKey)) yield* this.#beginList(serverKey);
    for (let index = 0; index < listed.length; index++) {
      const { key: name } = listed[index] as { readonly key: string };
      this.#assignExact(serverKey, name);
      this.#seen.get(serverKey)?.see(name);
      if (isLong) yield;
    }
    for (const name of this.#seen.get(serverKey)?.surplus() ?? []) {
      const forgotten = this.#aliases.get(serverKey, name);
      if (forgotten !== undefined) this.#remove(forgotten);
      yield;
    }
  }

  /** The order in which names were seen matters from the second list of a server on. Until then they stand among the aliases. */
  *#beginList(serverKey: string): Generator<void, void> {
    const known = this.#seen.get(serverKey);
    if (known !== undefined) return known.begin();
    const seen = new SeenNames();
    this.#seen.set(serverKey, seen);
    seen.begin();
    for (const { name } of this.#aliases.of(serverKey)) {
      seen.see(name);
      yield;
    }
    seen.begin();
  }

  /** Bytes that are kept for names that a server lists no more. */
  pastBytes(serverKey: string): number {
    return this.#seen.get(serverKey)?.pastBytes ?? 0;
  }

  /**
   * A public name for a tool of the gateway itself, which no server has: a suffix tells it apart. Nothing is entered, so
   * that a server which lists the name later gets it. The name always has a prefix, because a bare name would not show that
   * the tool is the gateway's.
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
    return this.#aliases.get(serverKey, name)?.publicName;
  }

  /** Returns what a name means that nothing is listed under: one that is away, or another spelling. */
  meaningOf(name: string, isSeen?: IsSeen): Meaning {
    const exact = this.#owners.get(name);
    if (exact !== undefined && isSeen?.(exact) !== false) return { owners: [exact], claim: undefined };
    const claim = seenPart(this.claimOf(name), isSeen);
    return { owners: this.#aliases.entriesFor(name, claim, isSeen), claim };
  }

  /** Returns the configured servers whose key a name begins with. */
  claimOf(name: string): KeyClaim | undefined {
    return this.#prefixes.claim(name);
  }

  isConfigured(serverKey: string): boolean {
    return this.#keys.has(serverKey);
  }

  /** Returns how many names a server has lost; never fewer than before. */
  lossesOf(serverKey: string): number {
    return this.#losses.get(serverKey) ?? 0;
  }

  /** Frees the names of what is not offered any more. */
  release(isReleased: (owner: Owner) => boolean): void {
    for (const owner of this.#owners.values()) if (isReleased(owner)) this.#free(owner);
  }

  /** The hash of a name that another tool has is made anew, with one character more each time. */
  #hashedName(wanted: string, { serverKey, name }: Owner): string {
    let hashed = withHash(wanted, serverKey, name);
    for (let salted = `${name}\0`; this.#owners.has(hashed); salted += '\0')
      hashed = withHash(wanted, serverKey, salted);
    return hashed;
  }

  /** Frees the names of a server that has left the config. */
  #dismiss(serverKey: string): void {
    this.#seen.delete(serverKey);
    for (const owner of this.#aliases.of(serverKey)) this.#free(owner);
  }

  #ofKey(publicName: string, rival: string, heldBack: Owner): Collision {
    const reading = this.claimOf(publicName)?.readings.find(({ serverKey }) => serverKey === rival);
    return { publicName, keeper: { serverKey: rival, name: reading?.name ?? '' }, heldBack, isByKey: true };
  }

  #contest(publicName: string, keeper: Named, newcomer: Owner): string | Collision {
    const { order } = this.rules;
    if (order.indexOf(newcomer.serverKey) >= order.indexOf(keeper.serverKey)) {
      return { publicName, keeper, heldBack: newcomer, isByKey: false };
    }
    this.#lose(keeper);
    return this.#enter(publicName, newcomer);
  }

  #free(owner: Named): void {
    const [oldest] = this.#freed.keys();
    if (this.#freed.size >= MOST_FREED && oldest !== undefined) this.#freed.delete(oldest);
    this.#freed.set(owner.publicName, owner);
    this.#lose(owner);
  }

  #lose(owner: Named): void {
    this.#losses.set(owner.serverKey, this.lossesOf(owner.serverKey) + 1);
    this.#remove(owner);
  }

  #remove(owner: Named): void {
    this.#owners.delete(owner.publicName);
    this.#aliases.delete(owner);
  }

  #enter(publicName: string, { serverKey, name }: Owner): string {
    const owner = { serverKey, name, publicName };
    if (this.#freed.size > 0) this.#passOn(publicName, owner);
    this.#owners.set(publicName, owner);
    this.#aliases.add(owner);
    return publicName;
  }

  #passOn(publicName: string, owner: Owner): void {
    const before = this.#freed.get(publicName);
    this.#freed.delete(publicName);
    if (before !== undefined && before.serverKey !== owner.serverKey)
      this.#onPassedOn(publicName, before, owner);
  }
}

/** Leaves out the servers of which nothing under their reading is seen. */
function seenPart(claim: KeyClaim | undefined, isSeen: IsSeen | undefined): KeyClaim | undefined {
  if (claim === undefined || isSeen === undefined) return claim;
  const readings = claim.readings.filter(isSeen);
  const owners = claim.owners.filter((key) => readings.some(({ serverKey }) => serverKey === key));
  return readings.length === 0 ? undefined : { owners, readings };
}

/** Keys of the config that become equal when made safe, whether or not their servers run. */
function ambiguousKeys({ order, separator }: NameRules): string[] {
  // Keys that stay as they are stay different.
  if (order.every((key) => isHostSafe(key + separator))) return [];
  const counts = new Map<string, number>();
  const safe = order.map((key) => joinName(key, '', separator));
  for (const key of safe) counts.set(key, (counts.get(key) ?? 0) + 1);
  return order.filter((_, i) => (counts.get(safe[i] as string) as number) > 1);
}
