import { type ConfigFinding, has, isList, isRecord } from './findings.ts';
import type { JsonPath } from './json-path.ts';

type Entry = Record<string, unknown>;

/** A config in the words of this product, whichever host it was written for. */
export interface Adopted {
  readonly value: unknown;
  /** True for a file whose servers do not stand under "mcpServers". */
  readonly isForeign: boolean;
  /** Returns where in the file a part of `value` stands. */
  readonly originOf: (path: JsonPath) => JsonPath;
  readonly errors: readonly ConfigFinding[];
  readonly warnings: readonly ConfigFinding[];
}

/** Where a host keeps its servers, and how it writes an entry. */
interface Layout {
  readonly path: readonly string[];
  readonly isMeant?: (servers: Entry) => boolean;
  readonly readEntry?: (entry: Entry) => Entry;
}

const OWN: Layout = { path: ['mcpServers'] };

/** VS Code's mcp.json and its settings, Zed, Codex as JSON, opencode. */
const LAYOUTS: readonly Layout[] = [
  { path: ['servers'] },
  { path: ['mcp', 'servers'] },
  { path: ['context_servers'], readEntry: readZedEntry },
  { path: ['mcp_servers'] },
  { path: ['mcp'], isMeant: isOpencode, readEntry: readOpencodeEntry },
];

/** What VS Code asks its user for; references to it are errors of their own. */
const INPUTS = 'inputs';

const ADDRESS_KEYS: readonly string[] = ['httpUrl', 'serverUrl'];

/** How hosts spell a transport, as this product does. */
const TRANSPORTS: ReadonlyMap<unknown, string> = new Map([
  ['local', 'stdio'],
  ['remote', 'http'],
  ['streamableHttp', 'streamable-http'],
  ['streamable_http', 'streamable-http'],
]);

interface Rename {
  readonly to: JsonPath;
  readonly from: JsonPath;
}

interface Adoption {
  readonly renames: Rename[];
  readonly errors: ConfigFinding[];
  readonly warnings: ConfigFinding[];
}

/** Reads the layout and the spellings of other hosts; what is wrong with the config stays as it is. */
export function adoptConfig(config: unknown): Adopted {
  const adoption: Adoption = { renames: [], errors: [], warnings: [] };
  const layout = isRecord(config) ? layoutOf(config) : OWN;
  const value = isRecord(config) ? adoptServers(config, layout, adoption) : config;
  const { errors, warnings } = adoption;
  const originOf = (path: JsonPath): JsonPath => originIn(adoption.renames, path);
  return { value, isForeign: layout !== OWN, originOf, errors, warnings };
}

function layoutOf(config: Entry): Layout {
  return has(config, 'mcpServers') ? OWN : (LAYOUTS.find((layout) => serversIn(config, layout)) ?? OWN);
}

function serversIn(config: Entry, { path, isMeant = () => true }: Layout): Entry | undefined {
  const servers = path.reduce<unknown>((value, key) => (isRecord(value) ? value[key] : undefined), config);
  return isRecord(servers) && isMeant(servers) ? servers : undefined;
}

function adoptServers(config: Entry, layout: Layout, adoption: Adoption): Entry {
  const servers = serversIn(config, layout);
  if (servers === undefined) return config;
  const adopted = Object.entries(servers).map(([key, entry]): [string, unknown] => {
    const at = { to: ['mcpServers', key], from: [...layout.path, key] };
    return [key, isRecord(entry) ? adoptEntry((layout.readEntry ?? same)(entry), at, adoption) : entry];
  });
  if (layout !== OWN) adoption.renames.push({ to: ['mcpServers'], from: layout.path });
  const unread = layout === OWN ? besides(config, adoption) : INPUTS;
  const members = Object.entries(config).filter(([key]) => key !== unread);
  const rewritten = members.map(([key, value]): [string, unknown] =>
    key === layout.path[0] ? ['mcpServers', Object.fromEntries(adopted)] : [key, value],
  );
  return Object.fromEntries(rewritten);
}

/** Returns the key of servers that stand beside "mcpServers": they are not started, and that is reported. */
function besides(config: Entry, { warnings }: Adoption): string | undefined {
  const path = LAYOUTS.find((layout) => layout.path.length === 1 && serversIn(config, layout))?.path;
  if (path !== undefined)
    warnings.push({ path, message: 'Ignored, because there is "mcpServers": move the servers there' });
  return path?.[0];
}

function adoptEntry(entry: Entry, at: Rename, adoption: Adoption): Entry {
  const adopted = Object.entries(entry).map(([key, value]): [string, unknown] => {
    if (key === 'type' || key === 'transport') return [key, TRANSPORTS.get(value) ?? value];
    if (!ADDRESS_KEYS.includes(key) || value === undefined) return [key, value];
    const from = [...at.from, key];
    adoption.renames.unshift({ to: [...at.to, 'url'], from });
    return ['url', value];
  });
  const [first, second] = ['url', ...ADDRESS_KEYS].filter((key) => has(entry, key));
  if (second !== undefined) {
    const message = `"${second}" means the same as "${first}": keep one of them`;
    adoption.errors.push({ path: [...at.from, second], message });
  }
  return Object.fromEntries(adopted);
}

function originIn(renames: readonly Rename[], path: JsonPath): JsonPath {
  const rename = renames.find(({ to }) => to.every((step, index) => path[index] === step));
  return rename === undefined ? path : [...rename.from, ...path.slice(rename.to.length)];
}

function same(entry: Entry): Entry {
  return entry;
}

/** Other programs have an object "mcp" as well. */
function isOpencode(servers: Entry): boolean {
  const entries = Object.values(servers);
  return entries.every(isRecord) && entries.some(({ type }) => type === 'local' || type === 'remote');
}

/** `"command": ["npx", "-y", "server"]` and `"environment"`. */
function readOpencodeEntry({ environment, command, ...entry }: Entry): Entry {
  const [program, ...args] = isList(command) ? command : [];
  return {
    ...entry,
    ...(isList(command) ? { command: program, args } : { command }),
    ...(environment !== undefined && { env: environment }),
  };
}

/** Formerly `"command": { "path": "npx", "args": […], "env": {} }`. */
function readZedEntry({ command, ...entry }: Entry): Entry {
  if (!isRecord(command)) return { ...entry, command };
  const { path, args, env } = command;
  return { ...entry, command: path, ...(args !== undefined && { args }), ...(env !== undefined && { env }) };
}
