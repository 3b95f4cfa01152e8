import type { McpConfig } from './config.generated.ts';
import { didYouMean } from './did-you-mean.ts';
import { isList, isReadable, type Findings } from './findings.ts';
import type { JsonPath } from './json/json-path.ts';

/** The server that a pattern of a group names, and a pattern of its tools. */
export interface GroupPattern {
  readonly serverKey: string;
  /** Undefined for the whole server. */
  readonly tools: string | undefined;
}

/** Reads `server` or `server:tools`; undefined where there is no such server. Keys may hold colons, so the longest one counts. */
export function readGroupPattern(pattern: string, serverKeys: readonly string[]): GroupPattern | undefined {
  if (serverKeys.includes(pattern)) return { serverKey: pattern, tools: undefined };
  const [serverKey] = serverKeys
    .filter((key) => pattern.startsWith(`${key}:`))
    .toSorted((one, other) => other.length - one.length);
  return serverKey === undefined ? undefined : { serverKey, tools: pattern.slice(serverKey.length + 1) };
}

/** Returns the servers of which a group has anything; none where the config has no such group. */
export function serversOfGroup(
  { mcpServers, groups = {} }: McpConfig,
  group: string,
): McpConfig['mcpServers'] {
  const keys = Object.keys(mcpServers);
  const patterns = Object.hasOwn(groups, group) ? (groups[group] ?? []) : [];
  const inGroup = new Set(patterns.map((pattern) => readGroupPattern(pattern, keys)?.serverKey));
  return Object.fromEntries(Object.entries(mcpServers).filter(([key]) => inGroup.has(key)));
}

/** Each is a view of all tools that is built anew whenever these change. */
const MOST_GROUPS = 100;
/** Stands in URLs as it is written here. */
const GROUP_NAME = /^[A-Za-z\d][\w.-]{0,63}$/u;

/** Checks the names of groups, and that each pattern names a server. */
export function checkGroups(groups: object, serverKeys: readonly string[], found: Findings): void {
  const count = Object.keys(groups).length;
  if (count > MOST_GROUPS) {
    const message = `${count} groups are more than the ${MOST_GROUPS} that one gateway serves: remove some`;
    found.errors.push({ path: ['groups'], message });
  }
  for (const [name, patterns] of Object.entries(groups)) {
    const path = ['groups', name];
    if (!GROUP_NAME.test(name)) {
      const message =
        'The name of a group has 1 to 64 letters, digits, "_", "-" and ".", a letter or digit first: write "dev"';
      found.errors.push({ path, message, value: name });
    }
    if (!isList(patterns)) continue;
    for (const [index, pattern] of patterns.entries())
      checkPattern(pattern, { path: [...path, index], serverKeys, found });
  }
}

interface PatternPlace {
  readonly path: JsonPath;
  readonly serverKeys: readonly string[];
  readonly found: Findings;
}

function checkPattern(value: unknown, { path, serverKeys, found }: PatternPlace): void {
  if (typeof value !== 'string' || value.trim() === '' || !isReadable(value, found)) return;
  const pattern = readGroupPattern(value, serverKeys);
  if (pattern === undefined) {
    const [written = ''] = value.split(':');
    const meant = didYouMean(written, serverKeys);
    const remedy = meant === undefined ? 'add it there, or remove it here' : `did you mean "${meant}"?`;
    found.errors.push({ path, message: `mcpServers has no server with this key; ${remedy}`, value });
  } else if (pattern.tools?.trim() === '') {
    const { serverKey } = pattern;
    const message = `The tool is missing: write "${serverKey}:*" for all tools, or "${serverKey}" for the whole server`;
    found.errors.push({ path, message, value });
  }
}
