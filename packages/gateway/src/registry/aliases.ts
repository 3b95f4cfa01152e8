import type { KeyClaim } from './key-prefixes.ts';
import { isHostSafe, joinName, LONGEST_SAFE_NAME, SAFE_SEPARATOR, type Owner } from './names.ts';

/** An ambiguous name is refused naming this many of those it may mean. */
const MOST_MEANT = 5;

/** Returns true for what a client may know of; all, where there is no such function. */
export type IsSeen = (owner: Owner) => boolean;

/**
 * Finds what a name may mean beside public names: a key with another separator, or no key at all. Entries come and go one by
 * one, and a look-up costs the same for any number of them.
 */
export class Aliases<Entry extends Owner> {
  /** By server key and own name. */
  readonly #own = new Map<string, Map<string, Entry>>();
  readonly #bare: Shared<Entry> = new Map();
  /** Only those that are spelt otherwise with the host-safe separator. */
  readonly #safe: Shared<Entry> = new Map();

  get(serverKey: string, name: string): Entry | undefined {
    return this.#own.get(serverKey)?.get(name);
  }

  has(serverKey: string): boolean {
    return this.#own.has(serverKey);
  }

  of(serverKey: string): Entry[] {
    return [...(this.#own.get(serverKey)?.values() ?? [])];
  }

  add(entry: Entry): void {
    const { serverKey, name } = entry;
    const own = this.#own.get(serverKey);
    if (own === undefined) this.#own.set(serverKey, new Map([[name, entry]]));
    else own.set(name, entry);
    addTo(this.#bare, name, entry);
    const safe = safeAlias(entry);
    if (safe !== undefined) addTo(this.#safe, safe, entry);
  }

  delete(entry: Entry): void {
    this.#own.get(entry.serverKey)?.delete(entry.name);
    deleteFrom(this.#bare, entry.name, entry);
    const safe = safeAlias(entry);
    if (safe !== undefined) deleteFrom(this.#safe, safe, entry);
  }

  /** Returns what a name may mean. A name that begins with server keys means only entries of those servers. */
  entriesFor(name: string, claim: KeyClaim | undefined, isSeen?: IsSeen): Entry[] {
    const found = new Set<Entry>();
    for (const reading of claim?.readings ?? []) {
      const entry = this.get(reading.serverKey, reading.name);
      if (entry !== undefined && isSeen?.(entry) !== false) found.add(entry);
    }
    for (const table of [this.#safe, this.#bare]) {
      for (const entry of sharedBy(table, name)) {
        if (found.size >= MOST_MEANT) break;
        if (isAmong(entry, claim) && isSeen?.(entry) !== false) found.add(entry);
      }
    }
    return [...found];
  }
}

function isAmong({ serverKey }: Owner, claim: KeyClaim | undefined): boolean {
  return claim === undefined || claim.readings.some((reading) => reading.serverKey === serverKey);
}

function safeAlias({ serverKey, name }: Owner): string | undefined {
  // Nearly every name is safe as it is, which is seen without joining it.
  const length = serverKey.length + SAFE_SEPARATOR.length + name.length;
  if (length <= LONGEST_SAFE_NAME && isHostSafe(serverKey) && isHostSafe(name)) return undefined;
  const safe = joinName(serverKey, name, SAFE_SEPARATOR);
  return safe === `${serverKey}${SAFE_SEPARATOR}${name}` ? undefined : safe;
}

/** Entries under names that several may share; few do, so that most need no set of their own. */
type Shared<Entry> = Map<string, Entry | Set<Entry>>;

function sharedBy<Entry>(table: Shared<Entry>, name: string): Iterable<Entry> {
  const entries = table.get(name);
  if (entries === undefined) return [];
  return entries instanceof Set ? entries : [entries];
}

function addTo<Entry>(table: Shared<Entry>, name: string, entry: Entry): void {
  const entries = table.get(name);
  if (entries instanceof Set) entries.add(entry);
  else table.set(name, entries === undefined ? entry : new Set([entries, entry]));
}

function deleteFrom<Entry>(table: Shared<Entry>, name: string, entry: Entry): void {
  const entries = table.get(name);
  if (entries instanceof Set) entries.delete(entry);
  if (entries === entry || (entries instanceof Set && entries.size === 0)) table.delete(name);
}
