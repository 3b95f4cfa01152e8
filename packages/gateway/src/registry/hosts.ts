/** Which hosts and model APIs refuse which tool names. One bad name makes most of them refuse the whole list. */
const HOSTS: readonly { readonly names: string; readonly accepts: RegExp; readonly rule: string }[] = [
  { names: 'Claude Desktop, OpenAI and Codex', accepts: /^[A-Za-z0-9_-]{1,64}$/u, rule: 'letters, digits, _ and -, at most 64' },
  { names: 'the Anthropic API and Claude Code', accepts: /^[A-Za-z0-9_-]{1,128}$/u, rule: 'letters, digits, _ and -, at most 128' },
  { names: 'Cursor', accepts: /^[A-Za-z0-9_]{1,60}$/u, rule: 'letters, digits and _, at most 60' },
];

/** One sentence a group of hosts that would refuse some of these names. */
export function refusedNames(names: Iterable<string>): string[] {
  const all = [...names];
  return HOSTS.flatMap(({ names: hosts, accepts, rule }) => {
    const refused = all.filter((name) => !accepts.test(name));
    if (refused.length === 0) return [];
    const what = refused.length === 1 ? `the name '${refused[0]}'` : `${refused.length} names such as '${refused[0]}'`;
    return [`${hosts} (${rule}) refuse ${what}`];
  });
}
