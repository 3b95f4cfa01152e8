import { isRecord } from '../wire/json/value-checks.ts';
import { type ConfigFinding, has, isList, type UncheckedObject } from './findings.ts';
import type { JsonPath } from './json/json-path.ts';

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

/** The place of a host's servers in its file, and its way to write an entry. */
interface Layout {
  readonly path: readonly string[];
  readonly isMeant?: (servers: UncheckedObject) => boolean;
  readonly readEntry?: (entry: UncheckedObject) => UncheckedObject;
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

/** VS Code's list of values to ask its user for; references to them are errors of their own. */
const INPUTS = 'inputs';

const ADDRESS_KEYS: readonly string[] = ['httpUrl', 'serverUrl'];
const TRANSPORT_KEYS: readonly string[] = ['type', 'transport'];
const REWRITTEN_KEYS: readonly string[] = [...ADDRESS_KEYS, ...TRANSPORT_KEYS];

/** Transports as other hosts spell them. */
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

function layoutOf(config: UncheckedObject): Layout {
  return has(config, 'mcpServers') ? OWN : (LAYOUTS.find((layout) => serversIn(config, layout)) ?? OWN);
}

function serversIn(
  config: UncheckedObject,
  { path, isMeant = () => true }: Layout,
): UncheckedObject | undefined {
  const servers = path.reduce<unknown>((value, key) => (isRecord(value) ? value[key] : undefined), config);
  return isRecord(servers) && isMeant(servers) ? servers : undefined;
}

function adoptServers(config: UncheckedObject, layout: Layout, adoption: Adoption): UncheckedObject {
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
function besides(config: UncheckedObject, { warnings }: Adoption): string | undefined {
  const path = LAYOUTS.find((layout) => layout.path.length === 1 && serversIn(config, layout))?.path;
  if (path !== undefined)
    warnings.push({ path, message: 'Ignored, because the file has "mcpServers": move the servers there' });
  return path?.[0];
}

function adoptEntry(entry: UncheckedObject, at: Rename, adoption: Adoption): UncheckedObject {
  if (!REWRITTEN_KEYS.some((key) => Object.hasOwn(entry, key))) return entry;
  const adopted = Object.entries(entry).map(([key, value]): [string, unknown] => {
    if (TRANSPORT_KEYS.includes(key)) return [key, TRANSPORTS.get(value) ?? value];
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

function same(entry: UncheckedObject): UncheckedObject {
  return entry;
}

/** Other programs have an object "mcp" as well. */
function isOpencode(servers: UncheckedObject): boolean {
  const entries = Object.values(servers);
  return entries.every(isRecord) && entries.some(({ type }) => type === 'local' || type === 'remote');
}

/** Reads `"command": ["npx", "-y", "server"]`, `"environment"`, and the references `{env:NAME}`. */
function readOpencodeEntry(written: UncheckedObject): UncheckedObject {
  const { environment, command, ...entry } = withReferences(written) as UncheckedObject;
  const [program, ...args] = isList(command) ? command : [];
  return {
    ...entry,
    ...(isList(command) ? { command: program, args } : { command }),
    ...(environment !== undefined && { env: environment }),
  };
}

/** Rewrites the references in all texts as other hosts write them. */
function withReferences(value: unknown): unknown {
  if (typeof value === 'string') return value.replaceAll(/\{((?:env|file):[^{}]*)\}/g, '${$1}');
  if (isList(value)) return value.map(withReferences);
  if (!isRecord(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, withReferences(item)]));
}

/** Reads `"command": { "path": "npx", "args": […], "env": {} }`, as Zed wrote it formerly. */
function readZedEntry({ command, ...entry }: UncheckedObject): UncheckedObject {
  if (!isRecord(command)) return { ...entry, command };
  const { path, args, env } = command;
  return { ...entry, command: path, ...(args !== undefined && { args }), ...(env !== undefined && { env }) };
}
