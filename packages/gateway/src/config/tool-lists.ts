/** The keys of a server's entry that list tools, as several hosts spell them: those to offer, and those to hold back. */
export const ALLOW_LISTS = ['tools', 'includeTools', 'enabledTools', 'enabled_tools'] as const;
export const DENY_LISTS = ['excludeTools', 'disabledTools', 'disabled_tools'] as const;

const LISTS: ReadonlySet<string> = new Set([...ALLOW_LISTS, ...DENY_LISTS]);

/** Keys that neither the process nor the lists of a server depend on: a change of them needs no restart. */
const LIVE_KEYS: ReadonlySet<string> = new Set([...LISTS, 'timeout', 'name']);

export function hasToolLists(entry: object): boolean {
  return Object.keys(entry).some((key) => LISTS.has(key));
}

/** Returns what of an entry decides how its server runs. */
export function withoutLiveKeys<Entry extends object>(entry: Entry): Partial<Entry> {
  if (!Object.keys(entry).some((key) => LIVE_KEYS.has(key))) return entry;
  return Object.fromEntries(Object.entries(entry).filter(([key]) => !LIVE_KEYS.has(key))) as Partial<Entry>;
}
