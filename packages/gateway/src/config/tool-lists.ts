/** The keys of a server's entry that list tools, as several hosts spell them: those to offer, and those to hold back. */
export const ALLOW_LISTS = ['tools', 'includeTools', 'enabledTools', 'enabled_tools'] as const;
export const DENY_LISTS = ['excludeTools', 'disabledTools', 'disabled_tools'] as const;

const LISTS: ReadonlySet<string> = new Set([...ALLOW_LISTS, ...DENY_LISTS]);

export function hasToolLists(entry: object): boolean {
  return Object.keys(entry).some((key) => LISTS.has(key));
}

/** Returns an entry without what decides about its tools only: the same server runs, whatever these keys say. */
export function withoutToolLists<Entry extends object>(entry: Entry): Partial<Entry> {
  if (!hasToolLists(entry)) return entry;
  return Object.fromEntries(Object.entries(entry).filter(([key]) => !LISTS.has(key))) as Partial<Entry>;
}
