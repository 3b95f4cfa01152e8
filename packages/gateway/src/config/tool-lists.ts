/** The keys of a server's entry that list tools, as several hosts spell them: those to offer, and those to hold back. */
export const ALLOW_LISTS = ['tools', 'includeTools', 'enabledTools', 'enabled_tools'] as const;
export const DENY_LISTS = ['excludeTools', 'disabledTools', 'disabled_tools'] as const;

const TOOL_LISTS: ReadonlySet<string> = new Set([...ALLOW_LISTS, ...DENY_LISTS]);

export function hasToolLists(entry: object): boolean {
  return Object.keys(entry).some((key) => TOOL_LISTS.has(key));
}
