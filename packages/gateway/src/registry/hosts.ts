import type { NameRules } from './name-book.ts';
import { isHostSafe, joinName } from './names.ts';

/** Which hosts and model APIs refuse which tool names. One bad name makes most of them refuse the whole list. */
const HOSTS: readonly Host[] = [
  { name: 'Claude Desktop', accepts: /^[A-Za-z0-9_-]{1,64}$/u },
  { name: 'OpenAI', accepts: /^[A-Za-z0-9_-]{1,64}$/u },
  { name: 'Codex', accepts: /^[A-Za-z0-9_-]{1,64}$/u },
  { name: 'the Anthropic API', accepts: /^[A-Za-z0-9_-]{1,128}$/u },
  { name: 'Claude Code', accepts: /^[A-Za-z0-9_-]{1,128}$/u },
  { name: 'Cursor', accepts: /^[A-Za-z0-9_]{1,60}$/u },
];

interface Host {
  readonly name: string;
  readonly accepts: RegExp;
}

/** A listed tool. */
interface Named {
  readonly publicName: string;
  readonly serverKey: string;
  readonly originalName: string;
}

const SAFE_SEPARATOR = '__';

/** Says which hosts would refuse which of these names, and what to pass instead; undefined where none does. */
export function refusedNames(tools: Iterable<Named>, { separator, noPrefix }: NameRules): string | undefined {
  const all = [...tools];
  const groups = groupHosts(all.map(({ publicName }) => publicName));
  if (groups.length === 0) return undefined;
  const sentences = groups.map((group) => describe(group, all.length));
  const isSafe = !noPrefix && isHostSafe(separator);
  return [...sentences, ...(isSafe ? [] : [remedy(all)])].join(' ');
}

interface Group {
  readonly hosts: string[];
  readonly refused: readonly string[];
}

/** Hosts that refuse the same names are named together. */
function groupHosts(names: readonly string[]): Group[] {
  const groups = new Map<string, Group>();
  for (const { name, accepts } of HOSTS) {
    const refused = names.filter((candidate) => !accepts.test(candidate));
    const group = groups.get(refused.join('\n'));
    if (group !== undefined) group.hosts.push(name);
    else if (refused.length > 0) groups.set(refused.join('\n'), { hosts: [name], refused });
  }
  return [...groups.values()];
}

function describe({ hosts, refused }: Group, total: number): string {
  const verb = hosts.length === 1 ? 'refuses' : 'refuse';
  const what = refused.length === 1 ? 'the tool name' : `${refused.length} of ${total} tool names, such as`;
  return `${listed(hosts)} ${verb} ${what} '${refused[0]}'.`;
}

/** Promises no more than is true: some names stay too long or too odd for some hosts. */
function remedy(tools: readonly Named[]): string {
  const safe = tools.map(({ serverKey, originalName }) => joinName(serverKey, originalName, SAFE_SEPARATOR));
  const still = groupHosts(safe).flatMap(({ hosts }) => hosts);
  const exception = still.length === 0 ? 'all of them accept' : `all but ${listed(still)} accept`;
  return `Start with --separator ${SAFE_SEPARATOR} for names that ${exception}.`;
}

function listed(names: readonly string[]): string {
  return names.length < 2 ? names.join('') : `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`;
}
