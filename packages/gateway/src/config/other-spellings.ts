/** A key as other gateways spell it, the key that Weir reads in its place, and how that is written. */
type OtherSpelling = readonly [spelling: RegExp, key: string, written: string];

/** The keys of a server's entry, then those of a tool. Too far from ours to be taken for slips of the keyboard. */
const OTHER_SPELLINGS: readonly OtherSpelling[] = [
  [/^(include|allow|allowed|allow_?list|white_?list)(_?tools)?$/i, 'includeTools', '"includeTools"'],
  [
    /^(exclude|hide|hidden|block|blocked|block_?list|deny|denied|deny_?list|disallowed|black_?list)(_?tools)?$/i,
    'excludeTools',
    '"excludeTools"',
  ],
  [
    /^(tool_?)?(rename|alias|override)(s|es|_?tools)?$/i,
    'tools',
    '"tools": { "TOOL": { "rename": "NEW_NAME" } }',
  ],
  [/^(disabled|exclude|hide|hidden|block|blocked)$/i, 'enabled', '"enabled": false'],
  [/^(name|new_?name|alias)$/i, 'rename', '"rename"'],
];

/** Returns what to write in place of a key that has another name in Weir, among the keys that its object may have. */
export function keyInPlaceOf(key: string, known: readonly string[]): string | undefined {
  return OTHER_SPELLINGS.find(([spelling, ours]) => known.includes(ours) && spelling.test(key))?.[2];
}
