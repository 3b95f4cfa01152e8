import type { NameRules } from './name-book.ts';
import { isHostSafe, joinName, SAFE_SEPARATOR } from './names.ts';

const SHORT = { accepts: /^[A-Za-z0-9_-]{1,64}$/u, rule: 'letters, digits, _ and -, at most 64' };
const LONG = { accepts: /^[A-Za-z0-9_-]{1,128}$/u, rule: 'letters, digits, _ and -, at most 128' };
const PLAIN = { accepts: /^[A-Za-z0-9_]{1,60}$/u, rule: 'letters, digits and _, at most 60' };

/** Which hosts and model APIs refuse which tool names. One bad name makes most of them refuse the whole list. */
const HOSTS: readonly Host[] = [
  { name: 'Claude Desktop', ...SHORT },
  { name: 'OpenAI', ...SHORT },
  { name: 'Codex', ...SHORT },
  { name: 'the Anthropic API', ...LONG },
  { name: 'Claude Code', ...LONG },
  { name: 'Cursor', ...PLAIN },
];

interface Host {
  readonly name: string;
  readonly accepts: RegExp;
  /** What it accepts, in words. */
  readonly rule: string;
}

/** A listed tool. */
interface Named {
  readonly publicName: string;
  readonly serverKey: string;
  readonly originalName: string;
}

/** Says which hosts would refuse which of these names, and what to pass instead; undefined where none does. */
export function refusedNames(tools: Iterable<Named>, { separator, noPrefix }: NameRules): string | undefined {
  const all = [...tools];
  const groups = groupHosts(all.map(({ publicName }) => publicName));
  if (groups.length === 0) return undefined;
  const isSafe = !noPrefix && isHostSafe(separator);
  const sentences = groups.map((group) => describe(group, all.length, isSafe));
  return [...sentences, ...(isSafe ? [] : [remedy(all, noPrefix)])].join(' ');
}

interface Group {
  readonly hosts: Host[];
  readonly refused: readonly string[];
}

/** Hosts that refuse the same names are named together. */
function groupHosts(names: readonly string[]): Group[] {
  const groups = new Map<string, Group>();
  for (const host of HOSTS) {
    const refused = names.filter((name) => !host.accepts.test(name));
    const group = groups.get(refused.join('\n'));
    if (group !== undefined) group.hosts.push(host);
    else if (refused.length > 0) groups.set(refused.join('\n'), { hosts: [host], refused });
  }
  return [...groups.values()];
}

function describe({ hosts, refused }: Group, total: number, isSafe: boolean): string {
  const verb = hosts.length === 1 ? 'refuses' : 'refuse';
  const what = refused.length === 1 ? 'the tool name' : `${refused.length} of ${total} tool names, such as`;
  const rules = new Set(hosts.map(({ rule }) => rule));
  const end = isSafe ? `: accepted are ${[...rules].join(' or ')}` : ', or the whole list because of it';
  return `${listed(hosts)} ${verb} ${what} '${refused[0]}'${end}.`;
}

/** Promises no more than is true: some names stay too long or too odd for some hosts. */
function remedy(tools: readonly Named[], noPrefix: boolean): string {
  const safe = tools.map(({ serverKey, originalName }) => joinName(serverKey, originalName, SAFE_SEPARATOR));
  const still = groupHosts(safe).flatMap(({ hosts }) => hosts);
  const instead = noPrefix ? ' instead of --no-prefix' : '';
  const exception = still.length === 0 ? 'all of them accept' : `all but ${listed(still)} accept`;
  return `Start with --separator ${SAFE_SEPARATOR}${instead} for names that ${exception}.`;
}

function listed(hosts: readonly Host[]): string {
  const names = hosts.map(({ name }) => name);
  return names.length < 2 ? names.join('') : `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`;
}
